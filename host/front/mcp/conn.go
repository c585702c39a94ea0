package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

const maxListens = 16 // listen requests of one connection, which last until cancelled

// ServeConn serves a client that sends one JSON-RPC message per line, until r ends and all requests are answered.
// Requests run concurrently, so answers may be out of order; cancelled requests are not answered. Lines that are too long, or for which
// there is no room, are answered with an error and skipped.
//
// It also returns when ctx ends. A read of r may then still be pending; the caller closes r.
func (s *Server) ServeConn(ctx context.Context, r io.Reader, w io.Writer, session Session) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := s.newConn(r, w, session, cancel)
	if err := s.protocol.RegisterSession(ctx, c.client); err != nil {
		return fmt.Errorf("serve a client: %w", err)
	}
	defer s.protocol.UnregisterSession(context.WithoutCancel(ctx), c.client.SessionID())
	defer s.options.Sessions.End(c.client.SessionID())
	s.watchers.join(&watcher{session: session, state: c.client.state, tell: c.listChanged})
	defer s.watchers.remove(c.client.state)
	defer s.subscribers.removeClient(c.client.SessionID())
	return c.Serve(WithSession(s.protocol.WithContext(ctx, c.client), session), c)
}

func (s *Server) newConn(r io.Reader, w io.Writer, session Session, fail context.CancelCauseFunc) *conn {
	c := &conn{
		Conn: connection.New(r, w, fail, &s.options.Limits, session.Key), server: s, inFlight: map[string]*inFlight{},
		client: newRemote(session.begin(manyCalls)),
	}
	c.client.tell, c.client.send = c.notify, c.write
	return c
}

// conn is the connection of one client. The protocol library's own transport of lines bounds neither them nor answers, and answers no line
// that it does not understand.
type conn struct {
	*connection.Conn
	server *Server
	client *remote

	mu       sync.Mutex
	inFlight map[string]*inFlight // by the key of its id
	listens  int                  // how many of them are listen requests
}

// inFlight is a request being served.
type inFlight struct {
	cancel context.CancelFunc
	listen bool
}

// Refuse answers a line that was skipped: the client's fault, or a shortage.
func (c *conn) Refuse(skipped *jsonrpc.Skipped) {
	code := jsonrpc.CodeServer
	if errors.As(skipped, new(*jsonrpc.TooLongError)) {
		code = jsonrpc.CodeInvalid
	}
	c.answer(errorMessage(skipped.ID, code, skipped.Error()))
}

// Receive serves a message, unless it is a request: it returns what serves that. It waits while too many are being served.
func (c *conn) Receive(ctx context.Context, line []byte) (serve func(), err error) {
	m, fault := parseMessage(line)
	switch {
	case fault != nil:
		c.answer(errorMessage(fault.ID, fault.Code, fault.Text))
	case m.method == "":
		c.answeredBy(line)
	case m.id != nil:
		return c.request(ctx, m, line), nil
	case m.method == methodCancelled:
		c.cancel(m.requestID)
	default:
		c.handle(ctx, m)
	}
	return nil, nil
}

// answeredBy passes the client's answer to what was asked of it. The line is the reader's.
func (c *conn) answeredBy(line []byte) {
	if m, fault := parseMessage(bytes.Clone(line)); fault == nil {
		c.client.answered(m)
	}
}

// write writes a request to the client.
func (c *conn) write(request any) {
	line, err := tool.Encode(request)
	if err != nil {
		c.server.options.Logger.Error("encoding a request failed", "error", err)
		return
	}
	c.Line(line)
}

// request begins a request, and returns what serves it; nil: it was refused.
func (c *conn) request(ctx context.Context, m *message, line []byte) (serve func()) {
	ctx, cancel := context.WithCancel(ctx)
	mine := &inFlight{cancel, m.method == methodListen}
	if refusal := c.begin(m, mine); refusal != "" {
		cancel()
		c.answer(errorMessage(m.id, protocol.INVALID_REQUEST, refusal))
		return nil
	}
	end, err := c.server.options.Limits.Keys.Begin(SessionOf(ctx).Key)
	if err != nil {
		cancel()
		c.end(m, mine)
		c.answer(limitMessage(m.id, err))
		return nil
	}
	if m.bridge {
		c.client.bridge.Store(true)
	}
	leave := func() {}
	if mine.listen { // it counts when it begins, not while it lasts
		end()
	} else {
		leave, _ = c.Enter(ctx) // an error has ended the request's context
	}
	return func() {
		defer cancel()
		defer leave()
		response := c.handle(ctx, m)
		c.Release(line)
		end()                // others with its key need not wait until the client reads the answer
		if response == nil { // the library treats the method as a notification
			response = errorMessage(m.id, protocol.INVALID_REQUEST, "nothing answers this method: send it without an id")
		}
		if c.end(m, mine) {
			c.answer(withID(response, m.id))
		}
	}
}

