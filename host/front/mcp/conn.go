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
	"sync/atomic"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
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
		fail:     cancel,
		turn:     make(chan struct{}),
		idle:     make(chan struct{}, 2),
		ended:    make(chan error, 1),
		writing:  make(chan struct{}, 1),
		pause:    make(chan struct{}),
		resume:   make(chan struct{}, 1),
		slots:    make(chan struct{}, maxInFlight),
		inFlight: map[string]*inFlight{},
		client:   newRemote(rand.Text(), session.begin(manyCalls)),
		unread:   jsonrpc.NewBacklog(maxUnread),
	}
	c.lines = jsonrpc.NewLines(r, s.messageLimit(session))
	c.lines.Budget, c.lines.Within = s.input, lineWithin
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

// conn is the connection of one client. A request is served and answered by the goroutine that read it: handing it to others would take
// longer than many a call. Another goroutine reads on meanwhile.
type conn struct {
	server *Server
	client *remote
	fail   context.CancelCauseFunc // ends the connection

	lines *jsonrpc.Lines // read by the goroutine that has the turn
	turn  chan struct{}  // passes the turn to a goroutine that waits for it; closed when reading has ended
	idle  chan struct{}  // semaphore of goroutines that wait for the turn
	ended chan error     // why reading has ended

	out     io.Writer
	writing chan struct{} // semaphore of writers to out
	unread  *jsonrpc.Backlog
	pause   chan struct{} // received from to pause the writing of notifications, when the last one has been written
	resume  chan struct{} // ends the pause

	slots   chan struct{}  // semaphore of running requests
	serving sync.WaitGroup // messages that were read and are being served

	mu       sync.Mutex
	stopped  bool
	inFlight map[string]*inFlight // by the key of its id
	listens  int                  // how many of them are listen requests
}

// inFlight is a request being served.
type inFlight struct {
	cancel context.CancelFunc
	listen bool
}

func (c *conn) serve(ctx context.Context) error {
	answered := make(chan struct{})
	var notifying sync.WaitGroup
	notifying.Go(func() { c.notify(answered) })
	defer notifying.Wait()
	defer close(answered)
	defer c.serving.Wait()
	go c.work(ctx)
	select {
	case err := <-c.ended:
		if err != nil {
			return fmt.Errorf("read from the client: %w", err)
		}
		c.endListens()
		c.serving.Wait()
	case <-ctx.Done():
		c.stop()
	}
	return context.Cause(ctx)
}

// stop lets no more messages enter.
func (c *conn) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
}

// enter counts a message in serving, unless the connection has ended.
func (c *conn) enter() (entered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.stopped {
		c.serving.Add(1)
	}
	return !c.stopped
}

// work reads, and serves the requests that it reads. Before it serves one, it passes on the turn to read.
func (c *conn) work(ctx context.Context) {
	for mine := true; mine; mine = c.waitForTurn(ctx) {
		request, err := c.next(ctx)
		if request == nil {
			close(c.turn)
			c.ended <- err
			return
		}
		select {
		case c.turn <- struct{}{}:
		default:
			go c.work(ctx)
		}
		request()
		c.serving.Done()
	}
}

// waitForTurn reports whether the goroutine is to read. It does not wait if enough others do.
func (c *conn) waitForTurn(ctx context.Context) (mine bool) {
	select {
	case c.idle <- struct{}{}:
	default:
		return false
	}
	defer func() { <-c.idle }()
	select {
	case _, mine = <-c.turn:
		return mine
	case <-ctx.Done():
		return false
	}
}

// next reads up to a request and returns what serves it, which is entered; nil: reading has ended, without an error if the client ended it.
func (c *conn) next(ctx context.Context) (request func(), err error) {
	for {
		line, err := c.lines.Next(ctx)
		var skipped *jsonrpc.Skipped
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil && !errors.As(err, &skipped) {
			return nil, err
		}
		if !c.enter() {
			c.lines.Release(line)
			return nil, nil
		}
		if skipped != nil {
			c.refuse(errorMessage(skipped.ID, codeOf(skipped), skipped.Error()))
		} else if request = c.receive(ctx, line); request != nil {
			return request, nil
		}
		c.serving.Done()
	}
}

// codeOf returns the error code for a skipped line: the client's fault, or a shortage.
func codeOf(skipped *jsonrpc.Skipped) int {
	if errors.As(skipped, new(*jsonrpc.TooLongError)) {
		return jsonrpc.CodeInvalid
	}
	return jsonrpc.CodeServer
}

