package bridge

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

func mustParse(t *testing.T, line string) jsonrpc.Message {
	t.Helper()
	m, fault := jsonrpc.Parse([]byte(line))
	if fault != nil {
		t.Fatalf("Parse(%s): %v", line, fault)
	}
	return m
}

func TestStampAddsARequestIDAndChangesNothingElse(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"no meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"n":12345678901234567890.10}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"},"name":"x","arguments":{"n":12345678901234567890.10}}}`},
		{"empty parameters", `{"jsonrpc":"2.0","params":{ },"method":"tools/call","id":"a"}`,
			`{"jsonrpc":"2.0","params":{"_meta":{"alcove/request-id":"R"} },"method":"tools/call","id":"a"}`},
		{"meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":7}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"alcove/request-id":"R","progressToken":7}}}`},
		{"empty meta", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"}}}`},
		{"an id of the client's", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"mine"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"mine"}}}`},
		{"meta that is null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":null}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"}}}`},
		{"meta of a wrong type", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":7}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":7}}`},
		{"no parameters", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`},
		{"a meta that is only text", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"value":"\"_meta\":{"}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"alcove/request-id":"R"},"arguments":{"value":"\"_meta\":{"}}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(stamp(mustParse(t, c.line), requestID, `"R"`).Line); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// FuzzStamp stamps what it can, and changes nothing else.
func FuzzStamp(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"key":"k","value":[1,{"a":null}]},"_meta":{"a":1}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":null}}`, `{"jsonrpc":"2.0","id":1,"method":"x","params":{ }}`, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta": {} }}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, fault := jsonrpc.Parse(line)
		if fault != nil {
			return
		}
		checkStamp(t, m, m.Line)
		stamped := stamp(m, requestID, `"R"`)
		if again, fault := jsonrpc.Parse(stamped.Line); fault != nil || again.Key() != m.Key() || !reflect.DeepEqual(again, stamped) {
			t.Fatalf("%q became %+v, want %+v, %v", line, stamped, again, fault)
		}
	})
}

func checkStamp(t *testing.T, m jsonrpc.Message, line []byte) {
	t.Helper()
	stamped := stamp(m, requestID, `"R"`).Line
	var before, after map[string]any
	if json.Unmarshal(line, &before) != nil {
		return // a number too large for encoding/json
	}
	if err := json.Unmarshal(stamped, &after); err != nil {
		t.Fatalf("%q became %q: %v", line, stamped, err)
	}
	delete(before, "params")
	delete(after, "params")
	if !reflect.DeepEqual(before, after) {
		t.Fatalf("%q became %q", line, stamped)
	}
}
