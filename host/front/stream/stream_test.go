package stream_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/stream"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
)

// world is a server of streams over a memory.
type world struct {
	t       testing.TB
	space   *memory.Space
	streams *stream.Server
	http    *httptest.Server
	clock   *testclock.Clock
	client  atomic.Pointer[connection.Client]     // of all requests
	asked   func(*http.Request) connection.Client // instead of client; nil: client
	narrow  atomic.Bool                           // connections from now on hold little that is not read
	waiting chan struct{}                         // receives when the tool wait begins
	release chan struct{}                         // lets it end
	session chan string                           // receives what happens to sessions, as far as there is room
}

// Called and End are of connection.Sessions.
func (w *world) Called(who memory.Caller, at memory.Location) {
	w.tell("called by " + who.Agent + " in " + at.Branch + "#" + at.Namespace)
}

func (w *world) End(string) { w.tell("ended") }

func (w *world) tell(what string) {
	select {
	case w.session <- what:
	default:
	}
}

func newWorld(t testing.TB, limits stream.Limits, changes ...func(*world)) *world {
	t.Helper()
	limits.Ping = cmp.Or(limits.Ping, time.Hour) // or it would hide that an event was not pushed
	w := &world{t: t, clock: testclock.At(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)), waiting: make(chan struct{}, 100), release: make(chan struct{}), session: make(chan string, 100)}
	for _, change := range changes {
		change(w)
	}
	w.space = testspace.Open(t, testspace.Options{Clock: w.clock.Now})
	all := tool.NewRegistry(nil)
	if err := all.Add(append(core.Specs(core.Options{Space: w.space}), w.waitTool())...); err != nil {
		t.Fatal(err)
	}
	w.as(connection.Client{Caller: memory.Caller{Agent: "ann", Rights: memory.FullRights()}})
	w.streams = stream.New(stream.Options{Space: w.space, Dispatcher: tool.NewDispatcher(all, tool.Options{Clock: w.clock.Now}), Limits: limits,
		Client: func(r *http.Request) connection.Client {
			if w.asked != nil {
				return w.asked(r)
			}
			return *w.client.Load()
		},
		Sessions: w, Stopped: &memory.Error{Code: memory.Unavailable, Message: "stopped"}})
	w.http = httptest.NewUnstartedServer(w.streams)
	w.http.Listener = &narrow{w.http.Listener, &w.narrow}
	w.http.Start()
	t.Cleanup(func() { w.streams.Close(); w.http.Close() })
	return w
}

// waitTool waits until it is released or cancelled.
func (w *world) waitTool() tool.Spec {
	return tool.Spec{Name: "memory_wait", Description: "Wait.", Annotations: tool.Annotations{ReadOnly: true}, Handler: func(ctx context.Context, _ *tool.Call) (tool.Answer, error) {
		w.waiting <- struct{}{}
		select {
		case <-w.release:
			return tool.Answer{Structured: map[string]any{"waited": true}}, nil
		case <-ctx.Done():
			return tool.Answer{}, ctx.Err()
		}
	}}
}

// narrow is a listener whose connections, if on, hold little that their peers have not read.
type narrow struct {
	net.Listener
	on *atomic.Bool
}

func (l *narrow) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok && l.on.Load() {
		tcp.SetWriteBuffer(4096)
	}
	return conn, err
}

func (w *world) as(c connection.Client) { w.client.Store(&c) }

// write stores memories in one commit.
func (w *world) write(namespace string, keys ...string) {
	w.t.Helper()
	items := make([]memory.Item, len(keys))
	for i, key := range keys {
		items[i] = memory.Item{Key: key, Value: json.RawMessage(`1`)}
	}
	access := w.space.As(memory.Caller{Agent: "writer", Call: "c", Rights: memory.FullRights()})
	if _, err := access.Store(w.t.Context(), memory.Location{Namespace: namespace}, items, memory.Write{}); err != nil {
		w.t.Fatal(err)
	}
}

// client is a client of a stream.
type client struct {
	t  testing.TB
	ws *websocket.Conn
}

func (w *world) dial() *client {
	w.t.Helper()
	ws, err := w.try()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { ws.CloseNow() })
	return &client{w.t, ws}
}

func (w *world) try() (*websocket.Conn, error) {
	narrow := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if tcp, ok := conn.(*net.TCPConn); ok && w.narrow.Load() {
			tcp.SetReadBuffer(4096)
		}
		return conn, err
	}}
	ws, answer, err := websocket.Dial(w.t.Context(), w.http.URL, &websocket.DialOptions{HTTPClient: &http.Client{Transport: narrow}})
	if err == nil {
		return ws, nil
	}
	if answer != nil {
		body := make([]byte, 1000)
		n, _ := answer.Body.Read(body)
		err = errors.Join(err, errors.New(string(body[:n])))
	}
	return nil, err
}

