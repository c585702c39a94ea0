package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"value":1}}}`, `{"jsonrpc":"2.0","id":"x","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `[]`, `{`, `{"id":{}}`, "\xff", ``, `null`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"x","name":"y","Arguments":[]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, bad := parseMessage(raw)
		if (m == nil) == (bad == nil) {
			t.Fatal("neither a message nor a reason")
		}
		if bad != nil && bad.Error() == "" || m != nil && !json.Valid(m.body) {
			t.Errorf("%q became %+v, %+v", raw, m, bad)
		}
	})
}

func FuzzLongLine(f *testing.F) {
	for _, seed := range []string{`{"id":1,"a":"xxxxxxxxxxxxxxxx"}`, `{"a":{"id":2},"id":"s"}`, `{"a":"\"id\":3"}`, `]]}}{{"id":`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := newLines(bytes.NewReader(raw), 8)
		for range len(raw) + 2 {
			line, id, err := l.next()
			if len(line) > 8 || id != nil && (!json.Valid(id) || !plainID(id)) {
				t.Errorf("%q gave the line %q and the id %q", raw, line, id)
			}
			if err != nil && !errors.Is(err, errLong) {
				return
			}
		}
		t.Errorf("%q has no end", raw)
	})
}

func TestTheIdOfALongLineIsTheMessagesOwn(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"method":"x"}`: "1", `{"method":"x","id":"a,b}"}`: `"a,b}"`, `{"params":{"id":2},"id":3}`: "3", `{"params":[{"id":2}],"x":"\"id\":4"}`: "",
		`{ "id" : 5 , "x":1}`: "5", `{"iid":6}`: "", `{"id":null}`: "", `{"id":[7]}`: "", `{"x":"id","id":8}`: "8", `{"id":9`: "",
	} {
		f := &idFinder{}
		f.read([]byte(line))
		if got := string(f.found()); got != want {
			t.Errorf("%s: found %q, not %q", line, got, want)
		}
	}
}
