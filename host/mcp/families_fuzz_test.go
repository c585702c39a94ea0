package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
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
		c := newCatalogue([]Family{{Name: "f", Tools: []FamilyTool{{Name: "f_tool", Input: schema}, {Name: "f_good"}}}}, nil)
		offered := c.families[0].offered(false)
		if len(offered) == 0 || offered[len(offered)-1].Name != "f_good" {
			t.Fatalf("the schema %q hides another tool", schema)
		}
		encoded, err := json.Marshal(offered[0].wire)
		if err != nil {
			t.Fatalf("a listed tool cannot be encoded: %v", err)
		}
		var listed struct {
			Input struct{ Type string } `json:"inputSchema"`
		}
		if err := json.Unmarshal(encoded, &listed); err != nil || listed.Input.Type != "object" {
			t.Fatalf("listed is %s", encoded)
		}
		tool := c.find("f_tool")
		a, err := parseArguments("f_tool", given)
		if err != nil {
			return
		}
		if fitting, err := tool.fit(a); err == nil && (!json.Valid(fitting) || !bytes.HasPrefix(fitting, []byte("{"))) {
			t.Errorf("the arguments became %q", fitting)
		}
		c.suggest(string(schema))
	})
}

func TestManyClientsLoadAndCallWhileFamiliesComeAndGo(t *testing.T) {
	f := newFake()
	f.answers["memory_auto_tag"] = func(context.Context, FamilyCall) (FamilyResult, error) { panic("crash") }
	s := newServer(t, Options{Families: f})
	var using sync.WaitGroup
	for n := range 16 {
		p := connect(t, s, Session{Profile: Profiles()[n%len(Profiles())]}).initialize("tester")
		using.Go(func() {
			for i := range 20 {
				if n == 0 {
					f.change(func(all []Family) []Family {
						next := append([]Family(nil), all...)
						next[1].Fault = []string{"", "broken for now"}[i%2]
						return next
					})
				}
				p.call("memory_load_family", `{"family":"site"}`)
				p.call("site.memory.store", `{"content":"x"}`)
				p.call("memory_auto_tag", `{"id":"k"}`)
				p.request("tools/list", `{}`)
				p.call("memory_store", fmt.Sprintf(`{"key":"%d/%d","value":%d}`, n, i, i))
				p.call("memory_load_family", `{"family":"site","unload":true}`)
			}
		})
	}
	using.Wait()
	if got := connect(t, s, Session{}).initialize("tester").must("memory_status", `{}`).field("keys"); got != "320" {
		t.Errorf("%s of 320 memories were stored", got)
	}
}