// receive serves a message, unless it is a request: it returns what serves that. It waits while too many are being served.
func (c *conn) receive(ctx context.Context, line []byte) (request func()) {
	m, fault := parseMessage(line)
	if fault == nil && m.id != nil && m.method != "" {
		return c.request(ctx, m, line)
	}
	defer c.lines.Release(line)
	switch {
	case fault != nil:
		c.refuse(errorMessage(fault.ID, fault.Code, fault.Text))
	case m.method == "":
		// the answer to a question that was never asked
	case m.method == methodCancelled:
		c.cancel(m.requestID)
	default:
		c.handle(ctx, m)
	}
	return nil
}

// request begins a request, and returns what serves it; nil: it was refused.
func (c *conn) request(ctx context.Context, m *message, line []byte) (serve func()) {
	ctx, cancel := context.WithCancel(ctx)
	mine := &inFlight{cancel, m.method == methodListen}
	if refusal := c.begin(m, mine); refusal != "" {
		cancel()
		c.lines.Release(line)
		c.refuse(errorMessage(m.id, protocol.INVALID_REQUEST, refusal))
		return nil
	}
	end, err := c.server.admit(SessionOf(ctx))
	if err != nil {
		cancel()
		c.lines.Release(line)
		c.end(m, mine)
		c.refuse(limitMessage(m.id, err))
		return nil
	}
	if mine.listen {
		end()
	}
	if m.bridge {
		c.client.bridge.Store(true)
	}
	release := c.slot(ctx, m)
	return func() {
		defer cancel()
		defer release()
		response, told := c.handle(ctx, m)
		c.lines.Release(line)
		end()                // others with its key need not wait until the client reads the answer
		if response == nil { // the library treats the method as a notification
			response = errorMessage(m.id, protocol.INVALID_REQUEST, "nothing answers this method: send it without an id")
		}
		if c.end(m, mine) {
			c.answer(withID(response, m.id), told)
		}
	}
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

// handle serves a message. told reports whether notifications may have been sent that its client is to have before the response.
func (c *conn) handle(ctx context.Context, m *message) (response protocol.JSONRPCMessage, told bool) {
	defer func() {
		if r := recover(); r != nil {
			c.server.options.Logger.Error("serving a message failed", "method", tool.Clip(m.method, gotLength), "panic", r, "stack", string(debug.Stack()))
			response = errorMessage(m.id, protocol.INTERNAL_ERROR, "the server failed to serve this; its log says why")
		}
	}()
	if m.method == methodCall {
		if !c.server.has(m.tool, SessionOf(ctx)) {
			return errorMessage(m.id, protocol.INVALID_PARAMS, c.server.unknown(m.tool, SessionOf(ctx))), false
		}
		return c.call(ctx, m)
	}
	return c.server.protocol.HandleMessage(ctx, m.body), true
}

// call is handle for the call of a tool.
func (c *conn) call(ctx context.Context, m *message) (response protocol.JSONRPCMessage, told bool) {
	var tells atomic.Bool
	call := &toolCall{
		server: c.server, message: m,
		tell:        func(n protocol.JSONRPCNotification) { tells.Store(true); send(c.client, n) },
		listChanged: func() { tells.Store(true); c.listChanged() },
	}
	if m.plain { // the library decodes a message five times, which takes as long as many a call
		response = protocol.NewJSONRPCResultResponse(protocol.NewRequestId(m.id), call.result(ctx))
	} else {
		response = c.server.protocol.HandleMessage(call.within(ctx), m.body)
	}
	return response, tells.Load()
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

// refuse answers what is not served.
func (c *conn) refuse(why protocol.JSONRPCError) { c.answer(why, false) }

// answer writes an answer. told has the notifications written before that were sent earlier. Others need not wait for the goroutine that
// writes them.
func (c *conn) answer(response protocol.JSONRPCMessage, told bool) {
	line, err := encode(response)
	if err != nil {
		c.server.options.Logger.Error("encoding an answer failed", "error", err)
		return
	}
	c.unread.Add(len(line))
	defer c.unread.Add(-len(line))
	if told {
		<-c.pause
		defer func() { c.resume <- struct{}{} }()
		c.writeNotifications()
	}
	c.writeLine(line)
}

// notify writes notifications until all requests are answered.
func (c *conn) notify(answered <-chan struct{}) {
	for {
		select {
		case n := <-c.client.notifications:
			c.writeNotification(n)
		case c.pause <- struct{}{}:
			<-c.resume
		case <-answered:
			c.writeNotifications()
			return
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
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
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