// hasRoom reports whether another stream can be opened.
func (w *world) hasRoom() bool {
	ws, err := w.try()
	if err == nil {
		ws.CloseNow()
	} else if !strings.Contains(err.Error(), "1 streams are open") && !strings.Contains(err.Error(), "3 streams are open") {
		w.t.Errorf("open a stream: %v, want it open, or the limit of streams", err)
	}
	return err == nil
}

func (c *client) send(text string) {
	c.t.Helper()
	if err := c.ws.Write(c.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		c.t.Fatal(err)
	}
}

// told is a message of the server.
type told struct {
	Type, ID, Subscription string
	Watermark              uint64
	Kind, Agent, Namespace string
	Timestamp              string
	Version                any // of an event's commit, or of an answer
	Payload                struct{ FactID, AgentID, ScopeID string }
	From, To               uint64
	Error                  *struct{ Code, Message string }
	Method                 string
	Result                 json.RawMessage
}

func (c *client) read() told {
	c.t.Helper()
	m, err := c.tryRead()
	if err != nil {
		c.t.Fatal(err)
	}
	return m
}

func (c *client) tryRead() (m told, err error) {
	_, text, err := c.ws.Read(c.t.Context())
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(text, &m)
}

// must reads the next message that is no watermark, which has to be of a type.
func (c *client) must(kind string) told {
	c.t.Helper()
	for {
		m := c.read()
		if m.Type == "watermark" && kind != "watermark" {
			continue
		}
		if m.Type != kind {
			c.t.Fatalf("a message is %+v (%+v), not of type %s", m, m.Error, kind)
		}
		return m
	}
}

// refused sends a message that has an error, which names what is wrong.
func (c *client) refused(text, code, why string) {
	c.t.Helper()
	c.send(text)
	if m := c.must("error"); m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, why) {
		c.t.Errorf("%.100s is answered with %+v", text, m.Error)
	}
}

// closed reads until the stream is closed, and returns the last error told and how it was closed.
func (c *client) closed() (last string, code websocket.StatusCode, reason string) {
	c.t.Helper()
	for {
		m, err := c.tryRead()
		if err == nil {
			if m.Error != nil {
				last = m.Error.Message
			}
			continue
		}
		var end websocket.CloseError
		errors.As(err, &end)
		return last, websocket.CloseStatus(err), end.Reason
	}
}

func (c *client) keys(n int) string {
	c.t.Helper()
	var list []string
	for range n {
		m := c.must("event")
		list = append(list, m.Subscription+":"+m.Payload.FactID)
	}
	return strings.Join(list, " ")
}

func TestEventsArePushedAsTheyAreWritten(t *testing.T) {
	w := newWorld(t, stream.Limits{})
	w.write("default", "before")
	c := w.dial()
	c.send(`{"type":"subscribe","id":"all"}`)
	begin := c.must("subscribed")
	c.send(`{"type":"subscribe","id":"team","namespaces":["team/*"],"event_types":["memory_stored"],"agents":["writer"]}`)
	if m := c.must("subscribed"); m.ID != "team" || m.Watermark != begin.Watermark {
		t.Errorf("subscribed is %+v", m)
	}
	w.write("team/x", "a")
	w.write("team", "b")
	seen := map[string]told{}
	for range 3 {
		m := c.must("event")
		seen[m.Subscription+" "+m.Payload.FactID] = m
	}
	m := seen["all team/x#a"]
	if len(seen) != 3 || seen["team team/x#a"].Kind != "memory_stored" || m.Agent != "writer" || m.Namespace != "team/x" || m.Payload.AgentID != "writer" || m.Payload.ScopeID != "team/x" ||
		m.Watermark <= begin.Watermark || m.Version != float64(m.Watermark) || m.Timestamp == "" || seen["all team#b"].Watermark <= m.Watermark {
		t.Errorf("events are %+v", seen)
	}
	c.send(`{"type":"ack","subscription":"all","watermark":7}`)
	c.send(`{"type":"unsubscribe","id":"all"}`)
	if m := c.must("unsubscribed"); m.ID != "all" || m.Watermark != seen["all team#b"].Watermark {
		t.Errorf("unsubscribed is %+v", m)
	}
	w.write("default", "unseen")
	w.write("team/y", "c")
	if got := c.keys(1); got != "team:team/y#c" {
		t.Errorf("then comes %s", got)
	}
}

