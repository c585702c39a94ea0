package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
	"github.com/alcove-memory/alcove/host/tool"
)

// bridged sends lines to a server as a stdio client does, which then closes its side, and gives the answers. It fails when
// the bridge waits for an answer that the server does not give.
func bridged(t testing.TB, s *Server, lines string) (answers []jsonrpc.Message) {
	t.Helper()
	var out bytes.Buffer
	dial := func(ctx context.Context, _ bridge.SessionState) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer ours.Close()
			s.ServeConn(ctx, ours, ours, owner()) // a connection that breaks is the bridge's to notice
		}()
		return theirs, nil
	}
	if err := bridge.Run(t.Context(), bridge.Options{Dial: dial, In: strings.NewReader(lines), Out: &out, Drain: patience}); err != nil {
		t.Fatalf("bridge of %q: %v", lines, err)
	}
	for line := range strings.Lines(out.String()) {
		m, fault := jsonrpc.Parse([]byte(line))
		if fault != nil {
			t.Fatalf("%q is answered with %q: %v", lines, line, fault)
		}
		if m.IsAnswer() {
			answers = append(answers, m)
		}
	}
	return answers
}

// resumption is a session over a bridge, whose owners each serve with a server of their own until the test ends their connection.
type resumption struct {
	*peer
	resumed chan bridge.SessionState // where each owner was told that the session is
	hangUp  chan func()              // ends the connection to an owner
}

func resume(t *testing.T, s *Server) *resumption {
	t.Helper()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	r := &resumption{resumed: make(chan bridge.SessionState, 8), hangUp: make(chan func(), 8)}
	r.peer = &peer{t: t, in: client, lines: make(chan []byte, 64), waiting: map[string]chan []byte{}}
	dial := func(ctx context.Context, at bridge.SessionState) (io.ReadWriteCloser, error) {
		ours, theirs := net.Pipe()
		session := owner()
		session.Branch, session.Namespace, session.Families = at.Branch, at.Namespace, at.Families
		go s.ServeConn(ctx, ours, ours, session)
		r.resumed <- at
		r.hangUp <- func() { ours.Close() }
		return theirs, nil
	}
	ended := make(chan error, 1)
	go func() {
		ended <- bridge.Run(t.Context(), bridge.Options{Dial: dial, In: in, Out: out, Drain: patience})
		out.Close()
	}()
	go r.read(answers)
	t.Cleanup(func() {
		client.Close()
		if err := <-ended; err != nil {
			t.Errorf("the bridge ended with %v", err)
		}
	})
	return r
}

// next ends the connection to the owner, and returns where the next one is told that the session is.
func (r *resumption) next() bridge.SessionState {
	r.t.Helper()
	<-r.resumed
	(<-r.hangUp)()
	r.request("ping", "{}") // the bridge looks for another owner when it has a request
	at := <-r.resumed
	r.resumed <- at
	return at
}

// TestWhateverMovesASessionItGoesOnThere moves sessions by tools of which the bridge knows nothing.
func TestWhateverMovesASessionItGoesOnThere(t *testing.T) {
	families := newFake()
	s := newServer(t, Options{}, families)
	move := tool.Spec{Name: "memory_wander", Aliases: []string{"memory_stray"}, Description: "x", Input: json.RawMessage(`{"type":"object"}`), Lenient: true}
	move.Handler = func(_ context.Context, c *tool.Call) (tool.Answer, error) {
		c.Session.Move(c.Arguments.Text("to"), "notes")
		if c.Arguments.Text("to") == "astray" {
			return tool.Answer{}, errors.New("lost")
		}
		return tool.Answer{Structured: "x", Plain: "x"}, nil
	}
	if err := s.registry.Add(move); err != nil {
		t.Fatalf("add a tool: %v", err)
	}
	for name, c := range map[string]struct{ tool, arguments, want string }{
		"an alias":               {"memory.stray", `{"to":"idea"}`, `{"branch":"idea","namespace":"notes","families":[]}`},
		"an operation":           {"memory_operation", `{"method":"memory_wander","params":{"to":"idea"}}`, `{"branch":"idea","namespace":"notes","families":[]}`},
		"a call that then fails": {"memory_wander", `{"to":"astray"}`, `{"branch":"astray","namespace":"notes","families":[]}`},
		"a family's tool":        {"memory_tag_suggest", `{"text":"x"}`, `{"branch":"default","namespace":"default","families":["auto-tag"]}`},
		"loading":                {"memory_load_family", `{"family":"site"}`, `{"branch":"default","namespace":"default","families":["site"]}`},
		"a call that moves not":  {"memory_status", `{}`, `{"branch":"","namespace":"","families":null}`},
		"a switch that fails":    {"memory_branch", `{"action":"switch","name":"nowhere"}`, `{"branch":"","namespace":"","families":null}`},
	} {
		t.Run(name, func(t *testing.T) {
			r := resume(t, s)
			r.initialize("t")
			line := r.request("tools/call", `{"name":"`+c.tool+`","arguments":`+c.arguments+`}`)
			if strings.Contains(line, sessionMeta) {
				t.Errorf("the client was told %s", line)
			}
			if got := mustJSON(r.next()); got != c.want {
				t.Errorf("the next server resumes at %s, want %s", got, c.want)
			}
		})
	}
}

