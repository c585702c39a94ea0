// Package operations serves operations over a connection: one JSON object a line, each answered with one.
package operations

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

const (
	defaultLine  = 16 << 20
	defaultInput = 128 << 20
	maxInFlight  = 256         // operations of one connection that run at once; further ones wait
	maxUnread    = 4 << 20     // bytes of answers unread by one client; beyond, serving it pauses
	lineWithin   = time.Minute // for a long line to arrive
)

// Options configures a Server. Dispatcher is required.
type Options struct {
	Dispatcher *tool.Dispatcher
	Logger     *slog.Logger    // nil: discards
	MaxLine    int64           // bytes of an operation; 0: 16 MiB
	Input      *jsonrpc.Budget // of all operations being read or served; nil: 128 MiB
	Limits     Limits          // of clients with a key, beside those of the dispatcher; nil: only those of all clients
	Sessions   Sessions        // told of the sessions of clients; nil: nobody is
}

// Limits bounds the operations of clients with an API key. An empty key means the owner of the data directory.
type Limits interface {
	BodyLimit(key string) int64 // bytes
}

// Sessions follow the sessions of clients, which are their connections.
type Sessions interface {
	Called(who memory.Caller, at memory.Location) // before each operation
	End(id string)
}

type noSessions struct{}

func (noSessions) Called(memory.Caller, memory.Location) {}
func (noSessions) End(string)                            {}

// Client is who sends operations.
type Client struct {
	Caller            memory.Caller
	Namespace, Branch string // of calls that name none; empty: memory.Default
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
	if o.Input == nil {
		o.Input = jsonrpc.NewBudget(defaultInput, 0)
	}
	if o.Sessions == nil {
		o.Sessions = noSessions{}
	}
	o.MaxLine = cmp.Or(o.MaxLine, defaultLine)
	return &Server{options: o}
}

// Stop lets no connection begin another operation. Each connection ends once its reader fails.
func (s *Server) Stop() { s.stopped.Store(true) }

var errStopped = errors.New("the server was stopped")

// ServeConn serves a client until r ends and all its operations are answered. Operations run concurrently, so answers may be
// out of order; each has the id of its request. If r fails, as it does when the server stops, a last line says that operations
// without an answer were not begun.
func (s *Server) ServeConn(ctx context.Context, r io.Reader, w io.Writer, client Client) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	client.Caller.Session = rand.Text()
	defer s.options.Sessions.End(client.Caller.Session)
	c := s.newConn(r, w, client, cancel)
	return c.serve(ctx)
}

func (s *Server) newConn(r io.Reader, w io.Writer, client Client, fail context.CancelCauseFunc) *conn {
	longest := s.options.MaxLine
	if s.options.Limits != nil {
		longest = min(longest, s.options.Limits.BodyLimit(client.Caller.Key))
	}
	c := &conn{
		server: s, client: client, lines: jsonrpc.NewLines(r, longest),
		out:   &output{w: w, fail: fail, unread: jsonrpc.NewBacklog(maxUnread)},
		slots: make(chan struct{}, maxInFlight), work: make(chan []byte),
	}
	c.lines.Budget, c.lines.Within = s.options.Input, lineWithin
	return c
}

// conn is the connection of one client.
type conn struct {
	server *Server
	client Client
	lines  *jsonrpc.Lines
	out    *output

	slots   chan struct{} // semaphore of running operations
	work    chan []byte   // operations for goroutines that wait for one; closed when there will be no more
	serving sync.WaitGroup
}

func (c *conn) serve(ctx context.Context) error {
	err := c.read(ctx)
	close(c.work)
	c.serving.Wait()
	if errors.Is(err, io.EOF) {
		return context.Cause(ctx)
	}
	c.out.line(goodbye())
	return fmt.Errorf("read from the client: %w", err)
}

// read starts to run each operation, until no more can be read.
func (c *conn) read(ctx context.Context) error {
	for {
		line, err := c.lines.Next(ctx)
		var skipped *jsonrpc.Skipped
		switch {
		case errors.As(err, &skipped):
			c.refuse(skipped.ID, codeOf(skipped), skipped.Error())
		case err != nil:
			return err
		case c.server.stopped.Load():
			c.lines.Release(line)
			return errStopped
		case !c.enter(ctx):
			c.lines.Release(line)
			return context.Cause(ctx)
		default:
			c.run(ctx, line)
		}
	}
}

// codeOf returns the error code for a skipped line: the client's fault, or a shortage.
func codeOf(skipped *jsonrpc.Skipped) memory.Code {
	if errors.As(skipped, new(*jsonrpc.BusyError)) {
		return memory.Exhausted
	}
	return memory.InvalidArgument
}