func TestAStreamGoesOnFromAWatermarkAndLosesNothing(t *testing.T) {
	w := newWorld(t, stream.Limits{})
	want := map[string]bool{}
	for i := range 20 {
		var keys []string
		for j := range 1 + i*37%90 { // some commits are longer than a page
			keys = append(keys, fmt.Sprintf("k%d-%d", i, j))
			want["default#"+keys[j]] = true
		}
		w.write("default", keys...)
	}
	watermark, seen := uint64(0), map[string]bool{}
	for broken := 1; len(seen) < len(want); broken++ {
		c := w.dial()
		c.send(fmt.Sprintf(`{"type":"subscribe","id":"s","watermark":%d}`, watermark))
		c.must("subscribed")
		for n := 0; n < 100+broken*13 && len(seen) < len(want); n++ {
			m := c.must("event")
			if m.Watermark < watermark {
				t.Fatalf("the watermark %d follows %d", m.Watermark, watermark)
			}
			watermark, seen[m.Payload.FactID] = m.Watermark, true
		}
		c.ws.CloseNow()
	}
	for key := range want {
		if !seen[key] {
			t.Errorf("%s was lost", key)
		}
	}
}

func TestEventsThatAreNoLongerKeptAreToldOf(t *testing.T) {
	w := newWorld(t, stream.Limits{})
	w.write("default", "old")
	w.write("default", "older")
	w.clock.Add(8 * 24 * time.Hour)
	c := w.dial()
	c.send(`{"type":"subscribe","id":"s","watermark":1}`)
	c.must("subscribed")
	if m := c.must("missed"); m.Subscription != "s" || m.From != 1 || m.To <= 1 {
		t.Errorf("missed is %+v", m)
	}
	w.write("default", "new")
	if got := c.keys(1); got != "s:default#new" {
		t.Errorf("then comes %s", got)
	}
	c.refused(`{"type":"subscribe","id":"t","watermark":99999}`, "E_INVALID_ARGUMENT", "later than the newest")
}

func TestAClientThatDoesNotReadDelaysNobody(t *testing.T) {
	w := newWorld(t, stream.Limits{WriteWithin: time.Hour, Ping: time.Hour})
	quick := w.dial()
	w.narrow.Store(true)
	slow := w.dial()
	for _, c := range []*client{slow, quick} {
		c.send(`{"type":"subscribe","id":"s"}`)
		c.must("subscribed")
	}
	const n = 400 // more than both sockets hold
	for i := range n / 50 {
		keys := make([]string, 50)
		for j := range keys {
			keys[j] = fmt.Sprintf("%s%d-%d", strings.Repeat("long", 60), i, j)
		}
		w.write("default", keys...)
	}
	quick.keys(n)
	slow.ws.CloseNow() // what it did not read is in the feed
}

func TestAClientThatNeverReadsLosesItsStream(t *testing.T) {
	w := newWorld(t, stream.Limits{WriteWithin: 50 * time.Millisecond, Ping: time.Hour, Streams: 1, CloseWithin: time.Millisecond})
	w.narrow.Store(true)
	c := w.dial()
	c.send(`{"type":"subscribe","id":"s"}`)
	c.must("subscribed")
	for i := range 20 {
		keys := make([]string, 50)
		for j := range keys {
			keys[j] = fmt.Sprintf("%s%d-%d", strings.Repeat("long", 60), i, j)
		}
		w.write("default", keys...)
	}
	await.That(t, "there is room again", w.hasRoom)
	if _, code, _ := c.closed(); code != -1 {
		t.Errorf("it could still be told %d", code)
	}
}

func TestRightsHoldForEachEvent(t *testing.T) {
	w := newWorld(t, stream.Limits{})
	narrow := func(read ...string) {
		w.as(connection.Client{Caller: memory.Caller{Agent: "guest", Rights: memory.RightsTo(read, nil)}, Namespace: "open"})
	}
	narrow("open", "team/*")
	c := w.dial()
	c.refused(`{"type":"subscribe","id":"s","namespaces":["vault"]}`, "E_DENIED", "vault")
	c.send(`{"type":"subscribe","id":"s"}`)
	c.must("subscribed")
	c.send(`{"type":"subscribe","id":"team","namespaces":["team/*"]}`)
	c.must("subscribed")
	w.write("vault", "secret")
	w.write("team/x", "a")
	got := c.keys(2)
	if got != "s:team/x#a team:team/x#a" && got != "team:team/x#a s:team/x#a" {
		t.Errorf("events are %s", got)
	}
	narrow("open")
	w.write("team/x", "b")
	if m := c.must("error"); m.Subscription != "team" || m.Error.Code != "E_DENIED" {
		t.Errorf("the right is gone: %+v", m)
	}
	w.write("open", "c")
	if got := c.keys(1); got != "s:open#c" {
		t.Errorf("then comes %s", got)
	}
	narrow()
	w.write("open", "d")
	if m := c.must("error"); m.Subscription != "s" || m.Error.Code != "E_DENIED" {
		t.Errorf("all rights are gone: %+v", m)
	}
}