func TestOnlyBridgesAreToldWhereTheirSessionIs(t *testing.T) {
	s := newServer(t, Options{}, newFake())
	load := `{"name":"memory_load_family","arguments":{"family":"site"}}`
	p := connect(t, s, Session{}).initialize("t")
	plain := p.request("tools/call", load)
	if strings.Contains(plain, sessionMeta) {
		t.Errorf("a client is told %s", plain)
	}
	b := connect(t, s, Session{})
	b.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"},"_meta":{"alcove/bridge":true}}`)
	told := b.request("tools/call", load)
	const state = `"_meta":{"alcove/session":{"branch":"default","namespace":"default","families":["site"],"changes":1}},`
	if without := strings.Replace(told, state, "", 1); without == told || without != plain {
		t.Errorf("a bridge is told %s, want %s with %s", told, plain, state)
	}
	if again := b.request("tools/call", load); strings.Contains(again, sessionMeta) {
		t.Errorf("a bridge is told what it knows: %s", again)
	}
}

func TestABridgeOverHTTPIsToldByTheNextServer(t *testing.T) {
	f, space, kept := newFake(), newSpace(t), &keptMap{byID: map[string][2]string{}}
	first := keyed(t, newServerOf(t, space, Options{Kept: kept}, f))
	response, text := post(t, first, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"},"_meta":{"alcove/bridge":true}}}`, nil)
	session := map[string]string{"Mcp-Session-Id": response.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version": "2025-11-25"}
	second := keyed(t, newServerOf(t, space, Options{Kept: kept}, f))
	for i, each := range []struct{ url, family, want string }{{first, "site", `["site"]`}, {second, "auto-tag", `["auto-tag","site"]`}} {
		_, told := post(t, each.url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_load_family","arguments":{"family":"`+each.family+`"}}}`, session)
		if want := `"alcove/session":{"branch":"default","namespace":"default","families":` + each.want; !strings.Contains(told, want) {
			t.Errorf("server %d, which began with %s, tells %s, want %s", i, text, told, want)
		}
	}
}

// oddLines are messages that readers of JSON understand differently.
func oddLines() []string {
	return []string{
		`{"jsonrpc":"2.0","id":1,"ID":2,"method":"ping"}`, `{"jsonrpc":"2.0","ID":2,"id":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"ping"}`, `{"jsonrpc":"2.0","\u0069d":3,"method":"ping"}`, `{"jsonrpc":"2.0","Id":3,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","METHOD":"notifications/x"}`, `{"jsonrpc":"2.0","id":1,"method":"ping","method":"notifications/x"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"ping","Result":{}}`, `{"jsonrpc":"2.0","id":1,"method":"ping","error":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":null}`, `{"jsonrpc":"2.0","id":1,"method":["ping"]}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1e400,"method":"ping"}`, `{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}`, `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, `{"jsonrpc":"2.0","id":-0,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, `{"jsonrpc":"2.0","id":"","method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","NAME":"x"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","_meta":null}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","_meta":7}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","_META":{"alcove/request-id":7}}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","_meta":{"alcove/request-id":7}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","_meta":{"a":1e400}}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_status","arguments":{"a":1,"a":2}}}`, `{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":7}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1}`, `[]`, `{`, "\xff", `{"jsonrpc":"2.0","id":1,"method":"\u0070ing"}`, `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}`, `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + modernMeta + `}}`,
	}
}

func TestEachOddMessageIsAnsweredOnceThroughTheBridge(t *testing.T) {
	s := newServer(t, Options{})
	for _, line := range oddLines() {
		checkBridged(t, s, line)
	}
}

// FuzzBridgeAndServerAgree sends any line through a bridge to a server. When both read it alike, every request is answered,
// and the bridge ends with its client.
func FuzzBridgeAndServerAgree(f *testing.F) {
	for _, line := range oddLines() {
		f.Add(line)
	}
	s := newServer(f, Options{})
	f.Fuzz(func(t *testing.T, line string) { checkBridged(t, s, line) })
}

// checkBridged checks that a line is answered once, if it wants that, and what follows it is, too.
func checkBridged(t testing.TB, s *Server, line string) {
	t.Helper()
	if strings.Contains(line, "\n") || len(line) > 1<<16 {
		return
	}
	const after = `{"jsonrpc":"2.0","id":"after all","method":"ping"}`
	answers := bridged(t, s, line+"\n"+after+"\n")
	want := map[string]int{"safter all": 1}
	m, fault := jsonrpc.Parse([]byte(line))
	switch {
	case len(strings.TrimSpace(line)) == 0:
	case fault != nil && fault.ID != nil:
		want[jsonrpc.Key(fault.ID)]++
	case fault != nil:
		want["null"]++
	case m.IsRequest():
		want[m.Key()]++
	}
	got := map[string]int{}
	for _, a := range answers {
		if id := string(a.RawID()); id == "null" || id == "" {
			got["null"]++
			continue
		}
		got[a.Key()]++
	}
	if m.Method == methodListen { // it ends with its client, who may not hear of it
		delete(want, m.Key())
		delete(got, m.Key())
	}
	if a, b := mustJSON(got), mustJSON(want); a != b {
		t.Errorf("%q: answers %s, not %s", line, a, b)
	}
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
