package mcp

import (
	"context"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const loggerName = "alcove"

// level returns from which level on the client of a message wants to be told; empty: it does not.
func level(ctx context.Context) protocol.LoggingLevel {
	if info := server.RequestProtocolInfoFromContext(ctx); info != nil && info.Modern {
		return info.LogLevel
	}
	if client, ok := innerOf(server.ClientSessionFromContext(ctx)).(server.SessionWithLogging); ok {
		return client.GetLogLevel()
	}
	return ""
}

// familyLogger is the logger under which clients are told what families log during their calls.
const familyLogger = "family"

// logLine returns how the client is told what a family logs during the call, at info; nil: it does not want to know.
func (c *toolCall) logLine(ctx context.Context) func(line string) {
	if from := level(ctx); from == "" || !protocol.LoggingLevelInfo.ShouldSendTo(from) {
		return nil
	}
	return func(line string) {
		c.tell(notification(protocol.MethodNotificationMessage, map[string]any{"level": protocol.LoggingLevelInfo, "logger": familyLogger, "data": line}))
	}
}

// log tells the client how its call went, if it wants to know: at debug of each call, at notice of remarks, at warning of what was refused,
// and at error of faults of the server. Values of arguments are not told.
func (c *toolCall) log(ctx context.Context, begun time.Time, made callOutcome) {
	at, data := protocol.LoggingLevelDebug, map[string]any{"tool": c.toolName(), "ms": c.server.options.Clock().Sub(begun).Milliseconds()}
	switch f := tool.FailureOf(made.err); {
	case made.err != nil && f.Code == memory.Internal:
		at, data["code"], data["message"] = protocol.LoggingLevelError, f.Code, f.Message
	case made.err != nil:
		at, data["code"], data["message"] = protocol.LoggingLevelWarning, f.Code, f.Message
	case len(made.answer.Notes) > 0:
		at, data["notes"] = protocol.LoggingLevelNotice, made.answer.Notes
	}
	if from := level(ctx); from == "" || !at.ShouldSendTo(from) {
		return
	}
	c.tell(notification(protocol.MethodNotificationMessage, map[string]any{"level": at, "logger": loggerName, "data": data}))
}