func TestOperationsRunOverAStream(t *testing.T) {
	w := newWorld(t, stream.Limits{})
	c := w.dial()
	c.send(`{"id":1,"method":"store","params":{"key":"tea","value":"green"},"then":{"method":"recall"}}`)
	_, text, err := c.ws.Read(t.Context())
	if err != nil || !strings.HasPrefix(string(text), `{"type":"answer","id":1,`) || !strings.Contains(string(text), `"value":"green"`) {
		t.Errorf("a chain is answered with %s, %v", text, err)
	}
	for _, text := range []string{`{"id":"f","method":"branch","params":{"action":"fork","name":"side"}}`, `{"id":"s","type":"operation","method":"branch","params":{"action":"switch","name":"side"}}`,
		`{"id":"l","method":"store","params":{"key":"on","value":"the side"}}`} {
		c.send(text)
		if m := c.must("answer"); m.Error != nil || m.Method == "" {
			t.Errorf("%s is answered with %+v", text, m)
		}
	}
	c.send(`{"type":"subscribe","id":"side","watermark":"0"}`) // the stream's own branch
	c.must("subscribed")
	if got := c.keys(1); got != "side:default#on" {
		t.Errorf("the side has %s", got)
	}
	c.send(`{"id":"say","method":"say","params":{"message":"hello"}}`)
	if m := c.must("answer"); m.ID != "say" || m.Error == nil || m.Error.Code != "E_NOT_FOUND" || !strings.Contains(m.Error.Message, "memory_store") {
		t.Errorf("a tool that does not exist is answered with %+v", m.Error)
	}
	c.send(`{"method":"status","id":null}`)
	if m := c.must("answer"); m.Error != nil {
		t.Errorf("an operation without id is answered with %+v", m.Error)
	}
}

func TestAStreamWithOperationsIsASession(t *testing.T) {
	w := newWorld(t, stream.Limits{})
	c := w.dial()
	c.send(`{"id":"1","method":"status"}`)
	c.must("answer")
	c.ws.Close(websocket.StatusNormalClosure, "")
	for _, want := range []string{"called by ann in default#default", "ended"} {
		if got := await.Value(t, want, w.session); got != want {
			t.Errorf("told %q, not %q", got, want)
		}
	}
}

func TestAServerThatStopsLetsOperationsEnd(t *testing.T) {
	w := newWorld(t, stream.Limits{Drain: time.Hour})
	c, idle := w.dial(), w.dial()
	c.send(`{"id":1,"method":"wait"}`)
	<-w.waiting
	w.streams.Stop()
	if last, code, reason := idle.closed(); code != websocket.StatusGoingAway || !strings.Contains(last, "stopping") || !strings.Contains(reason, "stopping") {
		t.Errorf("an idle stream is closed with %d %s, %s", code, reason, last)
	}
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "stopping") {
		t.Errorf("a new stream: %v", err)
	}
	close(w.release)
	_, text, err := c.ws.Read(t.Context())
	if err != nil || !strings.Contains(string(text), `"waited":true`) {
		t.Errorf("the operation is answered with %s, %v", text, err)
	}
	if _, code, _ := c.closed(); code != websocket.StatusGoingAway {
		t.Errorf("its stream is closed with %d", code)
	}
	w.streams.Close()
}

func TestOperationsThatOutlastTheServerAreCancelled(t *testing.T) {
	w := newWorld(t, stream.Limits{Drain: time.Millisecond, CloseWithin: 50 * time.Millisecond})
	c := w.dial()
	c.send(`{"id":1,"method":"wait"}`)
	<-w.waiting
	w.streams.Close()
	_, text, err := c.ws.Read(t.Context())
	if err != nil || !strings.Contains(string(text), "E_UNAVAILABLE") {
		t.Errorf("the operation is answered with %s, %v", text, err)
	}
}
