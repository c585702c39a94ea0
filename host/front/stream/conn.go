package stream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/operation"
)

const (
	longestReason = 120 // bytes of the reason in a close frame
	mostCommands  = 16  // commands that wait while events are written
)

// conn is an open stream. One goroutine reads messages; the one that serves the request writes events and handles commands.
type conn struct {
	server   *Server
	limits   Limits
	ws       *websocket.Conn
	under    net.Conn // of ws
	request  *http.Request
	session  *tool.Session
	id       string
	commands chan func(context.Context) error // changes of subscriptions
	slots    chan struct{}                    // taken by running operations
	reading  chan struct{}                    // taken while a page of events is read; all streams of the key share it
	key      string                           // id of the client's API key; empty: the owner
	running  connection.Work                  // operations
	heard    atomic.Int64                     // when the last message came, in Unix nanoseconds

	end  context.CancelCauseFunc // of the stream
	subs []*subscription         // of the serving goroutine
	room *subscription           // the room that it hears while it has subscribed to nothing; nil: none
}

func newConn(s *Server, ws *websocket.Conn, under net.Conn, r *http.Request, client connection.Client, reading chan struct{}) *conn {
	return &conn{
		server: s, limits: s.limits, ws: ws, under: under, request: r, id: rand.Text(),
		session:  tool.NewSession(tool.SessionOptions{Namespace: client.Namespace, Listing: tool.ListAll}),
		commands: make(chan func(context.Context) error, mostCommands), slots: make(chan struct{}, s.limits.Running),
		reading: reading, key: client.Caller.Key,
	}
}

// called tells that the client does something: its stream is a session from then on.
func (c *conn) called(who memory.Caller) {
	branch, namespace := c.session.At()
	c.server.options.Sessions.Called(who, memory.Location{Branch: branch, Namespace: namespace})
}

// caller returns who the client is now.
func (c *conn) caller() memory.Caller {
	who := c.server.options.Client(c.request).Caller
	who.Session = c.id
	return who
}

// serve serves the stream until its end, then tells the client why.
func (c *conn) serve(ctx context.Context) {
	ctx, c.end = context.WithCancelCause(ctx)
	context.AfterFunc(ctx, func() { time.AfterFunc(c.limits.CloseWithin, func() { c.under.Close() }) }) // whatever the client does
	c.heard.Store(time.Now().UnixNano())
	c.ws.SetReadLimit(-1) // read has its own
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		c.end(c.read(ctx))
	}()
	if c.push(ctx) {
		c.drain(ctx)
	}
	c.end(nil)
	c.running.Stop()
	c.running.Wait()
	c.server.options.Sessions.End(c.id)
	c.close(context.Cause(ctx))
	<-reading
}

// drain lets operations end when the server stops.
func (c *conn) drain(ctx context.Context) {
	c.running.Stop()
	done := make(chan struct{})
	go func() { c.running.Wait(); close(done) }()
	patience := time.NewTimer(c.limits.Drain)
	defer patience.Stop()
	select {
	case <-done:
		c.end(&closeReason{websocket.StatusGoingAway, "the alcove server is stopping: connect again, and subscribe with your last watermark"})
	case <-patience.C:
		c.end(c.server.options.Stopped)
	case <-ctx.Done():
	}
	<-done
}

// close tells the client why the stream ends, unless it ended it.
func (c *conn) close(cause error) {
	if websocket.CloseStatus(cause) != -1 || errors.Is(cause, io.EOF) {
		c.ws.CloseNow()
		return
	}
	why := closingOf(cause)
	if c.server.stopping.Err() != nil {
		why.code = websocket.StatusGoingAway
	}
	c.send(message{Type: "error", Error: closingFailure(cause)})
	c.ws.Close(why.code, strings.ToValidUTF8(why.reason[:min(len(why.reason), longestReason)], ""))
}

func closingFailure(cause error) *tool.Failure {
	var told *closeReason
	if !errors.As(cause, &told) {
		return failureOf(cause)
	}
	code := memory.InvalidArgument
	switch told.code {
	case websocket.StatusGoingAway:
		code = memory.Unavailable
	case websocket.StatusMessageTooBig, websocket.StatusPolicyViolation:
		code = memory.Exhausted
	}
	return failureOf(&memory.Error{Code: code, Message: told.reason, Retryable: code == memory.Unavailable})
}

