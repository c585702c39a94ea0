package stream_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/front/stream"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestStreamsAreBoundedInAllAndPerKey(t *testing.T) {
	w := newWorld(t, stream.Limits{Streams: 3, PerKey: 1})
	w.as(connection.Client{Caller: memory.Caller{Key: "k1", Rights: memory.FullRights()}})
	first := w.dial()
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "1 streams of this key are open, which is the limit") {
		t.Errorf("a second stream of a key: %v", err)
	}
	w.as(connection.Client{Caller: memory.Caller{Rights: memory.FullRights()}})
	w.dial()
	w.dial()
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "3 streams are open, which is the limit") || !strings.Contains(err.Error(), "503") {
		t.Errorf("a fourth stream: %v", err)
	}
	first.ws.Close(websocket.StatusNormalClosure, "")
	await.That(t, "there is room again", w.hasRoom)
}

func TestAStreamIsBounded(t *testing.T) {
	w := newWorld(t, stream.Limits{Subscriptions: 2, Running: 1})
	c := w.dial()
	for _, id := range []string{"1", "2"} {
		c.send(`{"type":"subscribe","id":"` + id + `"}`)
		c.must("subscribed")
	}
	c.refused(`{"type":"subscribe","id":"3"}`, "E_EXHAUSTED", "2 subscriptions are on this stream, which is the limit")
	c.refused(`{"type":"subscribe","id":"1"}`, "E_CONFLICT", `subscription "1"`)
	c.send(`{"id":"w","method":"wait"}`)
	<-w.waiting
	c.refused(`{"id":"x","method":"wait"}`, "E_EXHAUSTED", "1 operations of this stream are running, which is the limit")
	close(w.release)
	if m := c.must("answer"); m.ID != "w" {
		t.Errorf("the answer is %+v", m)
	}
	many := `"` + strings.Repeat(`n","`, 64) + `n"`
	c.refused(`{"type":"subscribe","id":"4","kinds":[`+many+`]}`, "E_INVALID_ARGUMENT", "kinds has 65 names: at most 64")
	c.refused(`{"type":"subscribe","id":"4","agents":["`+strings.Repeat("n", 257)+`"]}`, "E_INVALID_ARGUMENT", "a name of 257 bytes")
	c.refused(`{"type":"subscribe","id":"4","namespaces":["team/*","!team/a"]}`, "E_INVALID_ARGUMENT", `namespace "!team/a" excludes one`)
	c.refused(`{"type":"subscribe","id":"`+strings.Repeat("n", 200)+`"}`, "E_INVALID_ARGUMENT", "at most 128")
}

