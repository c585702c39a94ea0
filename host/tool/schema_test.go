package tool

import (
	"encoding/json"
	"testing"
)

func TestTrimmingDropsProseAndKeepsTheRest(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"the schema's own prose", `{"$schema":"x","title":"T","description":"d","type":"object"}`, `{"type":"object"}`},
		{"descriptions of properties", `{"properties":{"a":{"type":"string","description":"d"}}}`, `{"properties":{"a":{"type":"string"}}}`},
		{"descriptions of definitions", `{"definitions":{"F":{"description":"d","type":"string"}},"$defs":{"G":{"description":"d"}}}`, `{"definitions":{"F":{"type":"string"}},"$defs":{"G":{}}}`},
		{"descriptions inside lists of schemas", `{"items":{"anyOf":[{"description":"d","type":"string"},{"items":{"description":"d"}}]}}`, `{"items":{"anyOf":[{"type":"string"},{"items":{}}]}}`},
		{"alternatives at the top, which models' interfaces refuse", `{"anyOf":[{"required":["a"]}],"oneOf":[],"allOf":[],"properties":{"anyOf":{}}}`, `{"properties":{"anyOf":{}}}`},
		{"what refuses unknown members at the top, which are tolerated", `{"additionalProperties":false,"unevaluatedProperties":false,"properties":{"a":{"additionalProperties":false}}}`, `{"properties":{"a":{"additionalProperties":false}}}`},
		{"what clients would send twice", `{"properties":{"a":{"x-mcp-header":"A"}}}`, `{"properties":{"a":{}}}`},
		{"the mark of arguments that few need", `{"properties":{"a":{"type":"string","x-advanced":true},"b":{"x-advanced":false},"x-advanced":{}}}`, `{"properties":{"a":{"type":"string"},"b":{},"x-advanced":{}}}`},
		{"long default texts", `{"properties":{"a":{"default":"the quick brown fox jumps over it all"}}}`, `{"properties":{"a":{}}}`},
		{"short defaults stay", `{"properties":{"a":{"default":"strict"},"b":{"default":10},"c":{"default":false}}}`, `{"properties":{"a":{"default":"strict"},"b":{"default":10},"c":{"default":false}}}`},
		{"properties with the names of prose stay", `{"properties":{"description":{"type":"string","description":"d"},"title":{"type":"string"},"default":{"description":"d"}}}`, `{"properties":{"description":{"type":"string"},"title":{"type":"string"},"default":{}}}`},
		{"literals stay as they are", `{"enum":[{"description":"d"}],"const":{"title":"t","description":"d"},"default":{"description":"d"}}`, `{"enum":[{"description":"d"}],"const":{"title":"t","description":"d"},"default":{"description":"d"}}`},
		{"what says which arguments are valid stays", `{"type":"object","required":["k"],"properties":{"k":{"type":"integer","minimum":1,"maximum":50,"default":10,"description":"d"},"s":{"enum":["a"],"items":{"type":"string"}}}}`,
			`{"type":"object","required":["k"],"properties":{"k":{"type":"integer","minimum":1,"maximum":50,"default":10},"s":{"enum":["a"],"items":{"type":"string"}}}}`},
		{"schemas that are true", `{"properties":{"a":true},"additionalProperties":true}`, `{"properties":{"a":true},"additionalProperties":true}`},
		{"titles inside stay", `{"properties":{"a":{"title":"A"}}}`, `{"properties":{"a":{"title":"A"}}}`},
	}
	for _, c := range cases {
		got, err := trimSchema(json.RawMessage(c.in))
		if err != nil {
			t.Errorf("%s: trimSchema: %v", c.name, err)
		} else if string(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestListsShowAllArgumentsOfAFamilysToolAndTheCommonOnesOfACoreTool(t *testing.T) {
	input := json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","description":"d"},"b":{"type":"integer","x-advanced":true}}}`)
	all, common := `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`
	for family, want := range map[string]string{"": common, "notes": all} {
		if got := string(New(Spec{Name: "memory_note", Family: family, Input: input}).Advertised); got != want {
			t.Errorf("of the family %q: got %s, want %s", family, got, want)
		}
	}
}
