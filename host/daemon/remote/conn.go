package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
)

const (
	mostRequests  = 64 // of a connection at once; further ones wait
	queueLength   = 64 // messages that wait to be sent
	tellWithin    = 30 * time.Second
	endWithin     = 2 * time.Second // to end a session
	listenPause   = time.Second     // between two streams of notices
	longestAnswer = 256 << 20       // bytes, to detect a fault
	longestReason = 8 << 10         // bytes of an answer that is no message
	messageLimit  = 16 << 20        // bytes of a message of the client

	sessionHeader  = "Mcp-Session-Id"
	versionHeader  = "Mcp-Protocol-Version"
	methodHeader   = "Mcp-Method"
	nameHeader     = "Mcp-Name"
	eventStream    = "text/event-stream"
	versionMember  = "io.modelcontextprotocol/protocolVersion" // in _meta of clients without sessions
	initialize     = "initialize"
	notifyCanceled = "notifications/cancelled"
	notifyReady    = "notifications/initialized"
)

// Conn is one session with the server. Its methods may be called concurrently, each by one goroutine.
type Conn struct {
	server  *Server
	address *url.URL
	ctx     context.Context // of all requests
	cancel  context.CancelFunc
	queue   chan jsonrpc.Message
	slots   chan struct{}

	answers *io.PipeReader
	deliver sync.Mutex // held to write a line
	lines   *io.PipeWriter
	partial []byte // a message whose end is yet to be written

	mu      sync.Mutex
	session string // its id; empty: there is none yet, or the client needs none
	version string // of the protocol, once it is agreed
	running map[string]context.CancelFunc
	gone    bool // the server does not know the session, or cannot be reached

	once sync.Once
}

func newConn(ctx context.Context, s *Server, address *url.URL) *Conn {
	c := &Conn{server: s, address: address, queue: make(chan jsonrpc.Message, queueLength), slots: make(chan struct{}, mostRequests), running: map[string]context.CancelFunc{}}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.answers, c.lines = io.Pipe()
	go c.send()
	return c
}

// Read reads the server's messages, each a line.
func (c *Conn) Read(p []byte) (int, error) { return c.answers.Read(p) }

// Write takes the client's messages, each a line.
func (c *Conn) Write(p []byte) (int, error) {
	c.partial = append(c.partial, p...)
	for {
		line, rest, ended := bytes.Cut(c.partial, []byte("\n"))
		if !ended {
			if len(c.partial) > messageLimit {
				return 0, &jsonrpc.TooLongError{Limit: messageLimit}
			}
			return len(p), nil
		}
		m, fault := jsonrpc.Parse(bytes.Clone(line))
		if fault != nil {
			return 0, fault
		}
		select {
		case c.queue <- m:
		case <-c.ctx.Done():
			return 0, io.ErrClosedPipe
		}
		c.partial = append(c.partial[:0], rest...)
	}
}

// Close ends the session, at the server too.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.cancel()
		c.lines.CloseWithError(io.EOF)
		c.answers.CloseWithError(io.ErrClosedPipe)
		if session, _ := c.agreed(); session != "" && !c.lost() {
			c.end(session)
		}
		c.server.client.CloseIdleConnections()
	})
	return nil
}

// end tells the server that a session is over. If that fails, the server ends it when it was idle for long.
func (c *Conn) end(session string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), endWithin)
	defer cancel()
	q, err := c.request(ctx, http.MethodDelete, nil)
	if err != nil {
		return
	}
	q.Header.Set(sessionHeader, session)
	if answer, err := c.server.client.Do(q); err == nil {
		answer.Body.Close()
	}
}

// fail ends the connection: whoever reads it dials again.
func (c *Conn) fail(err error) {
	c.mu.Lock()
	c.gone = true
	c.mu.Unlock()
	c.cancel()
	c.lines.CloseWithError(err)
}

func (c *Conn) lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

func (c *Conn) agreed() (session, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.session, c.version
}

// send posts the client's messages. What follows an initialization or a notification waits for it.
func (c *Conn) send() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case m := <-c.queue:
			switch {
			case m.Method == initialize:
				c.ask(m)
			case m.IsRequest():
				ctx := c.begin(m)
				go c.askWithin(ctx, m)
			default:
				c.notify(m)
			}
		}
	}
}