func TestMessagesAreBounded(t *testing.T) {
	w := newWorld(t, stream.Limits{Limits: connection.Limits{Message: 100_000}})
	for name, size := range map[string]int{"small": 100_001, "large": 10 << 20} {
		c := w.dial()
		c.send(`{"id":1,"method":"store","params":{"key":"k","value":"` + strings.Repeat("v", 90_000) + `"}}`)
		if _, text, err := c.ws.Read(t.Context()); err != nil || strings.Contains(string(text), `"error"`) {
			t.Fatalf("a message within the limit is answered with %s, %v", text, err)
		}
		go c.ws.Write(t.Context(), websocket.MessageText, []byte(`{"id":2,"method":"`+strings.Repeat("m", size))) // the server closes within it
		last, code, reason := c.closed()
		if code != websocket.StatusMessageTooBig && code != -1 || code != -1 && (!strings.Contains(reason, "100000 bytes") || !strings.Contains(last, "100000 bytes, which is the limit")) {
			t.Errorf("a %s message too long is answered with %q, %d %s", name, last, code, reason)
		}
	}
	c := w.dial()
	if err := c.ws.Write(t.Context(), websocket.MessageBinary, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if last, code, _ := c.closed(); code != websocket.StatusUnsupportedData || !strings.Contains(last, "binary") {
		t.Errorf("a binary message is answered with %q, %d", last, code)
	}
}

func TestAnIdleStreamEnds(t *testing.T) {
	w := newWorld(t, stream.Limits{Ping: 10 * time.Millisecond, Idle: 20 * time.Millisecond})
	if last, code, reason := w.dial().closed(); code != websocket.StatusPolicyViolation || !strings.Contains(last, "20ms, which is the limit") || reason == "" {
		t.Errorf("it is closed with %q, %d %s", last, code, reason)
	}
}

func TestWatermarksAreToldWithoutEvents(t *testing.T) {
	w := newWorld(t, stream.Limits{Ping: 10 * time.Millisecond})
	c := w.dial()
	c.send(`{"type":"subscribe","id":"s","kinds":["none"]}`)
	begin := c.must("subscribed")
	w.write("default", "k")
	if m := c.must("watermark"); m.Subscription != "s" || m.Watermark <= begin.Watermark {
		t.Errorf("told is %+v", m)
	}
}

// raw opens a stream and gives its connection, for what no library sends.
func (w *world) raw() (net.Conn, *bufio.Reader) {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.http.URL, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	r := bufio.NewReader(conn)
	answer, err := http.ReadResponse(r, nil)
	if err != nil || answer.StatusCode != http.StatusSwitchingProtocols {
		w.t.Fatalf("answered %v, %v", answer, err)
	}
	return conn, r
}

// TestFramesThatNoClientSends sends halves and nonsense: each ends its stream, and no other.
func TestFramesThatNoClientSends(t *testing.T) {
	w := newWorld(t, stream.Limits{MessageWithin: 30 * time.Millisecond, Ping: 30 * time.Millisecond, Pong: 10 * time.Millisecond, CloseWithin: 10 * time.Millisecond})
	good := newWorld(t, stream.Limits{}).dial()
	for name, frame := range map[string]string{
		"nothing":              "",
		"half a header":        "\x81",
		"half a payload":       "\x81\xfe\x01\x00abcdtext",
		"a length of 2^63":     "\x81\xff\xff\xff\xff\xff\xff\xff\xff\xffabcd",
		"not masked":           "\x81\x02{}",
		"reserved bits":        "\xf1\x80abcd",
		"an unknown opcode":    "\x83\x80abcd",
		"a ping that is long":  "\x89\xfe\x01\x00abcd",
		"a fragment alone":     "\x80\x80abcd",
		"a message that stays": "\x01\x81abcd{",
		"a close that is odd":  "\x88\x81abcdx",
		"HTTP":                 "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		conn, r := w.raw()
		io.WriteString(conn, frame)
		if _, err := io.Copy(io.Discard, r); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%s: read: %v, want the connection closed", name, err)
		}
	}
	good.send(`{"id":"1","method":"status"}`)
	if m := good.must("answer"); m.Error != nil {
		t.Errorf("another stream has %+v", m.Error)
	}
}

func TestHostileMessagesAreRefusedAndTheStreamStays(t *testing.T) {
	c := newWorld(t, stream.Limits{}).dial()
	for _, text := range []string{
		``, `null`, `[]`, `"subscribe"`, `{`, `{"type":"subscribe"`, `{}`, `{"type":7,"id":"x"}`, `{"type":"shout","message":"hi"}`, `{"type":"subscribe"}`,
		`{"type":"subscribe","id":{}}`, `{"type":"subscribe","id":["a"]}`, `{"type":"subscribe","id":true}`, `{"type":"subscribe","id":"a","id":"b"}`,
		`{"type":"subscribe","id":"a","namespaces":[1]}`, `{"type":"subscribe","id":"a","namespaces":{"a":1}}`, `{"type":"subscribe","id":"a","branch":["b"]}`, `{"type":"subscribe","id":"a","branch":"none"}`,
		`{"type":"subscribe","id":"a","watermark":-1}`, `{"type":"subscribe","id":"a","watermark":1.5}`, `{"type":"subscribe","id":"a","watermark":1e400}`, `{"type":"subscribe","id":"a","watermark":18446744073709551615}`,
		`{"type":"subscribe","id":"a","namespace":"x","scopeId":"y"}`, `{"type":"subscribe","id":"a","namespaces":["a\u0000b"]}`, `{"type":"subscribe","id":"a","filter":"x"}`,
		`{"type":"unsubscribe","id":"none"}`, `{"type":"unsubscribe"}`, `{"type":"subscribe","id":"\ud800"}{`, strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000),
		strings.Repeat(`[`, 100_000), "{\"type\":\"\xff\xfe\"}", `{"params":{},"id":1e1000}`,
	} {
		c.send(text)
		_, answer, err := c.ws.Read(t.Context())
		if err != nil || !strings.HasPrefix(string(answer), `{"type":"error"`) || !strings.Contains(string(answer), `"code":"E_`) || strings.Contains(string(answer), "E_INTERNAL") {
			t.Fatalf("%.80s is answered with %s, %v", text, answer, err)
		}
	}
	c.send(`{"type":"subscribe","id":"a"}`)
	c.must("subscribed")
}

