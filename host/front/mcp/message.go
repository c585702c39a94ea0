package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const gotLength = 60 // characters of client input quoted in an error

const (
	methodCall      = "tools/call"
	methodList      = "tools/list"
	methodInit      = "initialize"
	methodListen    = "subscriptions/listen"
	methodCancelled = "notifications/cancelled"

	methodResources   = "resources/list"
	methodTemplates   = "resources/templates/list"
	methodRead        = "resources/read"
	methodSubscribe   = "resources/subscribe"
	methodUnsubscribe = "resources/unsubscribe"
	methodPrompt      = "prompts/get"
	methodPrompts     = "prompts/list"
)

// maxBody bounds the part of a message passed to the protocol library, in bytes, without the arguments of calls. The
// library decodes all of it, which takes many times as much memory.
const maxBody = 1 << 20

// message is a JSON-RPC message, decoded as far as needed before serving it.
type message struct {
	id     json.RawMessage // nil: a notification
	method string          // empty: an answer
	read   jsonrpc.Message

	requestID json.RawMessage // of a cancellation
	bridge    bool            // of an initialization: the client is a bridge
	uri       string          // of a message about a resource

	call
}

// call is what a message says of the call of a tool.
type call struct {
	tool      string
	found     *tool.Tool      // nil: the dispatcher finds it
	arguments json.RawMessage // not in body
	plain     bool            // there is nothing that only the protocol library knows

	// Members of _meta; nil: not given.
	progress json.RawMessage // the progress token
	retry    json.RawMessage // the id that identifies retries
	key      json.RawMessage // the API key
	trace    trace.Parent    // the zero Parent: none, or none that can be read
}

// parseMessage parses a message. It keeps the arguments of a call apart: they may be large, and the library would decode
// them several times, and numbers to float64.
func parseMessage(raw []byte) (*message, *jsonrpc.Fault) {
	read, fault := jsonrpc.Parse(raw)
	if fault != nil {
		return nil, fault
	}
	m := &message{id: read.RawID(), method: read.Method, read: read}
	err := m.parseParams(read)
	if beside := len(m.read.Line) - len(m.arguments); beside > maxBody {
		return nil, &jsonrpc.Fault{Code: jsonrpc.CodeInvalid, ID: m.id, Text: fmt.Sprintf(
			"the message has %d bytes beside the arguments of a tool: at most %d are allowed", beside, maxBody)}
	}
	if err != nil {
		return nil, &jsonrpc.Fault{Code: jsonrpc.CodeInvalidParams, ID: m.id, Text: err.Error()}
	}
	return m, nil
}

func (m *message) parseParams(read jsonrpc.Message) error {
	switch m.method {
	case methodCancelled:
		m.requestID = read.Field(read.Params, "requestId").Of(read.Line)
	case methodInit:
		m.bridge = string(read.Field(read.Field(read.Params, "_meta"), bridgeMeta).Of(read.Line)) == "true"
	case methodRead, methodSubscribe, methodUnsubscribe:
		return m.parseURI(read)
	case methodPrompt:
		return checkPrompt(read.Field(read.Params, "name").Of(read.Line))
	case methodList:
		return checkCursor(read.Field(read.Params, "cursor").Of(read.Line))
	case methodCall:
		m.call = callOf(read)
		if m.tool == "" {
			return errors.New("params needs name: the tool to call")
		}
	}
	return nil
}

func (m *message) parseURI(read jsonrpc.Message) error {
	raw := read.Field(read.Params, "uri").Of(read.Line)
	if m.uri = jsonrpc.Text(raw); m.uri == "" && m.method == methodRead { // the library refuses the others, which 2026-07-28 does not have
		return errors.New("params needs uri: the resource")
	}
	if len(m.uri) > longestURI {
		return fmt.Errorf("the uri has %d bytes: at most %d are allowed", len(m.uri), longestURI)
	}
	return nil
}

// modern reports whether the message says that it is of the stateless protocol.
func (m *message) modern() bool {
	meta := m.read.Field(m.read.Params, "_meta")
	return protocol.IsModernProtocol(jsonrpc.Text(m.read.Field(meta, protocol.MetaKeyProtocolVersion).Of(m.read.Line)))
}

// checkPrompt refuses a message without the name of a prompt.
func checkPrompt(name json.RawMessage) error {
	if jsonrpc.Text(name) == "" {
		return errors.New("params needs name: the prompt")
	}
	return nil
}

// checkCursor refuses every cursor of a list of tools, which is one page: no answer names a next one.
func checkCursor(given json.RawMessage) error {
	if len(given) == 0 || string(given) == "null" || string(given) == `""` {
		return nil
	}
	return fmt.Errorf("the cursor %s belongs to no page: leave it out, tools/list lists all tools at once", tool.Clip(string(given), gotLength))
}