// goodbye is the last line of a connection that the server ends: by then all operations that were begun are answered.
func goodbye() []byte {
	return failure(nil, tool.Failure{Code: memory.Unavailable, Retryable: true,
		Message: "the alcove server is stopping: operations without an answer were not begun, and can be sent again"})
}

// enter waits until there is room to run an operation. False: the connection ended meanwhile.
func (c *conn) enter(ctx context.Context) bool {
	c.out.unread.Wait(ctx)
	select {
	case c.slots <- struct{}{}:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (c *conn) leave() { <-c.slots }

// run runs an operation in a goroutine that waits for one, or in a new one: the stack of a new one would have to grow first.
func (c *conn) run(ctx context.Context, line []byte) {
	select {
	case c.work <- line:
		return
	default:
	}
	c.serving.Go(func() {
		for ok := true; ok; line, ok = <-c.work {
			c.operate(ctx, line)
			c.lines.Release(line)
			c.leave()
		}
	})
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
		c.out.line(failure(id, tool.FailureOf(err)))
		return
	}
	answer, err := tool.Encode(a.Structured)
	if err != nil {
		c.server.options.Logger.ErrorContext(ctx, "an answer could not be encoded", "error", err)
		answer = failure(nil, tool.FailureOf(err))
	}
	c.out.line(withID(answer, id))
}

// survive answers an operation that panicked.
func (c *conn) survive(ctx context.Context, id []byte) {
	if r := recover(); r != nil {
		c.server.options.Logger.ErrorContext(ctx, "serving an operation failed", "panic", r, "stack", string(debug.Stack()))
		c.out.line(failure(id, tool.FailureOf(errors.New("panic"))))
	}
}

func (c *conn) refuse(id []byte, code memory.Code, message string) {
	c.out.line(failure(id, tool.Failure{Code: code, Message: message, Retryable: code == memory.Exhausted}))
}

// request reads the id of a request, and returns the operation without it. An operation that is no JSON object is left to the
// dispatcher, which explains.
func request(line []byte) (id, body []byte, fault string) {
	line = bytes.TrimSpace(line)
	if !json.Valid(line) {
		return jsonrpc.FindID(line), nil, "an operation is one JSON object a line: the line is not valid JSON"
	}
	var span, cut jsonrpc.Span
	twice, before := false, 1
	jsonrpc.Members(line, 0, func(name string, value jsonrpc.Span) {
		if name == "id" {
			twice = span != jsonrpc.Span{}
			span, cut = value, jsonrpc.Span{From: before, To: value.To}
		}
		before = value.To
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
	return bytes.Clone(id), without(line, cut), ""
}

// without removes a member from an object, with the comma before it, or, of the first member, the one after it.
func without(object []byte, member jsonrpc.Span) []byte {
	if member == (jsonrpc.Span{}) {
		return object
	}
	if member.From == 1 {
		rest := bytes.TrimLeft(object[member.To:], " \t\r\n")
		return append(object[:1], bytes.TrimPrefix(rest, []byte(","))...)
	}
	return append(object[:member.From], object[member.To:]...)
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
	f.Code = memory.Code("E_" + strings.ToUpper(string(f.Code)))
	body, err := tool.Encode(map[string]any{"error": f})
	if err != nil {
		body = []byte(`{"error":{"code":"E_INTERNAL","message":"the error could not be written"}}`)
	}
	return withID(body, id)
}

// output writes lines in the order in which they come. Those that come while others are written are written together.
type output struct {
	w      io.Writer
	fail   context.CancelCauseFunc // ends the connection
	unread *jsonrpc.Backlog

	mu      sync.Mutex
	waiting []byte
	spare   []byte // the buffer that was written last
	writing bool
}

// keptBuffer bounds a buffer that is kept for later lines.
const keptBuffer = 64 << 10

// line writes a line, or leaves it to the caller that is writing.
func (o *output) line(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unread.Add(len(line) + 1)
	o.waiting = append(append(o.waiting, line...), '\n')
	if o.writing {
		return
	}
	o.writing = true
	for len(o.waiting) > 0 {
		o.write()
	}
	o.writing = false
}

// write writes what waits. The caller holds mu, which is free meanwhile.
func (o *output) write() {
	lines := o.waiting
	o.waiting = o.spare[:0]
	o.mu.Unlock()
	_, err := o.w.Write(lines)
	o.unread.Add(-len(lines))
	o.mu.Lock()
	if o.spare = lines; cap(lines) > keptBuffer {
		o.spare = nil
	}
	if err != nil {
		o.fail(fmt.Errorf("write to the client: %w", err))
	}
}
