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

	protocol "github.com/mark3labs/mcp-go/mcp"
)

const (
	maxInFlight = 256 // requests of one connection that are served at once; further ones wait
	maxListens  = 16  // requests of one connection that last until they are cancelled
)

// ServeConn serves a client that sends one JSON-RPC message a line, until it sends no more and all it asked for is
// answered. Requests are served at once, so answers may come in another order; a cancelled one is not answered.
// Lines longer than Options.MaxMessage are answered with an error and skipped.
//
// It returns when ctx ends, too. Then it may still be waiting for r, which its caller closes.
func (s *Server) ServeConn(ctx context.Context, r io.Reader, w io.Writer, session Session) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &conn{
		server:   s,
		out:      w,
		answers:  make(chan protocol.JSONRPCMessage),
		fail:     cancel,
		slots:    make(chan struct{}, maxInFlight),
		inFlight: map[string]*inFlight{},
		client:   newRemote(rand.Text()),
	}
	if err := s.protocol.RegisterSession(ctx, c.client); err != nil {
		return fmt.Errorf("serve a client: %w", err)
	}
	defer s.protocol.UnregisterSession(context.WithoutCancel(ctx), c.client.id)
	ctx = WithSession(s.protocol.WithContext(ctx, c.client), session)
	at := newSeat(session)
	s.audience.join(&watcher{session: session, seat: at, tell: c.listChanged})
	defer s.audience.leave(at)
	return c.serve(context.WithValue(ctx, seatKey{}, at), r)
}

// listChanged tells a client that began with initialize. Others ask to be told.
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

	out     io.Writer // written to by write alone
	answers chan protocol.JSONRPCMessage

	slots   chan struct{} // taken by requests that are served
	serving sync.WaitGroup

	mu       sync.Mutex
	inFlight map[string]*inFlight // by id
	listens  int                  // how many of them last until they are cancelled
}

// inFlight is a request that is being served.
type inFlight struct {
	cancel context.CancelFunc
	listen bool
}

// incoming is what was read: a line, or why there is none.
type incoming struct {
	line []byte
	id   json.RawMessage // of a line that was too long
	err  error
}

func (c *conn) serve(ctx context.Context, r io.Reader) error {
	received := make(chan incoming)
	go read(ctx, newLines(r, c.server.options.MaxMessage), received)
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
			switch {
			case errors.Is(in.err, errLong):
				c.answer(errorMessage(in.id, protocol.INVALID_REQUEST, tooLong(c.server.options.MaxMessage)))
			case errors.Is(in.err, io.EOF):
				return c.finish(ctx)
			case in.err != nil:
				return fmt.Errorf("read from the client: %w", in.err)
			case len(in.line) > 0:
				c.receive(ctx, in.line)
			}
		}
	}
}

// finish waits until all that was asked is answered.
func (c *conn) finish(ctx context.Context) error {
	c.endListens()
	c.serving.Wait()
	return context.Cause(ctx)
}

func read(ctx context.Context, l *lines, received chan<- incoming) {
	for {
		line, id, err := l.next()
		select {
		case received <- incoming{line, id, err}:
		case <-ctx.Done():
			return
		}
		if err != nil && !errors.Is(err, errLong) {
			return
		}
	}
}

func tooLong(limit int64) string {
	return fmt.Sprintf("the message is longer than %d bytes, which is the limit, and was skipped: send less at once", limit)
}

// receive begins to serve a message. It waits while too many are being served.
func (c *conn) receive(ctx context.Context, line []byte) {
	m, bad := parseMessage(line)
	switch {
	case bad != nil:
		c.answer(errorMessage(bad.id, bad.code, bad.Error()))
	case m.method == "":
		// the answer to a question that was never asked
	case m.method == methodCancelled:
		c.cancel(m.requestID)
	case m.id == nil:
		c.handle(ctx, m)
	default:
		c.request(ctx, m)
	}
}

