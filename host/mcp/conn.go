package mcp

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	maxInFlight = 256         // concurrent requests of one connection; further ones wait
	maxListens  = 16          // listen requests of one connection, which last until cancelled
	maxUnread   = 4 << 20     // bytes of answers unread by one client; beyond, serving it pauses
	lineWithin  = time.Minute // for a long line to arrive
)

// ServeConn serves a client that sends one JSON-RPC message per line, until r ends and all requests are answered.
// Requests run concurrently, so answers may be out of order; cancelled requests are not answered. Lines longer than
// Options.MaxMessage, or for which there is no room, are answered with an error and skipped.
//
// It also returns when ctx ends. A read of r may then still be pending; the caller closes r.
func (s *Server) ServeConn(ctx context.Context, r io.Reader, w io.Writer, session Session) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &conn{
		server:   s,
		out:      w,
		answers:  make(chan []byte),
		fail:     cancel,
		slots:    make(chan struct{}, maxInFlight),
		inFlight: map[string]*inFlight{},
		client:   newRemote(rand.Text(), session.begin(manyCalls)),
		unread:   jsonrpc.NewBacklog(maxUnread),
	}
	account := s.input.Account()
	defer account.Close()
	c.lines = jsonrpc.NewLines(r, s.messageLimit(session))
	c.lines.Account, c.lines.Within = account, lineWithin
	if err := s.protocol.RegisterSession(ctx, c.client); err != nil {
		return fmt.Errorf("serve a client: %w", err)
	}
	defer s.protocol.UnregisterSession(context.WithoutCancel(ctx), c.client.id)
	defer s.options.Sessions.End(c.client.id)
	s.watchers.join(&watcher{session: session, state: c.client.state, tell: c.listChanged})
	defer s.watchers.leave(c.client.state)
	return c.serve(WithSession(s.protocol.WithContext(ctx, c.client), session))
}

// listChanged notifies a client that began with initialize. Others subscribe.
func (c *conn) listChanged() {
	if c.client.ProtocolVersion() != "" {
		listChanged(c.client, nil)
	}
}

// conn is the connection of one client.
type conn struct {
	server *Server
	client *remote
	fail   context.CancelCauseFunc // ends the connection

	lines   *jsonrpc.Lines
	out     io.Writer // only write writes to it
	answers chan []byte
	unread  *jsonrpc.Backlog

	slots   chan struct{} // semaphore of running requests
	serving sync.WaitGroup

	mu       sync.Mutex
	inFlight map[string]*inFlight // by the key of its id
	listens  int                  // how many of them are listen requests
}

// inFlight is a request being served.
type inFlight struct {
	cancel context.CancelFunc
	listen bool
}

// incoming is the result of a read: a line or an error.
type incoming struct {
	line []byte
	err  error
}

func (c *conn) serve(ctx context.Context) error {
	received := make(chan incoming)
	go c.read(ctx, received)
	var writing sync.WaitGroup
	writing.Go(c.write)
	defer writing.Wait()
	defer close(c.answers)
	defer c.serving.Wait()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case in := <-received:
			var skipped *jsonrpc.Skipped
			switch {
			case errors.As(in.err, &skipped):
				c.answer(errorMessage(skipped.ID, codeOf(skipped), skipped.Error()))
			case errors.Is(in.err, io.EOF):
				return c.finish(ctx)
			case in.err != nil:
				return fmt.Errorf("read from the client: %w", in.err)
			default:
				c.receive(ctx, in.line)
			}
		}
	}
}

// codeOf returns the error code for a skipped line: the client's fault, or a shortage.
func codeOf(skipped *jsonrpc.Skipped) int {
	if errors.As(skipped, new(*jsonrpc.TooLongError)) {
		return jsonrpc.CodeInvalid
	}
	return jsonrpc.CodeServer
}

// finish waits until all requests are answered.
func (c *conn) finish(ctx context.Context) error {
	c.endListens()
	c.serving.Wait()
	return context.Cause(ctx)
}

