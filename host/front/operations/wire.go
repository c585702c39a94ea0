// Package operations serves operations over a connection: one JSON object a line, each answered with one.
package operations

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync/atomic"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

// Options configures a Server. Dispatcher is required.
type Options struct {
	Dispatcher *tool.Dispatcher
	Logger     *slog.Logger // nil: discards
	Limits     connection.Limits
	Sessions   connection.Sessions // told of the sessions of clients; nil: nobody is
}

// Server serves a dispatcher's tools to any number of connections. It is safe for concurrent use.
type Server struct {
	options Options
	stopped atomic.Bool
}

// New returns a server of a dispatcher's tools.
func New(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Sessions == nil {
		o.Sessions = connection.Unfollowed{}
	}
	o.Limits = o.Limits.WithDefaults()
	return &Server{options: o}
}

// Stop lets no connection begin another operation. Each connection ends once its reader fails.
func (s *Server) Stop() { s.stopped.Store(true) }

var errStopped = errors.New("the server was stopped")

// ServeConn serves a client until r ends and all its operations are answered. Operations run concurrently, so answers may be
// out of order; each has the id of its request. If r fails, as it does when the server stops, a last line says that operations
// without an answer were not begun.
func (s *Server) ServeConn(ctx context.Context, r io.Reader, w io.Writer, client connection.Client) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client.Caller.Session = rand.Text()
	defer s.options.Sessions.End(client.Caller.Session)
	c := &conn{connection.New(r, w, cancel, &s.options.Limits, client.Caller.Key), s, client}
	err := c.Serve(ctx, c)
	if err != nil {
		c.Line(closingLine())
	}
	return err
}

// conn is the connection of one client.
type conn struct {
	*connection.Conn
	server *Server
	client connection.Client
}

// Receive returns what runs an operation.
func (c *conn) Receive(ctx context.Context, line []byte) (serve func(), err error) {
	if c.server.stopped.Load() {
		return nil, errStopped
	}
	leave, err := c.Enter(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	return func() {
		defer leave()
		defer c.Release(line)
		c.operate(ctx, line)
	}, nil
}

// Refuse answers a line that was skipped: the client's fault, or a shortage.
func (c *conn) Refuse(skipped *jsonrpc.Skipped) {
	code := memory.InvalidArgument
	if errors.As(skipped, new(*jsonrpc.BusyError)) {
		code = memory.Exhausted
	}
	c.refuse(skipped.ID, code, skipped.Error())
}

// closingLine is the last line of a connection that the server ends: by then all operations that were begun are answered.
func closingLine() []byte {
	return failure(nil, tool.Failure{Code: memory.Unavailable, Retryable: true,
		Message: "the alcove server is stopping: operations without an answer were not begun, and can be sent again"})
}

// operate runs an operation and writes its answer.
func (c *conn) operate(ctx context.Context, line []byte) {
	id, body, fault := request(line)
	if fault != "" {
		c.refuse(id, memory.InvalidArgument, fault)
		return
	}
	defer c.survive(ctx, id)
	session := tool.NewSession(tool.SessionOptions{Branch: c.client.Branch, Namespace: c.client.Namespace, Stateless: true, Listing: tool.ListAll})
	branch, namespace := session.At()
	c.server.options.Sessions.Called(c.client.Caller, memory.Location{Branch: branch, Namespace: namespace})
	a, err := c.server.options.Dispatcher.Dispatch(ctx, tool.Request{
		Tool: operation.Name, Arguments: body, Caller: c.client.Caller, Session: session, Detail: tool.Full,
	})
	if err != nil {
		c.Line(failure(id, tool.FailureOf(err)))
		return
	}
	answer, err := tool.Encode(a.Structured)
	if err != nil {
		c.server.options.Logger.ErrorContext(ctx, "an answer could not be encoded", "error", err)
		answer = failure(nil, tool.FailureOf(err))
	}
	c.Line(withID(answer, id))
}

// survive answers an operation that panicked.
func (c *conn) survive(ctx context.Context, id []byte) {
	if r := recover(); r != nil {
		c.server.options.Logger.ErrorContext(ctx, "serving an operation failed", "panic", r, "stack", string(debug.Stack()))
		c.Line(failure(id, tool.FailureOf(errors.New("panic"))))
	}
}

func (c *conn) refuse(id []byte, code memory.Code, message string) {
	c.Line(failure(id, tool.Failure{Code: code, Message: message, Retryable: code == memory.Exhausted}))
}

// request reads the id of a request, and returns the operation without it. An operation that is no JSON object is left to the
// dispatcher, which explains.
func request(line []byte) (id, body []byte, fault string) {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		return jsonrpc.FindID(line), nil, "an operation is one JSON object a line: the line is not valid JSON"
	}
	var span jsonrpc.Span
	twice := false
	jsonrpc.Members(line, 0, func(name string, value jsonrpc.Span) {
		if name == "id" {
			twice, span = span != jsonrpc.Span{}, value
		}
	})
	id = span.Of(line)
	switch {
	case line[0] != '{':
		return nil, nil, "an operation is one JSON object a line: the line is another value"
	case twice:
		return nil, nil, "the id is given twice: give it once"
	case id != nil && (!jsonrpc.Plain(id) || len(id) > jsonrpc.MaxID):
		return nil, nil, fmt.Sprintf("the id of a request must be text or a number, of at most %d bytes", jsonrpc.MaxID)
	}
	return bytes.Clone(id), jsonrpc.Without(line, jsonrpc.Span{To: len(line)}, "id"), ""
}

// withID puts an id into an answer, as its first member.
func withID(answer, id []byte) []byte {
	if id == nil {
		return answer
	}
	line := make([]byte, 0, len(answer)+len(id)+len(`"id":,`)+1) // with the end of the line
	line = append(append(line, `{"id":`...), id...)
	return append(append(line, ','), answer[1:]...)
}

// failure is the answer to a request for which there is no answer of an operation.
func failure(id []byte, f tool.Failure) []byte {
	return withID(connection.ErrorBody(f), id)
}
