package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/internal/jsonrpc"
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
