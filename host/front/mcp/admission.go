package mcp

import (
	"encoding/json"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

// Limits bounds the requests of clients with an API key. An empty key means the owner of the data directory.
type Limits interface {
	Begin(key string) (end func(), err error)
	BodyLimit(key string) int64 // bytes
}

// admit checks the limits of a connection's key. A subscription counts when it begins, not while it lasts.
func (s *Server) admit(session Session) (end func(), err error) {
	if s.options.Limits == nil {
		return func() {}, nil
	}
	return s.options.Limits.Begin(session.Key)
}

// messageLimit returns the most bytes of a client's message.
func (s *Server) messageLimit(session Session) int64 {
	if s.options.Limits == nil {
		return s.options.MaxMessage
	}
	return min(s.options.MaxMessage, s.options.Limits.BodyLimit(session.Key))
}

// admission returns how a call counts that was admitted by its connection's key, and may present another.
func admission(connection, caller Session) tool.Admission {
	if connection.Key == caller.Key {
		return tool.Admitted
	}
	return tool.ToAdmit
}

// limitMessage returns the error response to a request beyond a limit.
func limitMessage(id json.RawMessage, err error) protocol.JSONRPCError {
	answer, f := errorMessage(id, jsonrpc.CodeServer, err.Error()), tool.FailureOf(err)
	answer.Error.Data = map[string]any{"code": f.Code, "retryable": f.Retryable, "details": f.Details}
	return answer
}