func (c *conn) request(ctx context.Context, m *message) {
	ctx, cancel := context.WithCancel(ctx)
	if refusal := c.begin(m, cancel); refusal != "" {
		cancel()
		c.answer(errorMessage(m.id, protocol.INVALID_REQUEST, refusal))
		return
	}
	release := c.slot(ctx, m)
	c.serving.Go(func() {
		defer cancel()
		defer release()
		response := c.handle(ctx, m)
		if c.end(m) && response != nil {
			c.answer(withID(response, m.id))
		}
	})
}

// slot waits until there is room to serve a request, and gives what makes room again.
func (c *conn) slot(ctx context.Context, m *message) (release func()) {
	if m.method == methodListen {
		return func() {}
	}
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots }
	case <-ctx.Done():
		return func() {}
	}
}

// begin notes a request, or says why it cannot be served.
func (c *conn) begin(m *message, cancel context.CancelFunc) (refusal string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.inFlight[string(m.id)] != nil {
		return fmt.Sprintf("a request with the id %s is being served already: use each id once", clip(string(m.id), gotLength))
	}
	if m.method == methodListen {
		if c.listens == maxListens {
			return fmt.Sprintf("%d subscriptions are open, which is the limit: cancel one first", maxListens)
		}
		c.listens++
	}
	c.inFlight[string(m.id)] = &inFlight{cancel, m.method == methodListen}
	return ""
}

// end forgets a request, and reports whether its client still waits for the answer.
func (c *conn) end(m *message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.method == methodListen {
		c.listens--
	}
	_, waited := c.inFlight[string(m.id)]
	delete(c.inFlight, string(m.id))
	return waited
}

// cancel ends a request that nobody waits for any more.
func (c *conn) cancel(id json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if request := c.inFlight[string(id)]; request != nil {
		request.cancel()
		delete(c.inFlight, string(id))
	}
}

// handle serves a message.
func (c *conn) handle(ctx context.Context, m *message) (response protocol.JSONRPCMessage) {
	defer func() {
		if r := recover(); r != nil {
			c.server.options.Logger.Error("serving a message failed", "method", clip(m.method, gotLength), "panic", r, "stack", string(debug.Stack()))
			response = errorMessage(m.id, protocol.INTERNAL_ERROR, "the server failed to serve this; its log says why")
		}
	}()
	if m.method == methodCall {
		target, ok := c.server.resolve(m.tool)
		if !ok {
			return errorMessage(m.id, protocol.INVALID_PARAMS, c.server.unknown(m.tool, c.server.readOnly(sessionOf(ctx))))
		}
		ctx = m.into(ctx, target)
	}
	return c.server.protocol.HandleMessage(ctx, m.body)
}

// withID gives an answer the id that its request came with, to the letter.
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

// answer hands an answer to write.
func (c *conn) answer(response protocol.JSONRPCMessage) { c.answers <- response }

// write writes answers and notifications until there are no more answers. A notification that a request caused is
// written before the answer to it.
func (c *conn) write() {
	for {
		select {
		case n := <-c.client.notifications:
			c.writeLine(n)
		case response, ok := <-c.answers:
			c.writeNotifications()
			if !ok {
				return
			}
			c.writeLine(response)
		}
	}
}

func (c *conn) writeNotifications() {
	for {
		select {
		case n := <-c.client.notifications:
			c.writeLine(n)
		default:
			return
		}
	}
}

func (c *conn) writeLine(message any) {
	line, err := encode(message)
	if err != nil {
		c.server.options.Logger.Error("encoding an answer failed", "error", err)
		return
	}
	if _, err := c.out.Write(append(line, '\n')); err != nil {
		c.fail(fmt.Errorf("write to the client: %w", err))
	}
}

// endListens cancels what would otherwise last for ever.
func (c *conn) endListens() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, request := range c.inFlight {
		if request.listen {
			request.cancel()
		}
	}
}
