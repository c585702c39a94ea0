//go:build guests

package host_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/client"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// house is a server with the first-party families, whose clients have keys.
type house struct {
	*keyed
}

// newHouse serves with options beside the directory and the families.
func newHouse(t *testing.T, o host.Options) *house {
	t.Helper()
	k := &keyed{t: t, dir: t.TempDir()}
	o.Dir, o.Version, o.Families, o.Driver = k.dir, "test", carriedFamilies(), bolt.Driver{NoSync: true}
	o.Cache = sandbox.Cache{Dir: compiledHere()}
	var err error
	if k.host, err = host.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.host.Close() })
	k.at, _ = serving(t, k.host, host.Listen{HTTP: "127.0.0.1:0"})
	k.act = asOperator(t, k.dir)
	return &house{k}
}

// everyRight is what a key may have without rights over others.
var everyRight = []operator.Right{"read", "write", "branch", "family:*"}

// stdio is an agent with a key that calls tools as alcove mcp does.
type stdio struct {
	*client.Client
	t   *testing.T
	key operator.IssuedKey
}

func (h *house) stdio(key operator.IssuedKey, hello owner.Hello) *stdio {
	h.t.Helper()
	hello.Key = key.Secret
	c, err := h.dial(hello)
	if err != nil {
		h.t.Fatal(err)
	}
	return &stdio{c, h.t, key}
}

// ask calls a tool, and reads its result into result unless that is nil.
func (s *stdio) ask(tool string, arguments map[string]any, result any) {
	s.t.Helper()
	r, err := s.Call(tool, arguments)
	if err != nil {
		s.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if result == nil {
		return
	}
	if err := json.Unmarshal(r.Structured, result); err != nil {
		s.t.Fatalf("%s %v: %v in %s", tool, arguments, err, r.Text)
	}
}

// told is what a tool answers, or its error.
func (s *stdio) told(tool string, arguments map[string]any) string {
	return told(s.Client, tool, arguments)
}

// peer is an agent with a key on a WebSocket.
type peer struct {
	t      *testing.T
	ws     *websocket.Conn
	pushed []arrived // while it waited for answers
	asked  int
}

// arrived is a message of a stream.
type arrived struct {
	Type, Subscription, From, Content, Kind, Namespace string

	ID        json.RawMessage
	Watermark uint64
	Result    json.RawMessage
	Error     *struct{ Code, Message string }
	Payload   json.RawMessage
	text      string
}

func (h *house) peer(key operator.IssuedKey) *peer {
	h.t.Helper()
	ws, _, err := dialStream(h.t.Context(), "http://"+h.at.HTTP, key.Secret, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { ws.CloseNow() })
	return &peer{t: h.t, ws: ws}
}

func (p *peer) send(message any) {
	p.t.Helper()
	text, err := json.Marshal(message)
	if err == nil {
		err = p.ws.Write(p.t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) read(ctx context.Context) (m arrived) {
	p.t.Helper()
	_, text, err := p.ws.Read(ctx)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		p.t.Fatal(err)
	}
	m.text = string(text)
	return m
}

// await reads until something came, beside watermarks and what was pushed, which it keeps.
func (p *peer) await(is func(arrived) bool) arrived {
	p.t.Helper()
	for {
		m := p.read(p.t.Context())
		if is(m) {
			return m
		}
		if m.Type == "error" {
			p.t.Fatalf("an error came: %s", m.text)
		}
		if m.Type != "watermark" {
			p.pushed = append(p.pushed, m)
		}
	}
}

// next returns what was pushed next.
func (p *peer) next() arrived {
	p.t.Helper()
	if len(p.pushed) == 0 {
		return p.await(func(m arrived) bool { return m.Type == "event" || m.Type == "message" })
	}
	m := p.pushed[0]
	p.pushed = p.pushed[1:]
	return m
}

// subscribe follows what happens from now on, or what the members say.
func (p *peer) subscribe(members map[string]any) {
	p.t.Helper()
	m := map[string]any{"type": "subscribe", "id": "s"}
	for name, v := range members {
		m[name] = v
	}
	p.send(m)
	p.await(func(m arrived) bool { return m.Type == "subscribed" })
}

// operate runs an operation, and returns its answer.
func (p *peer) operate(method string, params, options map[string]any) arrived {
	p.t.Helper()
	p.asked++
	p.send(map[string]any{"id": p.asked, "method": method, "params": params, "options": options})
	id := string(must(json.Marshal(p.asked)))
	return p.await(func(m arrived) bool { return m.Type == "answer" && string(m.ID) == id })
}

// ask calls a tool, and reads its result into result unless that is nil.
func (p *peer) ask(method string, params map[string]any, result any) {
	p.t.Helper()
	m := p.operate(method, params, nil)
	if m.Error != nil {
		p.t.Fatalf("%s %v: %s", method, params, m.text)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			p.t.Fatalf("%s %v: %v in %s", method, params, err, m.text)
		}
	}
}

// refused calls a tool that is refused.
func (p *peer) refused(code, method string, params map[string]any) {
	p.t.Helper()
	if m := p.operate(method, params, nil); m.Error == nil || m.Error.Code != code {
		p.t.Errorf("%s %v is answered with %s, want %s", method, params, m.text, code)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func rightsOf(list string) (rights []operator.Right) {
	for _, right := range strings.Fields(list) {
		rights = append(rights, operator.Right(right))
	}
	return rights
}