// begin is the context of a request, which its client may cancel.
func (c *Conn) begin(m jsonrpc.Message) context.Context {
	ctx, cancel := context.WithCancel(c.ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running[m.Key()] = cancel
	return ctx
}

func (c *Conn) done(m jsonrpc.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[m.Key()]; cancel != nil {
		cancel()
		delete(c.running, m.Key())
	}
}

// notify sends a notification or an answer.
func (c *Conn) notify(m jsonrpc.Message) {
	session, _ := c.agreed()
	if m.Method == notifyCanceled && session == "" { // clients without a session cancel by leaving
		id := m.Field(m.Params, "requestId").Of(m.Line)
		c.mu.Lock()
		defer c.mu.Unlock()
		if cancel := c.running[jsonrpc.Key(id)]; id != nil && cancel != nil {
			cancel()
		}
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, tellWithin)
	defer cancel()
	answer, err := c.post(ctx, m)
	switch {
	case err != nil:
		c.fail(err)
		return
	case answer.StatusCode == http.StatusNotFound || isUnavailable(answer.StatusCode):
		c.fail(errGone)
	}
	answer.Body.Close()
	if m.Method == notifyReady && c.server.options.Notices && session != "" {
		go c.listen()
	}
}

// errGone means that the server that the session was with is not there any more.
var errGone = errors.New("the alcove server ended the session")

func (c *Conn) ask(m jsonrpc.Message) { c.askWithin(c.begin(m), m) }

// askWithin sends a request and passes on what is answered.
func (c *Conn) askWithin(ctx context.Context, m jsonrpc.Message) {
	defer c.done(m)
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return
	}
	err := c.answer(ctx, m)
	switch {
	case err == nil || ctx.Err() != nil: // the client left, or cancelled it
	case errors.As(err, new(*jsonrpc.TooLongError)):
		c.refuse(m, refusal("exhausted", "%s answered with more than %d bytes, which is the limit: ask for less at once", c.server.URL(), longestAnswer))
	default:
		c.fail(err)
	}
}

// answer passes on the answer to a request. An error means that there was none, because the connection or the session ended.
func (c *Conn) answer(ctx context.Context, m jsonrpc.Message) error {
	answer, err := c.post(ctx, m)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if m.Method == initialize {
		c.agree(answer.Header.Get(sessionHeader), "")
	}
	kind := answer.Header.Get("Content-Type")
	switch session, _ := c.agreed(); {
	case answer.StatusCode == http.StatusOK && strings.HasPrefix(kind, eventStream):
		return c.pass(answer.Body, m.Key())
	case answer.StatusCode == http.StatusNotFound && session != "" && m.Method != initialize:
		return errGone
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, longestAnswer+1))
	switch {
	case err != nil:
		return err
	case len(body) > longestAnswer:
		return &jsonrpc.TooLongError{Limit: longestAnswer}
	case answer.StatusCode == http.StatusOK:
		return c.passOne(body, m)
	}
	why := c.server.reason(answer, body)
	if isUnavailable(answer.StatusCode) && why.Code == "unavailable" {
		return errGone
	}
	if failed, ok := jsonrpc.Outline(body); ok && failed.Failed() {
		c.write(answerTo(m, failed.Error.Of(failed.Line)))
		return nil
	}
	c.refuse(m, why)
	return nil
}

// agree notes what an initialization has agreed on.
func (c *Conn) agree(session, version string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.session, c.version = session, version
}

// passOne passes on the one message that a request was answered with.
func (c *Conn) passOne(body []byte, m jsonrpc.Message) error {
	got, ok := jsonrpc.Outline(body)
	if !ok || !got.IsAnswer() {
		c.refuse(m, refusal("internal", "what %s answers is not MCP: is the address that of an alcove server?", c.server.URL()))
		return nil
	}
	if m.Method == initialize {
		session, _ := c.agreed()
		c.agree(session, jsonrpc.Text(got.Field(got.Result, "protocolVersion").Of(got.Line)))
	}
	return c.write(body)
}

