//go:build guests

package families_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/internal/profile"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// listed is a tool as lists show it.
type listed struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// listedIn lists the tools of a profile, as a client of the server reads them.
func listedIn(t *testing.T, s *server.Server, profile string) []listed {
	t.Helper()
	status, text := s.Send("POST", "/mcp?profile="+profile, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"full","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`, func(r *http.Request) {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", "tools/list")
	})
	var answer struct{ Result struct{ Tools []listed } }
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK || len(answer.Result.Tools) == 0 {
		t.Fatalf("the list of the profile %s is %d %.500s (%v)", profile, status, text, err)
	}
	return answer.Result.Tools
}

// The profile full has all tools, of the core and of all families, in 47 tokens each: the 3,500 for 74 tools that its model has.
func TestTheProfileFullIsShort(t *testing.T) {
	t.Parallel()
	const most = 47
	s := server.Start(t, host.Options{Families: server.Families(), Cache: server.Cache()})
	tiktoken.SetBpeLoader(loader.NewOfflineLoader())
	encoding, err := tiktoken.GetEncoding("cl100k_base")
	if err != nil {
		t.Fatal(err)
	}
	mean := func(name string) float64 {
		tokens, parameters, tools := 0, 0, listedIn(t, s, name)
		for _, each := range tools {
			parameters += len(each.parameters(t))
			wire, err := json.Marshal(each)
			if err != nil {
				t.Fatal(err)
			}
			n := len(encoding.Encode(string(wire), nil, nil))
			if tokens += n; n > 100 && name == profile.Full {
				t.Logf("%3d tokens: %s", n, wire)
			}
		}
		t.Logf("the profile %s: %d tools with %d parameters in %d tokens, %.1f each", name, len(tools), parameters, tokens, float64(tokens)/float64(len(tools)))
		return float64(tokens) / float64(len(tools))
	}
	if full, whole := mean(profile.Full), mean(profile.Deferred); full > most || full >= whole {
		t.Errorf("the tools of the profile full have %.1f tokens each, and with all parameters %.1f: at most %d are allowed", full, whole, most)
	}
}

// parameters are the names of the parameters that the list shows.
func (l listed) parameters(t *testing.T) []string {
	t.Helper()
	var schema struct{ Properties map[string]json.RawMessage }
	if err := json.Unmarshal(l.InputSchema, &schema); err != nil {
		t.Fatalf("decode the schema of %s: got %v, want an object with properties", l.Name, err)
	}
	return slices.Sorted(maps.Keys(schema.Properties))
}

func TestALoadedFamilysToolsAreListedWithAllParameters(t *testing.T) {
	t.Parallel()
	s := server.Start(t, host.Options{Families: server.Families(), Cache: server.Cache()})
	c, err := s.Connect(owner.Hello{Agent: "ann", Profile: profile.Deferred})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]listed{}
	for _, one := range listedIn(t, s, profile.Deferred) {
		shown[one.Name] = one
	}
	type described struct {
		Name        string
		InputSchema json.RawMessage
		Omitted     bool `json:"schema_omitted"`
	}
	there := server.Answered[struct{ Families []struct{ Name string } }](t, c, "memory_capabilities", nil)
	for _, family := range there.Families {
		whole := server.Answered[struct{ Tools []described }](t, c, "memory_capabilities", map[string]any{"family": family.Name, "include_schema": true, "verbose": true})
		for _, tool := range whole.Tools {
			if tool.Omitted || len(tool.InputSchema) == 0 {
				t.Errorf("memory_capabilities of %s: got no schema of %s, want it", family.Name, tool.Name)
				continue
			}
			one, offered := shown[tool.Name]
			if !offered || family.Name == "core" {
				continue // of a deprecated family, or listed with every request
			}
			got, want := one.parameters(t), listed{tool.Name, "", tool.InputSchema}.parameters(t)
			if !slices.Equal(got, want) {
				t.Errorf("%s is listed with %v, want %v", tool.Name, got, want)
			}
		}
	}
}

func TestTheGuideToToolsNamesToolsThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/guides/best-practices.md")
	if err != nil {
		t.Fatal(err)
	}
	s := server.Start(t, host.Options{Families: server.Families(), Cache: server.Cache()})
	c, err := s.Connect(owner.Hello{Agent: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	there := server.Answered[struct{ Families []struct{ Tools []string } }](t, c, "memory_capabilities", nil)
	tools := map[string]bool{}
	for _, family := range there.Families {
		for _, tool := range family.Tools {
			tools[tool] = true
		}
	}
	named := regexp.MustCompile(`memory_[a-z_]+`).FindAllString(string(page), -1)
	if len(named) < 30 {
		t.Fatalf("the guide names %d tools, want at least 30", len(named))
	}
	for _, name := range named {
		if !tools[name] {
			t.Errorf("the guide names %s, want tools that exist", name)
		}
	}
}