func callOf(read jsonrpc.Message) call {
	c := call{arguments: json.RawMessage("{}"), plain: true}
	if read.Params == (jsonrpc.Span{}) {
		return c
	}
	jsonrpc.Members(read.Line, read.Params.From, func(name string, value jsonrpc.Span) {
		switch name {
		case "name":
			c.tool = jsonrpc.Text(value.Of(read.Line))
		case "arguments":
			c.arguments = value.Of(read.Line)
		case "_meta":
			c.parseMeta(read.Line, value)
		default:
			c.plain = false
		}
	})
	return c
}

func (c *call) parseMeta(line []byte, meta jsonrpc.Span) {
	_, isObject := jsonrpc.Members(line, meta.From, func(name string, value jsonrpc.Span) {
		switch raw := value.Of(line); name {
		case "progressToken":
			if jsonrpc.Plain(raw) {
				c.progress = raw
			}
		case requestIDMeta:
			c.retry = raw
		case keyMeta:
			c.key = raw
		case trace.Header:
			c.trace, _ = trace.Parse(jsonrpc.Text(raw))
		case protocol.MetaKeyProtocolVersion:
			c.plain = false
		}
	})
	c.plain = c.plain && isObject
}

// forLibrary returns the message for the protocol library: exactly the members read here, without arguments. The library
// itself accepts names of any case and the last of repeated members.
func (m *message) forLibrary() json.RawMessage {
	body := []byte(`{"jsonrpc":"2.0"`)
	add := func(name string, value []byte) {
		if len(value) > 0 {
			body = append(append(body, `,"`+name+`":`...), value...)
		}
	}
	add("id", m.id)
	if m.read.IsAnswer() {
		add("result", m.read.Result.Of(m.read.Line))
		add("error", m.read.Error.Of(m.read.Line))
		return append(body, '}')
	}
	method, _ := json.Marshal(m.method) // a string cannot fail
	add("method", method)
	add("params", m.paramsForLibrary())
	return append(body, '}')
}

func (m *message) paramsForLibrary() []byte {
	if m.read.Params == (jsonrpc.Span{}) {
		return nil
	}
	params := []byte{'{'}
	jsonrpc.Members(m.read.Line, m.read.Params.From, func(name string, value jsonrpc.Span) {
		if isFoldedName(name) {
			return
		}
		raw := value.Of(m.read.Line)
		if name == "arguments" && m.method == methodCall {
			raw = []byte("{}")
		}
		if len(params) > 1 {
			params = append(params, ',')
		}
		quoted, _ := json.Marshal(name) // a string cannot fail
		params = append(append(append(params, quoted...), ':'), raw...)
	})
	return append(params, '}')
}

// isFoldedName reports whether a name differs from one read here, but the library, which reads with encoding/json, would treat them as equal.
func isFoldedName(name string) bool {
	for _, known := range []string{"_meta", "name", "arguments", "requestId", "cursor", "uri"} {
		if name != known && strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// errorMessage returns the error response to a message.
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

// limitMessage returns the error response to a request beyond a limit.
func limitMessage(id json.RawMessage, err error) protocol.JSONRPCError {
	answer, f := errorMessage(id, jsonrpc.CodeServer, err.Error()), tool.FailureOf(err)
	answer.Error.Data = map[string]any{"code": f.Code, "retryable": f.Retryable, "details": f.Details}
	return answer
}

// encode encodes a message to a client. What a tool answers, which is JSON already, is put into the message as it is: the library's
// encoding of a result would check and copy it several times.
func encode(m protocol.JSONRPCMessage) ([]byte, error) {
	response, _ := m.(protocol.JSONRPCResponse)
	result, ok := response.Result.(*protocol.CallToolResult)
	if !ok {
		return tool.Encode(m)
	}
	structured, ok := result.StructuredContent.(tool.Encoded)
	if !ok {
		return tool.Encode(m)
	}
	room := len(structured) + 200
	for _, content := range result.Content {
		if text, ok := content.(protocol.TextContent); ok {
			room += len(text.Text) * 5 / 4 // with escaped quotes
		}
	}
	o := object{json: append(make([]byte, 0, room), `{"jsonrpc":"2.0"`...)}
	o.add("id", response.ID)
	o.json = append(o.json, `,"result":{`...)
	if result.Meta != nil {
		o.add("_meta", result.Meta)
	}
	o.add("content", result.Content)
	if result.IsError {
		o.add("isError", true)
	}
	if result.ResultType != "" {
		o.add("resultType", result.ResultType)
	}
	o.json = append(append(append(o.json, `,"structuredContent":`...), structured...), "}}"...)
	return o.json, o.err
}

// object is a JSON object that is being written.
type object struct {
	json []byte
	err  error
}

func (o *object) add(name string, value any) {
	if o.err != nil {
		return
	}
	if o.json[len(o.json)-1] != '{' {
		o.json = append(o.json, ',')
	}
	o.json, o.err = tool.Append(append(append(append(o.json, '"'), name...), `":`...), value)
}
