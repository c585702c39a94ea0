package guests_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	tiktoken_loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// parsed is a family's manifest, which fits its schema.
func parsed(t *testing.T, family string) *abi.Manifest {
	t.Helper()
	m, err := sandbox.ParseManifest(manifest(t, family))
	must(t, err)
	return m
}

func TestToolsAreShort(t *testing.T) {
	tiktoken.SetBpeLoader(tiktoken_loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding("cl100k_base")
	must(t, err)
	total, tools := 0, 0
	count := func(text string) int { return len(encoding.Encode(text, nil, nil)) }
	for _, family := range families(t) {
		before, list := total, parsed(t, family).Tools
		for _, tool := range list {
			if n := count(tool.Description); n > 50 {
				t.Errorf("%s: the description has %d tokens; at most 50", tool.Name, n)
			}
			wire, err := json.Marshal(map[string]any{"name": tool.Name, "description": tool.Description, "inputSchema": trimmed(t, tool.InputSchema)})
			must(t, err)
			n := count(string(wire))
			if n > 200 {
				t.Errorf("%s: the tool has %d tokens; at most 200: %s", tool.Name, n, wire)
			}
			t.Logf("%s: %d tokens", tool.Name, n)
			total, tools = total+n, tools+1
		}
		mean := float64(total-before) / float64(len(list))
		t.Logf("%s: %.1f tokens each", family, mean)
		most := 75.
		if family == "developer" {
			most = 105 // each of its tools has the parameters of several acts
		}
		if mean > most {
			t.Errorf("the tools of %s have %.1f tokens on average; at most %.0f", family, mean, most)
		}
	}
	t.Logf("%d tools with %d tokens, %.1f each", tools, total, float64(total)/float64(tools))
	if total > 75*tools {
		t.Errorf("the tools have %.1f tokens on average; at most 75", float64(total)/float64(tools))
	}
}

// trimmed is a schema without its prose and its rarely needed arguments, as lists show it.
func trimmed(t *testing.T, schema json.RawMessage) any {
	var v any
	must(t, json.Unmarshal(schema, &v))
	var trim func(v any, names bool)
	trim = func(v any, names bool) {
		switch v := v.(type) {
		case map[string]any:
			if !names {
				delete(v, "description")
			}
			for key, value := range v {
				if schema, ok := value.(map[string]any); ok && names && schema[abi.AdvancedKeyword] == true {
					delete(v, key)
					continue
				}
				trim(value, !names && key == "properties")
			}
		case []any:
			for _, value := range v {
				trim(value, false)
			}
		}
	}
	trim(v, false)
	return v
}

func TestToolsSayWhatTheyDo(t *testing.T) {
	seen := map[string]string{}
	for _, family := range families(t) {
		m := parsed(t, family)
		if m.Name != family {
			t.Errorf("%s calls itself %s", family, m.Name)
		}
		for _, tool := range m.Tools {
			a := tool.Annotations
			if a.ReadOnly == nil || a.Destructive == nil || a.Idempotent == nil || a.OpenWorld == nil || a.Title == "" {
				t.Errorf("%s: an annotation is missing", tool.Name)
			}
			if len(tool.OutputSchema) == 0 || tool.Docs == "" {
				t.Errorf("%s: it has no output schema, or no docs", tool.Name)
			}
			if !strings.HasPrefix(tool.Name, "memory_") || seen[tool.Name] != "" {
				t.Errorf("%s of %s: the name is not memory_…, or %q has it too", tool.Name, family, seen[tool.Name])
			}
			seen[tool.Name] = family
		}
	}
}
