package instance

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

// Every schema of a tool's arguments that the first-party families have can be generated, and no value is refused by it.
func TestValuesOfRealSchemas(t *testing.T) {
	paths, err := filepath.Glob("../../../../../guests/families/*/manifest.json")
	if err != nil || len(paths) < 18 {
		t.Fatalf("%d manifests (%v)", len(paths), err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var m abi.Manifest
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		for _, tool := range m.Tools {
			g, err := New(tool.InputSchema, 1)
			if err != nil {
				t.Fatalf("New of the schema of %s: %v", tool.Name, err)
			}
			different := map[string]bool{}
			for range 20 {
				v, err := g.Next()
				if err != nil {
					t.Errorf("Next for %s: %v", tool.Name, err)
					break
				}
				different[string(v)] = true
			}
			if bytes.Contains(tool.InputSchema, []byte(`"string"`)) && len(different) < 3 {
				t.Errorf("%s: only %d different values", tool.Name, len(different))
			}
		}
	}
}

func TestValuesOfASchema(t *testing.T) {
	for _, text := range []string{
		`true`, `{}`, `{"type":["string","null"]}`, `{"const":{"a":1}}`, `{"enum":["a",2]}`,
		`{"type":"string","pattern":"^[a-z]{2,5}-[0-9]+(x|yz)?$"}`, `{"type":"string","minLength":30,"maxLength":31}`,
		`{"type":"integer","minimum":3,"exclusiveMaximum":5}`, `{"type":"number","exclusiveMinimum":0,"maximum":0.5}`, `{"type":"integer","multipleOf":7}`,
		`{"type":"array","items":{"$ref":"#/$defs/n"},"minItems":2,"maxItems":3,"$defs":{"n":{"type":"boolean"}}}`,
		`{"type":"object","required":["a","b"],"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"integer"},"allOf":[{"required":["c"],"properties":{"c":{"const":1},"b":{"type":"integer"}}}]}`,
		`{"anyOf":[{"type":"object","required":["x"],"properties":{"x":{"type":"string","format":"date-time"}}},{"type":"array","items":{"type":"null"}}]}`,
		`{"type":"object","properties":{"next":{"$ref":"#"}}}`,
	} {
		g, err := New([]byte(text), 7)
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			if _, err := g.Next(); err != nil {
				t.Fatalf("Next for %s: %v", text, err)
			}
		}
	}
}

func TestASchemaWithoutValues(t *testing.T) {
	g, err := New([]byte(`{"allOf":[{"type":"string"},{"type":"integer"}]}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := g.Next(); err == nil {
		t.Errorf("Next of a schema without values = %s, want an error", v)
	}
}

func TestEqualSeedsGenerateEqualValues(t *testing.T) {
	one, two := first(t, 3), first(t, 3)
	if !bytes.Equal(one, two) || bytes.Equal(one, first(t, 4)) {
		t.Errorf("%s and %s", one, two)
	}
}

func first(t *testing.T, seed uint64) []byte {
	t.Helper()
	g, err := New([]byte(`{"type":"array","minItems":8,"items":{"type":"number","minimum":0,"maximum":1}}`), seed)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Next()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestTheLargestValueHasText(t *testing.T) {
	g, err := New([]byte(`{"type":"object","properties":{"text":{"type":"string"},"short":{"type":"string","maxLength":5},"all":{"type":"array","items":{"type":"string"}}}}`), 1)
	if err != nil {
		t.Fatal(err)
	}
	v, err := g.Largest(10_000)
	if err != nil || len(v) < 20_000 || len(v) > 21_000 {
		t.Errorf("%d bytes (%v)", len(v), err)
	}
}