// pass passes on a stream of events, until the answer to a request if there is one.
func (c *Conn) pass(stream io.Reader, key string) error {
	events := newEvents(stream)
	for {
		message, err := events.next()
		if err != nil {
			return err
		}
		m, ok := jsonrpc.Outline(message)
		if !ok {
			continue // such as a comment of a proxy
		}
		if err := c.write(message); err != nil {
			return err
		}
		if key != "" && m.IsAnswer() && m.Key() == key {
			return nil
		}
	}
}

// listen passes on what the server tells between calls, for as long as the session is known.
func (c *Conn) listen() {
	for c.ctx.Err() == nil {
		q, err := c.request(c.ctx, http.MethodGet, nil)
		if err != nil {
			return
		}
		q.Header.Set("Accept", eventStream)
		answer, err := c.server.client.Do(q)
		if err == nil {
			if answer.StatusCode == http.StatusMethodNotAllowed {
				answer.Body.Close()
				return
			}
			if answer.StatusCode == http.StatusOK {
				c.pass(answer.Body, "") // until it is cut off
			}
			answer.Body.Close()
		}
		select {
		case <-c.ctx.Done():
			return
		case <-time.After(listenPause):
		}
		c.known()
	}
}

// known ends the connection if the server has forgotten the session: a stream of one that it does not know would be silent.
func (c *Conn) known() {
	m, _ := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":"alcove-remote","method":"ping"}`))
	ctx, cancel := context.WithTimeout(c.ctx, tellWithin)
	defer cancel()
	answer, err := c.post(ctx, m)
	if err != nil {
		c.fail(err)
		return
	}
	answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound || isUnavailable(answer.StatusCode) {
		c.fail(errGone)
	}
}

// post sends a message.
func (c *Conn) post(ctx context.Context, m jsonrpc.Message) (*http.Response, error) {
	q, err := c.request(ctx, http.MethodPost, bytes.NewReader(m.Line))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, "+eventStream)
	if version := jsonrpc.Text(m.Field(m.Field(m.Params, "_meta"), versionMember).Of(m.Line)); version != "" {
		q.Header.Set(versionHeader, version)
		q.Header.Set(methodHeader, headerText(m.Method))
		if name := named(m); name != "" {
			q.Header.Set(nameHeader, headerText(name))
		}
	}
	return c.server.client.Do(q)
}

// named is what a request without a session repeats in a header.
func named(m jsonrpc.Message) string {
	switch m.Method {
	case "tools/call", "prompts/get":
		return jsonrpc.Text(m.Field(m.Params, "name").Of(m.Line))
	case "resources/read":
		return jsonrpc.Text(m.Field(m.Params, "uri").Of(m.Line))
	}
	return ""
}

// headerText is text in the form that MCP gives it in headers.
func headerText(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) && strings.TrimSpace(s) == s && !strings.HasPrefix(s, "=?base64?")
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// request is a request in the session, with the key.
func (c *Conn) request(ctx context.Context, method string, body io.Reader) (*http.Request, error) {
	q, err := http.NewRequestWithContext(ctx, method, c.address.String(), body)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", c.server.URL(), err)
	}
	q.Header.Set("User-Agent", c.server.options.Program)
	if key := c.server.options.Key; key != "" {
		q.Header.Set("Authorization", "Bearer "+key)
	}
	session, version := c.agreed()
	if session != "" {
		q.Header.Set(sessionHeader, session)
	}
	if version != "" {
		q.Header.Set(versionHeader, version)
	}
	return q, nil
}

// write passes on a message, as one line.
func (c *Conn) write(message []byte) error {
	line := bytes.TrimSpace(message)
	if bytes.IndexByte(line, '\n') >= 0 {
		var one bytes.Buffer
		if err := json.Compact(&one, line); err != nil {
			return fmt.Errorf("read what %s answers: %w", c.server.URL(), err)
		}
		line = one.Bytes()
	}
	c.deliver.Lock()
	defer c.deliver.Unlock()
	_, err := c.lines.Write(append(bytes.Clone(line), '\n'))
	return err
}