// strict are the limits of a key: so many calls, and so many bytes.
type strict struct {
	calls atomic.Int64
	bytes int64
}

func (k *strict) BodyLimit(key string) int64 {
	if key == "" {
		return 1 << 30
	}
	return k.bytes
}

func (k *strict) Begin(key string) (func(), error) { return func() {}, k.Charge(key) }

func (k *strict) Charge(key string) error {
	if key == "" || k.calls.Add(-1) >= 0 {
		return nil
	}
	return &memory.Error{Code: memory.Exhausted, Retryable: true, Message: "calls per second with this key", Details: map[string]any{"retry_after_ms": int64(500)}}
}

func TestTheLimitsOfAKeyHoldOnItsStreams(t *testing.T) {
	limits := &strict{bytes: 2000}
	limits.calls.Store(3)
	w := newWorld(t, stream.Limits{Limits: connection.Limits{Keys: limits}})
	owner := w.dial()
	w.as(connection.Client{Caller: memory.Caller{Key: "k1", Rights: memory.FullRights()}})
	c := w.dial()
	for _, id := range []string{"a", "b"} {
		c.send(`{"type":"subscribe","id":"` + id + `"}`)
		c.must("subscribed")
		c.send(`{"type":"unsubscribe","id":"` + id + `"}`)
		c.must("unsubscribed")
	}
	c.refused(`{"type":"subscribe","id":"c"}`, "E_EXHAUSTED", "calls per second with this key")
	if _, err := w.try(); err == nil || !strings.Contains(err.Error(), "429") || !strings.Contains(err.Error(), "calls per second with this key") {
		t.Errorf("another stream of the key: got %v, want status 429", err)
	}
	c.send(`{"id":"s","method":"store","params":{"key":"k","value":"` + strings.Repeat("v", 3000) + `"}}`)
	if last, code, _ := c.closed(); code != websocket.StatusMessageTooBig || !strings.Contains(last, "2000 bytes, which is the limit") {
		t.Errorf("a message beyond the key's limit: got %q, %d, want the limit of 2000 bytes", last, code)
	}
	owner.send(`{"id":"s","method":"store","params":{"key":"k","value":"` + strings.Repeat("v", 3000) + `"}}`)
	owner.must("answer")
}

// The pages that streams read keep a processor busy each. Those of one key take turns, and streams of others do not wait for them.
func TestManyStreamsOfOneKeyReadOnePageAtATime(t *testing.T) {
	const many = 8
	var clients sync.Map // by request
	var gate atomic.Pointer[chan struct{}]
	var reading, most atomic.Int64
	var w *world
	newWorld(t, stream.Limits{}, func(opened *world) {
		w = opened
		w.asked = func(r *http.Request) connection.Client {
			of, _ := clients.LoadOrStore(r, *w.client.Load())
			c := of.(connection.Client)
			if closed := gate.Load(); closed != nil && c.Caller.Key == "busy" {
				most.Store(max(most.Load(), reading.Add(1)))
				<-*closed
				reading.Add(-1)
			}
			return c
		}
	})
	follow := func(key string) *client {
		w.as(connection.Client{Caller: memory.Caller{Key: key, Rights: memory.FullRights()}})
		c := w.dial()
		c.send(`{"type":"subscribe","id":"` + key + `"}`)
		c.must("subscribed")
		return c
	}
	var busy []*client
	for range many {
		busy = append(busy, follow("busy"))
	}
	other := follow("other")
	closed := make(chan struct{})
	gate.Store(&closed)
	w.write("default", "k")
	if got := other.keys(1); got != "other:default#k" {
		t.Errorf("the other key's stream got %s", got)
	}
	await.That(t, "a stream of the busy key reads", func() bool { return reading.Load() > 0 })
	close(closed)
	for _, c := range busy {
		if got := c.keys(1); got != "busy:default#k" {
			t.Errorf("a stream of the busy key got %s", got)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d streams of a key read at once, want 1", most.Load())
	}
}
