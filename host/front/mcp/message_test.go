package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

func TestTheLibrarySeesTheMessageThatWasUnderstood(t *testing.T) {
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping","METHOD":"tools/call","Params":{"name":"memory_forget"}}`: `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","NAME":"memory_forget","argument\u017f":{"key":"k"},"arguments":{"a":1},"_META":{"x":1},"_meta":{"y":2}}}`://
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","arguments":{},"_meta":{"y":2}}}`,
		`{"jsonrpc":"2.0","method":"notifications/x","result\u0053":1,"params":{"a":[1,"\u0061"]}}`: `{"jsonrpc":"2.0","method":"notifications/x","params":{"a":[1,"\u0061"]}}`,
		`{"jsonrpc":"2.0","id":"a","RESULT":1,"result":{}}`:                                         `{"jsonrpc":"2.0","id":"a","result":{}}`,
	} {
		if m, fault := parseMessage([]byte(line)); fault != nil || string(m.forLibrary()) != want {
			t.Errorf("%s became %+v, %v", line, m, fault)
		}
	}
}

func TestWhatTheLibraryDecodesIsLimited(t *testing.T) {
	big := strings.Repeat("x", maxBody)
	_, fault := parseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"` + big + `"}}`))
	if fault == nil || string(fault.ID) != "1" || !strings.Contains(fault.Text, "at most 1048576") {
		t.Errorf("got %v", fault)
	}
	if _, fault := parseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"value":"` + big + `"}}}`)); fault != nil {
		t.Errorf("large arguments: %v", fault)
	}
}

func TestACursorOfNoPageIsRefusedAndTheFirstPageNeedsNone(t *testing.T) {
	for params, want := range map[string]string{
		`{}`: "", `{"cursor":null}`: "", `{"cursor":""}`: "", `{"Cursor":"x!"}`: "",
		`{"cursor":"x!"}`:   `the cursor "x!" belongs to no page: leave it out, tools/list lists all tools at once`,
		`{"cursor":"bWVt"}`: `the cursor "bWVt" belongs to no page: leave it out, tools/list lists all tools at once`,
		`{"cursor":7}`:      `the cursor 7 belongs to no page: leave it out, tools/list lists all tools at once`,
	} {
		m, fault := parseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":` + params + `}`))
		got := ""
		if fault != nil {
			got = fault.Text
		}
		if got != want || fault != nil && fault.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("%s: got %q (%+v), want %q", params, got, fault, want)
		}
		if m != nil && strings.Contains(string(m.forLibrary()), "Cursor") {
			t.Errorf("%s: the library would read the cursor in %s", params, m.forLibrary())
		}
	}
}

func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_store","arguments":{"value":1}}}`, `{"jsonrpc":"2.0","id":"x","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, `[]`, `{`, `{"id":{}}`, "\xff", ``, `null`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"NAME":"x","name":"y","Arguments":[]}}`,
		`{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping","Method":"tools/call"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"y","arguments":{},"argument\u017f":[1]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, bad := parseMessage(raw)
		if (m == nil) == (bad == nil) {
			t.Fatal("neither a message nor a reason")
		}
		if bad != nil && bad.Error() == "" || m != nil && !json.Valid(m.forLibrary()) {
			t.Errorf("%q became %+v, %+v", raw, m, bad)
		}
		if m != nil {
			checkLibrarysView(t, raw, m)
		}
	})
}

// checkLibrarysView reads a message as the protocol library does, in which names have any case and the last member counts.
func checkLibrarysView(t *testing.T, raw []byte, m *message) {
	t.Helper()
	var seen struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      json.RawMessage `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
			Meta      struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		} `json:"params"`
		Result json.RawMessage `json:"result"`
	}
	if json.Unmarshal(m.forLibrary(), &seen) != nil {
		return // a member of another type: the library refuses it
	}
	if seen.Method != m.method || m.id != nil && jsonrpc.Key(seen.ID) != jsonrpc.Key(m.id) || m.id == nil && seen.ID != nil || m.method != "" && seen.Result != nil {
		t.Errorf("%q is %+v, and the library sees %s", raw, m, m.forLibrary())
	}
	if m.method == string(protocol.MethodToolsCall) && (jsonrpc.Text(seen.Params.Name) != m.tool || len(seen.Params.Arguments) > 2) {
		t.Errorf("%q is a call of %q, and the library sees %s", raw, m.tool, m.forLibrary())
	}
}

func TestCallsForTheLibraryAreToldFromPlainOnes(t *testing.T) {
	for params, plain := range map[string]bool{
		`{"name":"a"}`: true, `{"arguments":{"task":1},"name":"a","_meta":{"progressToken":1,"vendor/x":{}}}`: true,
		`{"name":"a","task":{}}`: false, `{"name":"a","Task":1}`: false, `{"name":"a","inputResponses":{}}`: false,
		`{"name":"a","_meta":null}`: false, `{"name":"a","_meta":[]}`: false, `{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":1}}`: false,
	} {
		m, fault := parseMessage([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`))
		if fault != nil || m.plain != plain || m.tool != "a" {
			t.Errorf("%s is read as %+v, %v", params, m, fault)
		}
	}
}