// begin registers a request, or returns why it cannot be served.
func (c *conn) begin(m *message, mine *inFlight) (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[jsonrpc.Key(m.id)] != nil {
		return fmt.Sprintf("a request with the id %s is being served already: use each id once", tool.Clip(string(m.id), gotLength))
	}
	if mine.listen {
		if c.listens == maxListens {
			return fmt.Sprintf("%d subscriptions are open, which is the limit: cancel one first", maxListens)
		}
		c.listens++
	}
	c.inFlight[jsonrpc.Key(m.id)] = mine
	return ""
}

// end unregisters a request, and reports whether its client still waits for the answer. If it was cancelled, its id may
// be in use again.
func (c *conn) end(m *message, mine *inFlight) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if mine.listen {
		c.listens--
	}
	if c.inFlight[jsonrpc.Key(m.id)] != mine {
		return false
	}
	delete(c.inFlight, jsonrpc.Key(m.id))
	return true
}

// cancel ends a request that its client cancelled.
func (c *conn) cancel(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if request := c.inFlight[jsonrpc.Key(id)]; request != nil {
		request.cancel()
		delete(c.inFlight, jsonrpc.Key(id))
	}
}

// handle serves a message.
func (c *conn) handle(ctx context.Context, m *message) (response protocol.JSONRPCMessage) {
	defer func() {
		if r := recover(); r != nil {
			c.server.options.Logger.Error("serving a message failed", "method", tool.Clip(m.method, gotLength), "panic", r, "stack", string(debug.Stack()))
			response = errorMessage(m.id, protocol.INTERNAL_ERROR, "the server failed to serve this; its log says why")
		}
	}()
	switch {
	case m.method == methodListen && m.id != nil:
		return c.listen(ctx, m)
	case isTaskMethod(m.method) && m.id != nil && m.modern():
		return c.server.serveTask(ctx, m)
	case m.method != methodCall:
		if call := c.server.readCall(m); call != nil {
			return call.answer(c.server.protocol.HandleMessage(call.within(ctx), m.forLibrary()))
		}
		return c.server.protocol.HandleMessage(ctx, m.forLibrary())
	case !c.server.has(m, SessionOf(ctx)):
		return errorMessage(m.id, protocol.INVALID_PARAMS, c.server.unknown(m.tool, SessionOf(ctx)))
	}
	call := &toolCall{server: c.server, message: m, tell: c.notify, listChanged: c.listChanged}
	if m.plain && (m.found == nil || !m.found.Asks) { // the library decodes a message five times, which takes as long as many a call
		return call.orFailure(protocol.NewJSONRPCResultResponse(protocol.NewRequestId(m.id), call.result(ctx)))
	}
	return call.orFailure(c.server.protocol.HandleMessage(call.within(ctx), m.forLibrary()))
}

// listen serves a listen request, until it is cancelled or the client ends. What the library tells it comes before the answer.
func (c *conn) listen(ctx context.Context, m *message) protocol.JSONRPCMessage {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.Open(), cancel)()
	l := c.server.newListener(m.id, c.notify)
	defer l.end()
	return c.server.protocol.HandleMessage(l.within(ctx), m.forLibrary())
}

// withID sets an answer's id to the exact bytes of its request's: the library reads numbers as float64.
func withID(response protocol.JSONRPCMessage, id json.RawMessage) protocol.JSONRPCMessage {
	switch r := response.(type) {
	case protocol.JSONRPCResponse:
		r.ID = protocol.NewRequestId(id)
		return r
	case protocol.JSONRPCError:
		r.ID = protocol.NewRequestId(id)
		return r
	}
	return response
}

// answer writes an answer.
func (c *conn) answer(response protocol.JSONRPCMessage) {
	line, err := encode(response)
	if err != nil {
		c.server.options.Logger.Error("encoding an answer failed", "error", err)
		return
	}
	c.Line(line)
}

// notify writes a notification before all later answers.
func (c *conn) notify(n protocol.JSONRPCNotification) {
	line, err := tool.Encode(n)
	if err != nil {
		c.server.options.Logger.Error("encoding a notification failed", "error", err)
		return
	}
	c.Notify(line)
}

// listChanged notifies a client that began with initialize. Others subscribe.
func (c *conn) listChanged() {
	if c.client.ProtocolVersion() != "" {
		c.notify(notification(protocol.MethodNotificationToolsListChanged, nil))
	}
}
