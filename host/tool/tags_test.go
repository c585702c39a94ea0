package tool

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTagsInOneTextAreSplitAndThatIsNoted(t *testing.T) {
	list := newTool(Spec{Name: "family_tool", Input: json.RawMessage(`{"type":"object","properties":{"tags":{"type":"array","items":{"type":"string"}},"links":{"type":"array","items":{"type":"string"}}}}`)})
	text := newTool(Spec{Name: "family_tool", Input: json.RawMessage(`{"type":"object","properties":{"tags":{"type":"string"}}}`)})
	for _, c := range []struct {
		name, arguments, want, note string
		tool                        *Tool
	}{
		{"two", `{"tags":"person, user"}`, `{"tags":["person","user"]}`, `tags was taken as the list ["person","user"]: give a list.`, list},
		{"an empty one between", `{"Tags":"a,,b,"}`, `{"tags":["a","b"]}`, `Tags was taken as the list ["a","b"]: give a list.`, list},
		{"one", `{"tags":"person"}`, `{"tags":["person"]}`, "", list},
		{"a list", `{"tags":["a, b"]}`, `{"tags":["a, b"]}`, "", list},
		{"the text of a list", `{"tags":"[\"a, b\"]"}`, `{"tags":["a, b"]}`, "", list},
		{"commas alone", `{"tags":",,"}`, `{"tags":[",,"]}`, "", list},
		{"another list", `{"links":"a,b"}`, `{"links":["a,b"]}`, "", list},
		{"a tool whose tags are a text", `{"tags":"a,b"}`, `{"tags":"a,b"}`, "", text},
	} {
		p, err := c.tool.Prepare(json.RawMessage(c.arguments))
		if err != nil {
			t.Errorf("%s: Prepare: %v", c.name, err)
			continue
		}
		if note := strings.Join(p.Notes(), " "); string(p.JSON) != c.want || note != c.note {
			t.Errorf("%s: got %s, noted %q; want %s, noted %q", c.name, p.JSON, note, c.want, c.note)
		}
	}
}