// read reads messages until the connection or the stream ends, and returns why.
func (c *conn) read(ctx context.Context) error {
	for {
		kind, r, err := c.ws.Reader(context.Background())
		if err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
		if kind != websocket.MessageText {
			return &closeReason{websocket.StatusUnsupportedData, "messages are JSON in text frames: a binary one came"}
		}
		data, err := c.whole(ctx, r)
		if err != nil {
			return err
		}
		c.heard.Store(time.Now().UnixNano())
		if ctx.Err() != nil {
			c.release(data)
			return context.Cause(ctx)
		}
		if !c.handle(ctx, data) {
			c.release(data)
		}
	}
}

// release gives a message back to the budget.
func (c *conn) release(message []byte) { c.limits.Input.Release(message) }

// whole reads a message within its limits of size and time. The caller releases it.
func (c *conn) whole(ctx context.Context, r io.Reader) ([]byte, error) {
	slow := time.AfterFunc(c.limits.MessageWithin, func() {
		c.end(&closeReason{websocket.StatusPolicyViolation, fmt.Sprintf("a message did not arrive within %s, which is the limit", c.limits.MessageWithin)})
	})
	defer slow.Stop()
	longest := c.limits.Longest(c.key)
	data, err := c.limits.Input.ReadAll(ctx, r, -1, longest)
	if errors.As(err, new(*jsonrpc.TooLongError)) {
		err = &closeReason{websocket.StatusMessageTooBig, fmt.Sprintf("a message is longer than %d bytes, which is the limit: send less at once", longest)}
	}
	return data, err
}

// handle handles a message. It reports whether an operation was begun, which releases the message at its end.
func (c *conn) handle(ctx context.Context, data []byte) bool {
	m, err := parse(data)
	if err == nil {
		switch m.kind {
		case typeSubscribe:
			if err = c.limits.Keys.Charge(c.key); err == nil {
				err = c.command(ctx, m, c.subscribe)
			}
		case typeUnsubscribe:
			err = c.command(ctx, m, c.unsubscribe)
		case typeAck: // the client keeps its watermark itself
		case typeOperation, typeSay:
			var body json.RawMessage
			if body, err = m.body(); err == nil {
				if err = c.operate(ctx, m.id, body, data); err == nil {
					return true
				}
			}
		default:
			err = tool.Invalid(nil, "there is no message of type %q: there are subscribe, unsubscribe, ack, say, and operations, which have a method and no type", tool.Clip(m.kind, 60))
		}
	}
	if err != nil {
		c.fail(m.id, err)
	}
	return false
}

// command lets the serving goroutine handle a message, so that its answer and events come in order.
func (c *conn) command(ctx context.Context, m clientMessage, do func(context.Context, clientMessage) error) error {
	select {
	case c.commands <- func(ctx context.Context) error {
		if err := do(ctx, m); err != nil {
			return c.fail(m.id, err)
		}
		return nil
	}:
	case <-ctx.Done():
	}
	return nil
}

// operate begins an operation, which a message asks for.
func (c *conn) operate(ctx context.Context, id, body json.RawMessage, message []byte) error {
	if c.server.stopping.Err() != nil || !c.running.Begin() {
		return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "the alcove server is stopping: this operation was not run, and can be sent again"}
	}
	select {
	case c.slots <- struct{}{}:
	default:
		c.running.Done()
		return exhausted("%d operations of this stream are running, which is the limit: wait for answers", c.limits.Running)
	}
	go func() {
		defer c.running.Done()
		defer func() { <-c.slots }()
		defer c.release(message)
		who := c.caller()
		c.called(who)
		a, err := c.server.options.Dispatcher.Dispatch(ctx, tool.Request{Tool: operation.Name, Arguments: body, Caller: who, Session: c.session, Detail: tool.Full})
		if err != nil {
			c.fail(id, err)
			return
		}
		text, err := answer(id, a.Structured)
		if err != nil {
			c.server.options.Logger.ErrorContext(ctx, "an answer could not be encoded", "error", err)
			c.fail(id, err)
			return
		}
		c.write(text)
	}()
	return nil
}

// fail tells the client that a message had no effect.
func (c *conn) fail(id json.RawMessage, err error) error {
	return c.send(message{Type: "error", ID: id, Error: failureOf(err)})
}

func (c *conn) send(m message) error {
	text, err := tool.Encode(m)
	if err != nil {
		c.end(err)
		return err
	}
	return c.write(text)
}

// write writes a message. A client that does not accept it in time loses the stream.
func (c *conn) write(text []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.limits.WriteWithin)
	defer cancel()
	err := c.ws.Write(ctx, websocket.MessageText, text)
	if err != nil {
		c.end(fmt.Errorf("write to a stream: %w", err))
	}
	return err
}
