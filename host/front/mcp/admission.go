package mcp

import (
	"encoding/json"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

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
