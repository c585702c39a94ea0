package server

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// DialStream opens a stream of the server at an address. Without one, the answer says why.
func DialStream(ctx context.Context, url, token string, edit func(http.Header)) (*websocket.Conn, *http.Response, error) {
	header := http.Header{"Authorization": {"Bearer " + token}}
	if edit != nil {
		edit(header)
	}
	return websocket.Dial(ctx, url+"/stream", &websocket.DialOptions{HTTPHeader: header})
}

// Pushed is a message of a stream.
type Pushed struct {
	Type      string
	Watermark uint64
	Agent     string
	Timestamp time.Time
	Payload   struct{ FactID string }
	Error     *struct{ Code, Message string }
}

// ReadStream reads the next message of a stream.
func ReadStream(ctx context.Context, ws *websocket.Conn) (p Pushed, err error) {
	_, text, err := ws.Read(ctx)
	if err != nil {
		return p, err
	}
	return p, json.Unmarshal(text, &p)
}

// Stream is an agent with a key on a WebSocket.
type Stream struct {
	t      testing.TB
	ws     *websocket.Conn
	pushed []Arrived // while it waited for answers
	asked  int
}

// Arrived is a message of a stream.
type Arrived struct {
	Type, Subscription, From, Content, Kind, Namespace string

	ID        json.RawMessage
	Watermark uint64
	Result    json.RawMessage
	Error     *struct{ Code, Message string }
	Payload   json.RawMessage
	Text      string `json:"-"` // all of it
}

// Stream opens a stream with a key.
func (s *Server) Stream(key operator.IssuedKey) *Stream {
	s.T.Helper()
	ws, _, err := DialStream(s.T.Context(), s.URL(), key.Secret, nil)
	if err != nil {
		s.T.Fatalf("open a stream: %v", err)
	}
	s.T.Cleanup(func() { ws.CloseNow() })
	return &Stream{t: s.T, ws: ws}
}

// Send sends a message.
func (p *Stream) Send(message any) {
	p.t.Helper()
	text, err := json.Marshal(message)
	if err == nil {
		err = p.ws.Write(p.t.Context(), websocket.MessageText, text)
	}
	if err != nil {
		p.t.Fatalf("send %v: %v", message, err)
	}
}

// Read reads the next message, which comes within await.Limit.
func (p *Stream) Read(ctx context.Context) (m Arrived) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, await.Limit)
	defer cancel()
	_, text, err := p.ws.Read(ctx)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil {
		p.t.Fatalf("read the next message: %v", err)
	}
	m.Text = string(text)
	return m
}

// Await reads until something came, beside watermarks and what was pushed, which it keeps.
func (p *Stream) Await(is func(Arrived) bool) Arrived {
	p.t.Helper()
	for {
		m := p.Read(p.t.Context())
		if is(m) {
			return m
		}
		if m.Type == "error" {
			p.t.Fatalf("an error came: %s", m.Text)
		}
		if m.Type != "watermark" {
			p.pushed = append(p.pushed, m)
		}
	}
}

// Next returns what was pushed next.
func (p *Stream) Next() Arrived {
	p.t.Helper()
	if len(p.pushed) == 0 {
		return p.Await(func(m Arrived) bool { return m.Type == "event" || m.Type == "message" })
	}
	m := p.pushed[0]
	p.pushed = p.pushed[1:]
	return m
}

// Forget drops what was pushed and not read.
func (p *Stream) Forget() { p.pushed = nil }

// Subscribe follows what happens from now on, or what the members say.
func (p *Stream) Subscribe(members map[string]any) {
	p.t.Helper()
	m := map[string]any{"type": "subscribe", "id": "s"}
	for name, v := range members {
		m[name] = v
	}
	p.Send(m)
	p.Await(func(m Arrived) bool { return m.Type == "subscribed" })
}

// Operate runs an operation, and returns its answer.
func (p *Stream) Operate(method string, params, options map[string]any) Arrived {
	p.t.Helper()
	p.asked++
	p.Send(map[string]any{"id": p.asked, "method": method, "params": params, "options": options})
	id, err := json.Marshal(p.asked)
	if err != nil {
		p.t.Fatalf("write an id: %v", err)
	}
	return p.Await(func(m Arrived) bool { return m.Type == "answer" && string(m.ID) == string(id) })
}

// Ask calls a tool, and reads its result into result unless that is nil.
func (p *Stream) Ask(method string, params map[string]any, result any) {
	p.t.Helper()
	m := p.Operate(method, params, nil)
	if m.Error != nil {
		p.t.Fatalf("%s of %v: %s", method, params, m.Text)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			p.t.Fatalf("%s %v: %v in %s", method, params, err, m.Text)
		}
	}
}

// Refused calls a tool that is refused.
func (p *Stream) Refused(code, method string, params map[string]any) {
	p.t.Helper()
	if m := p.Operate(method, params, nil); m.Error == nil || m.Error.Code != code {
		p.t.Errorf("%s %v is answered with %s, want %s", method, params, m.Text, code)
	}
}
