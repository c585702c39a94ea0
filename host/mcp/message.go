package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"unicode/utf8"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

const (
	methodCall      = "tools/call"
	methodInit      = "initialize"
	methodListen    = "subscriptions/listen"
	methodCancelled = "notifications/cancelled"
)

type argumentsKey struct{} // of the context: the arguments of a call, as they came

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

// malformed is why a message cannot be served.
type malformed struct {
	code int
	id   json.RawMessage
	error
}

// parseMessage takes a message apart. The arguments of a call are set aside: they may be large, and would be
// decoded several times over, their numbers to float64.
func parseMessage(raw []byte) (*message, *malformed) {
	raw = bytes.TrimSpace(raw)
	if !utf8.Valid(raw) {
		return nil, &malformed{protocol.PARSE_ERROR, findID(raw), errors.New("the message is not valid UTF-8")}
	}
	if !json.Valid(raw) {
		return nil, &malformed{protocol.PARSE_ERROR, findID(raw), errors.New("the message is not valid JSON")}
	}
	if raw[0] != '{' {
		return nil, &malformed{code: protocol.INVALID_REQUEST, error: errors.New("the message is not a JSON object: send one JSON-RPC message at a time, no batches")}
	}
	var envelope struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Method  string          `json:"method"`
		Params  json.RawMessage `json:"params"`
		Result  json.RawMessage `json:"result"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return nil, &malformed{code: protocol.INVALID_REQUEST, error: errors.New("the message is not JSON-RPC: method and jsonrpc must be text")}
	}
	m := &message{id: envelope.ID, method: envelope.Method, body: raw}
	switch {
	case m.id != nil && !plainID(m.id):
		return nil, &malformed{code: protocol.INVALID_REQUEST, error: errors.New("the id of a request must be text or a number")}
	case envelope.Version != protocol.JSONRPC_VERSION:
		return nil, &malformed{protocol.INVALID_REQUEST, m.id, errors.New(`jsonrpc must be "2.0"`)}
	case m.method == "" && envelope.Result == nil && envelope.Error == nil:
		return nil, &malformed{protocol.INVALID_REQUEST, m.id, errors.New("the message has no method")}
	}
	if err := m.parseParams(envelope.Params); err != nil {
		return nil, &malformed{protocol.INVALID_PARAMS, m.id, err}
	}
	return m, nil
}

// plainID reports whether an id is text or a number.
func plainID(id json.RawMessage) bool {
	return id[0] == '"' || id[0] == '-' || id[0] >= '0' && id[0] <= '9'
}

func (m *message) parseParams(raw json.RawMessage) error {
	if m.method != methodCall && m.method != methodCancelled {
		return nil
	}
	params := map[string]json.RawMessage{}
	if raw != nil && json.Unmarshal(raw, &params) != nil {
		return errors.New("params must be an object")
	}
	if m.method == methodCancelled {
		m.requestID = params["requestId"]
		return nil
	}
	if json.Unmarshal(params["name"], &m.tool) != nil || m.tool == "" {
		return errors.New("params needs name: the tool to call")
	}
	m.arguments = params["arguments"]
	if m.arguments == nil {
		m.arguments = json.RawMessage("{}")
	}
	var meta struct {
		Progress json.RawMessage `json:"progressToken"`
	}
	if json.Unmarshal(params["_meta"], &meta) == nil && len(meta.Progress) > 0 && plainID(meta.Progress) {
		m.progress = meta.Progress
	}
	params["arguments"] = json.RawMessage("{}")
	body, err := json.Marshal(struct {
		Version string                     `json:"jsonrpc"`
		ID      json.RawMessage            `json:"id,omitempty"`
		Method  string                     `json:"method"`
		Params  map[string]json.RawMessage `json:"params"`
	}{protocol.JSONRPC_VERSION, m.id, m.method, params})
	m.body = body
	return err
}

// into puts what the library does not carry into the context of a call.
func (m *message) into(ctx context.Context, at target) context.Context {
	ctx = context.WithValue(ctx, argumentsKey{}, m.arguments)
	ctx = context.WithValue(ctx, targetKey{}, &at)
	return context.WithValue(ctx, progressKey{}, m.progress)
}

// errorMessage is an answer that says what went wrong with a message.
func errorMessage(id json.RawMessage, code int, text string) protocol.JSONRPCError {
	if id == nil {
		id = json.RawMessage("null")
	}
	return protocol.JSONRPCError{
		JSONRPC: protocol.JSONRPC_VERSION,
		ID:      protocol.NewRequestId(id),
		Error:   protocol.NewJSONRPCErrorDetails(code, text, nil),
	}
}
