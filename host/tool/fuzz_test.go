package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
)

func FuzzFamilyTool(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`, `{"a":"5","b":[1]}`},
		{`{"additionalProperties":false,"properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"type":"array"}}}`, `{"a":1,"z":2}`},
		{`{"$ref":"#"}`, `{}`}, {`{"properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{"a":1}}}`}, {`{"type":["object","null"]}`, `null`},
		{`{"properties":{"a":{"type":"string","pattern":"(a+)+$"}}}`, `{"a":"aaaaaaaaaaaaaaaaaaaaaaaa!"}`},
		{`true`, `[]`}, {``, `"{}"`}, {`{"type":"object","type":"array"}`, `{}`}, {`{"properties":5}`, `{"a":1,"a":2}`},
		{strings.Repeat(`{"items":`, 600) + `{}` + strings.Repeat(`}`, 600), `{}`}, {`{"anyOf":[{"required":["a"]}],"x-mcp-header":"A"}`, `{}`},
		{`{"$id":"file:///etc/passwd","$schema":"http://example.com/other"}`, `{}`}, {`{"properties":{"a":{"type":"boolean"}}}`, `{"a":"yes"}`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, schema, given []byte) {
		c := NewRegistry(fixed{{Name: "f", Tools: []Spec{{Name: "f_tool", Input: schema}, {Name: "f_good"}}}}).Snapshot()
		offered := c.Sets[0].Offered(false)
		if len(offered) == 0 || offered[len(offered)-1].Name != "f_good" {
			t.Fatalf("the schema %q hides another tool", schema)
		}
		var listed struct{ Type string }
		if err := json.Unmarshal(offered[0].Advertised, &listed); err != nil || listed.Type != "object" {
			t.Fatalf("listed is %s", offered[0].Advertised)
		}
		if p, err := c.Find("f_tool").Prepare(given); err == nil && (!json.Valid(p.JSON) || !bytes.HasPrefix(p.JSON, []byte("{"))) {
			t.Errorf("the arguments became %q", p.JSON)
		}
	})
}

// fixed is a source whose families never change.
type fixed []Family

func (f fixed) Families() []Family                 { return f }
func (f fixed) Changed() <-chan struct{}           { return nil }
func (f fixed) Load(context.Context, string) error { return nil }
