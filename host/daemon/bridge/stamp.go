package bridge

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// requestID is the member of a call's _meta by which the server recognises a resent call.
const requestID = "alcove/request-id"

// stamp gives a tool call a request id, unless it has one or has no parameters to put it in. All other
// bytes stay unchanged.
func stamp(m message, id string) []byte {
	if m.Params == (jsonrpc.Span{}) {
		return m.Line
	}
	member := strconv.Quote(requestID) + ":" + strconv.Quote(id)
	meta := m.Field(m.Params, "_meta")
	switch said := meta.Of(m.Line); {
	case said == nil:
		return insert(m, m.Params, `"_meta":{`+member+`}`)
	case string(said) == "null":
		return replace(m, meta, "{"+member+"}")
	case said[0] != '{' || m.Field(meta, requestID) != (jsonrpc.Span{}):
		return m.Line
	}
	return insert(m, meta, member)
}

// insert adds a first member to the object at s.
func insert(m message, s jsonrpc.Span, member string) []byte {
	inside := s.From + 1
	if bytes.TrimLeft(m.Line[inside:], " \t\r\n")[0] != '}' {
		member += ","
	}
	return replace(m, jsonrpc.Span{From: inside, To: inside}, member)
}

// withID returns the message with another id.
func withID(m message, id string) []byte { return replace(m, m.ID, strconv.Quote(id)) }

// replace returns the message with the span s replaced.
func replace(m message, s jsonrpc.Span, text string) []byte {
	return slices.Concat(m.Line[:s.From], []byte(text), m.Line[s.To:])
}
