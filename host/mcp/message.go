package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
)

const gotLength = 60 // characters of what a client sent that an error repeats

const (
	methodCall      = "tools/call"
	methodInit      = "initialize"
	methodListen    = "subscriptions/listen"
	methodCancelled = "notifications/cancelled"
)

// maxBody is how many bytes of a message the protocol library may see. The arguments of calls are not among them. It
// decodes all that it sees, which takes many times as much memory.
const maxBody = 1 << 20

// message is a JSON-RPC message, as far as it must be understood before it is served.
type message struct {
	id     json.RawMessage // nil: it wants no answer
	method string          // empty: it is an answer itself
	body   json.RawMessage // what the protocol library gets to see

	tool      string          // of a call
	arguments json.RawMessage // of a call; they are not in body
	progress  json.RawMessage // of a call: the token of those who want to know how far it has come; nil: nobody does
	requestID json.RawMessage // of a cancellation
}

// parseMessage takes a message apart. The arguments of a call are set aside: they may be large, and would be
// decoded several times over, their numbers to float64.
func parseMessage(raw []byte) (*message, *jsonrpc.Fault) {
	read, fault := jsonrpc.Parse(raw)
	if fault != nil {
		return nil, fault
	}
	m := &message{id: read.RawID(), method: read.Method, body: forLibrary(read)}
	if len(m.body) > maxBody {
		return nil, &jsonrpc.Fault{Code: jsonrpc.CodeInvalid, ID: m.id, Text: fmt.Sprintf(
			"the message has %d bytes beside the arguments of a tool: at most %d are allowed", len(m.body), maxBody)}
	}
	if err := m.parseParams(read); err != nil {
		return nil, &jsonrpc.Fault{Code: jsonrpc.CodeInvalidParams, ID: m.id, Text: err.Error()}
	}
	return m, nil
}

func (m *message) parseParams(read jsonrpc.Message) error {
	param := func(name string) json.RawMessage { return read.Field(read.Params, name).Of(read.Line) }
	switch m.method {
	case methodCancelled:
		m.requestID = param("requestId")
	case methodCall:
		if m.tool = jsonrpc.Text(param("name")); m.tool == "" {
			return errors.New("params needs name: the tool to call")
		}
		if m.arguments = param("arguments"); len(m.arguments) == 0 {
			m.arguments = json.RawMessage("{}")
		}
		token := read.Field(read.Field(read.Params, "_meta"), "progressToken").Of(read.Line)
		if jsonrpc.Plain(token) {
			m.progress = token
		}
	}
	return nil
}

// forLibrary is a message as the protocol library gets to see it, which takes names of any case and the last of several
// members: exactly the members that were understood here, and no arguments.
func forLibrary(read jsonrpc.Message) json.RawMessage {
	body := []byte(`{"jsonrpc":"2.0"`)
	add := func(name string, value []byte) {
		if len(value) > 0 {
			body = append(append(body, `,"`+name+`":`...), value...)
		}
	}
	add("id", read.RawID())
	if read.IsAnswer() {
		add("result", read.Result.Of(read.Line))
		add("error", read.Error.Of(read.Line))
		return append(body, '}')
	}
	method, _ := json.Marshal(read.Method) // a string can be encoded
	add("method", method)
	add("params", paramsForLibrary(read))
	return append(body, '}')
}

func paramsForLibrary(read jsonrpc.Message) []byte {
	if read.Params == (jsonrpc.Span{}) {
		return nil
	}
	params := []byte{'{'}
	jsonrpc.Members(read.Line, read.Params.From, func(name string, value jsonrpc.Span) {
		if lookalike(name) {
			return
		}
		raw := value.Of(read.Line)
		if name == "arguments" && read.Method == methodCall {
			raw = []byte("{}")
		}
		if len(params) > 1 {
			params = append(params, ',')
		}
		quoted, _ := json.Marshal(name) // a string can be encoded
		params = append(append(append(params, quoted...), ':'), raw...)
	})
	return append(params, '}')
}

// lookalike reports whether the library would take a name for one that is read here too, and is another.
func lookalike(name string) bool {
	for _, known := range []string{"_meta", "name", "arguments", "requestId"} {
		if name != known && strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// errorMessage is an answer that says what went wrong with a message.
func errorMessage(id json.RawMessage, code int, text string) protocol.JSONRPCError {
	if id == nil {
		id = json.RawMessage("null")
	}
	var data any
	if code == jsonrpc.CodeServer { // a shortage
		data = map[string]any{"code": memory.Exhausted, "retryable": true}
	}
	return protocol.JSONRPCError{
		JSONRPC: protocol.JSONRPC_VERSION,
		ID:      protocol.NewRequestId(id),
		Error:   protocol.NewJSONRPCErrorDetails(code, text, data),
	}
}
