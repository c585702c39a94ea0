package bridge

import (
	"bytes"
	"strconv"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

// requestID is the member of a call's _meta by which the server recognises a resent call.
const requestID = "alcove/request-id"

// stamp gives a request a member of _meta, unless it has it or has no parameters to put it in. All other bytes stay unchanged.
func stamp(m jsonrpc.Message, name, value string) jsonrpc.Message {
	if m.Params == (jsonrpc.Span{}) {
		return m
	}
	member := strconv.Quote(name) + ":" + value
	meta := m.Field(m.Params, "_meta")
	switch given := meta.Of(m.Line); {
	case given == nil:
		return insert(m, m.Params, `"_meta":{`+member+`}`)
	case string(given) == "null":
		return m.Replace(meta, "{"+member+"}")
	case given[0] != '{' || m.Field(meta, name) != (jsonrpc.Span{}):
		return m
	}
	return insert(m, meta, member)
}

// insert adds a first member to the object at s.
func insert(m jsonrpc.Message, s jsonrpc.Span, member string) jsonrpc.Message {
	inside := s.From + 1
	if bytes.TrimLeft(m.Line[inside:], " \t\r\n")[0] != '}' {
		member += ","
	}
	return m.Replace(jsonrpc.Span{From: inside, To: inside}, member)
}
