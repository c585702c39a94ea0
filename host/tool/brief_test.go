package tool

import (
	"encoding/json"
	"testing"
)

func TestBriefListsKeepWhatACallNeeds(t *testing.T) {
	for name, c := range map[string]struct{ whole, want string }{
		"required, listed and others": {
			`{"type":"object","properties":{"id":{"type":"string","minLength":1},"tags":{"type":"array","items":{"type":"string"},"maxItems":9},"limit":{"type":"integer","minimum":1}},"required":["id"]}`,
			`{"type":"object","properties":{"id":{"type":"string"},"tags":{"type":"array","items":{"type":"string"}}},"required":["id"]}`,
		},
		"nothing is left":         {`{"type":"object","properties":{"limit":{"type":"integer"}}}`, `{"type":"object"}`},
		"no parameters":           {`{"type":"object"}`, `{"type":"object"}`},
		"a required one's inside": {`{"properties":{"b":{"type":"object","properties":{"limit":{"enum":["a"]},"pattern":{"type":"string","pattern":"x"}}}},"required":["b"]}`, `{"properties":{"b":{"type":"object","properties":{"limit":{"enum":["a"]},"pattern":{"type":"string"}}}},"required":["b"]}`},
		"what it refers to stays": {`{"properties":{"a":{"$ref":"#/$defs/t"}},"required":["a"],"$defs":{"t":{"type":"string","format":"date"}}}`, `{"properties":{"a":{"$ref":"#/$defs/t"}},"required":["a"],"$defs":{"t":{"type":"string"}}}`},
	} {
		if got := string(briefSchema(json.RawMessage(c.whole), []string{"tags"})); got != c.want {
			t.Errorf("%s: briefSchema = %s, want %s", name, got, c.want)
		}
	}
}