func (c *conn) read(ctx context.Context, received chan<- incoming) {
	for {
		line, err := c.lines.Next(ctx)
		select {
		case received <- incoming{line, err}:
		case <-ctx.Done():
			return
		}
		if err != nil && !errors.As(err, new(*jsonrpc.Skipped)) {
			return
		}
	}
}

// receive starts to serve a message. It waits while too many are being served.
func (c *conn) receive(ctx context.Context, line []byte) {
	m, fault := parseMessage(line)
	if fault == nil && m.id != nil && m.method != "" {
		c.request(ctx, m, line)
		return
	}
	defer c.lines.Release(line)
	switch {
	case fault != nil:
		c.answer(errorMessage(fault.ID, fault.Code, fault.Text))
	case m.method == "":
		// the answer to a question that was never asked
	case m.method == methodCancelled:
		c.cancel(m.requestID)
	default:
		c.handle(ctx, m)
	}
}

func (c *conn) request(ctx context.Context, m *message, line []byte) {
	ctx, cancel := context.WithCancel(ctx)
	mine := &inFlight{cancel, m.method == methodListen}
	if refusal := c.begin(m, mine); refusal != "" {
		cancel()
		c.lines.Release(line)
		c.answer(errorMessage(m.id, protocol.INVALID_REQUEST, refusal))
		return
	}
	end, err := c.server.admit(SessionOf(ctx))
	if err != nil {
		cancel()
		c.lines.Release(line)
		c.end(m, mine)
		c.answer(limitMessage(m.id, err))
		return
	}
	if mine.listen {
		end()
	}
	release := c.slot(ctx, m)
	c.serving.Go(func() {
		defer cancel()
		defer release()
		defer end()
		response := c.handle(ctx, m)
		c.lines.Release(line)
		if response == nil { // the library treats the method as a notification
			response = errorMessage(m.id, protocol.INVALID_REQUEST, "nothing answers this method: send it without an id")
		}
		if c.end(m, mine) {
			c.answer(withID(response, m.id))
		}
	})
}

// slot waits until there is room to serve a request, and returns a function that frees it.
func (c *conn) slot(ctx context.Context, m *message) (release func()) {
	if m.method == methodListen {
		return func() {}
	}
	c.unread.Wait(ctx)
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }
	case <-ctx.Done():
		return func() {}
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
	if m.method == methodCall {
		if !c.server.has(m.tool, SessionOf(ctx)) {
			return errorMessage(m.id, protocol.INVALID_PARAMS, c.server.unknown(m.tool, SessionOf(ctx)))
		}
		call := &toolCall{server: c.server, message: m, listChanged: c.listChanged, tell: func(n protocol.JSONRPCNotification) { send(c.client, n) }}
		ctx = call.within(ctx)
	}
	return c.server.protocol.HandleMessage(ctx, m.body)
}

// withID sets an answer's id to the exact bytes of its request's.
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

// answer passes an answer to write.
func (c *conn) answer(response protocol.JSONRPCMessage) {
	line, err := encode(response)
	if err != nil {
		c.server.options.Logger.Error("encoding an answer failed", "error", err)
		return
	}
	c.unread.Add(len(line))
	c.answers <- line
}

// write writes answers and notifications until there are no more answers. A request's notifications are written before
// its answer.
func (c *conn) write() {
	for {
		select {
		case n := <-c.client.notifications:
			c.writeNotification(n)
		case line, ok := <-c.answers:
			c.writeNotifications()
			if !ok {
				return
			}
			c.writeLine(line)
			c.unread.Add(-len(line))
		}
	}
}

func (c *conn) writeNotifications() {
	for {
		select {
		case n := <-c.client.notifications:
			c.writeNotification(n)
		default:
			return
		}
	}
}

func (c *conn) writeNotification(n protocol.JSONRPCNotification) {
	line, err := tool.Encode(n)
	if err != nil {
		c.server.options.Logger.Error("encoding a notification failed", "error", err)
		return
	}
	c.writeLine(line)
}

func (c *conn) writeLine(line []byte) {
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		c.fail(fmt.Errorf("write to the client: %w", err))
	}
}

// endListens cancels listen requests, which would otherwise never end.
func (c *conn) endListens() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, request := range c.inFlight {
		if request.listen {
			request.cancel()
		}
	}
}
