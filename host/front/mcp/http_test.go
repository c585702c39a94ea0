package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/alcove-memory/alcove/host/front/connection"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func serveHTTP(t *testing.T, s *Server) string {
	t.Helper()
	h := httptest.NewServer(as(owner(), s.Handler()))
	t.Cleanup(h.Close)
	return h.URL
}

func TestTheLibrarysClientUsesEveryToolOverHTTP(t *testing.T) {
	for _, version := range []string{protocol.LATEST_LEGACY_PROTOCOL_VERSION, protocol.ProtocolVersion20260728} {
		t.Run(version, func(t *testing.T) {
			c, err := client.NewStreamableHttpClient(serveHTTP(t, newServer(t, Options{})))
			if err != nil {
				t.Fatal(err)
			}
			start(t, c, version)
			drive(t, c)
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// post sends a message.
func post(t testing.TB, url, body string, headers map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(text)
}

func begin(t testing.TB, url string) (session map[string]string) {
	t.Helper()
	response, text := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"web","version":"1"}}}`, nil)
	id := response.Header.Get("Mcp-Session-Id")
	if id == "" {
		t.Fatalf("no session: %d %s", response.StatusCode, text)
	}
	return map[string]string{"Mcp-Session-Id": id, "Mcp-Protocol-Version": "2025-11-25"}
}

func callOver(t testing.TB, url, tool, arguments string, headers map[string]string) outcome {
	t.Helper()
	_, text := post(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool, arguments), headers)
	return parseOutcome(t, tool, []byte(text))
}

// modernHeaders are what a client of 2026-07-28 sends along.
func modernHeaders(method, tool string) map[string]string {
	return map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": tool}
}

func callModern(t testing.TB, url, tool, arguments string) outcome {
	t.Helper()
	_, text := post(t, url, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s,%s}}`, tool, arguments, modernMeta),
		modernHeaders("tools/call", tool))
	return parseOutcome(t, tool, []byte(text))
}

func TestSwitchingLastsForItsSessionOverHTTP(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	first, second := begin(t, url), begin(t, url)
	callOver(t, url, "memory_branch", `{"action":"create","name":"mine"}`, first)
	callOver(t, url, "memory_branch", `{"action":"switch","name":"mine"}`, first)
	if got := callOver(t, url, "memory_status", `{}`, first).field("branch"); got != `"mine"` {
		t.Errorf("the first session is on %s", got)
	}
	if got := callOver(t, url, "memory_status", `{}`, second).field("branch"); got != `"default"` {
		t.Errorf("the second session is on %s", got)
	}
}

func TestInTheStatelessProtocolSwitchingSaysWhatToPass(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	callModern(t, url, "memory_branch", `{"action":"create","name":"mine"}`)
	o := callModern(t, url, "memory_branch", `{"action":"switch","name":"mine"}`)
	if o.field("current") != `"mine"` || !strings.Contains(o.text, `pass branch=\"mine\"`) {
		t.Errorf("switched with %s", o.text)
	}
	if got := callModern(t, url, "memory_status", `{}`).field("branch"); got != `"default"` {
		t.Errorf("the next call is on %s", got)
	}
	if got := callModern(t, url, "memory_status", `{"branch":"mine"}`).field("branch"); got != `"mine"` {
		t.Errorf("told so, a call is on %s", got)
	}
}

func TestASessionThatEndedIsUnknown(t *testing.T) {
	s := newServer(t, Options{})
	url := serveHTTP(t, s)
	session := begin(t, url)
	r, err := http.NewRequest("DELETE", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range session {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	after, _ := post(t, url, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, session)
	if response.StatusCode != 200 || after.StatusCode != 404 {
		t.Errorf("ended with %d; afterwards %d", response.StatusCode, after.StatusCode)
	}
	if s.sessions.mu.Lock(); len(s.sessions.byID) != 0 {
		t.Errorf("%d sessions are still kept", len(s.sessions.byID))
	}
	s.sessions.mu.Unlock()
}

func TestASessionOfAnEarlierServerIsUnknown(t *testing.T) {
	first, second := serveHTTP(t, newServer(t, Options{})), serveHTTP(t, newServer(t, Options{}))
	response, _ := post(t, second, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, begin(t, first))
	if response.StatusCode != 404 {
		t.Errorf("it is answered with %d", response.StatusCode)
	}
}

func TestSessionsAreLimited(t *testing.T) {
	s := newServer(t, Options{})
	s.sessions.limit = 2
	url := serveHTTP(t, s)
	begin(t, url)
	begin(t, url)
	response, text := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"web","version":"1"}}}`, nil)
	if response.StatusCode != 503 || !strings.Contains(text, "2 sessions are open") {
		t.Errorf("answered %d %s", response.StatusCode, text)
	}
	if callModern(t, url, "memory_status", `{}`).failed != nil {
		t.Error("the stateless protocol needs a session")
	}
}

func TestBadBodiesAreRefused(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{Limits: connection.Limits{Message: 1 << 20}}))
	session := begin(t, url)
	for _, c := range []struct {
		name, body string
		headers    map[string]string
		status     int
		want       string
	}{
		{"too long", `{"a":"` + strings.Repeat("x", 1<<20) + `"}`, session, 413, "1048576 bytes"},
		{"garbage", `garbage`, session, 400, "not valid JSON"},
		{"empty", ``, session, 400, "not valid JSON"},
		{"not UTF-8", "{\"a\":\"\xff\"}", session, 400, "not valid UTF-8"},
		{"a batch", `[]`, session, 400, "no batches"},
		{"no session", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, nil, 400, "send initialize first"},
		{"an unknown session", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, map[string]string{"Mcp-Session-Id": "alcove-x"}, 404, ""},
		{"an unknown tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember"}}`, session, 200, "the tools are memory_store"},
		{"an unknown tool, stateless", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember",` + modernMeta + `}}`, modernHeaders("tools/call", "remember"), 400, "the tools are memory_store"},
		{"a cursor of no page", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"a cursor!"}}`, session, 400, `"code":-32602,"message":"the cursor \"a cursor!\" belongs to no page: leave it out, tools/list lists all tools at once"`},
		{"headers that say something else", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_forget","arguments":{"key":"k"},` + modernMeta + `}}`, modernHeaders("tools/call", "memory_recall"), 400, "Mcp-Name"},
	} {
		response, text := post(t, url, c.body, c.headers)
		if response.StatusCode != c.status || !strings.Contains(text, c.want) {
			t.Errorf("%s: answered %d %s", c.name, response.StatusCode, text)
		}
	}
}

func TestHeadersThatContradictACallAreRefusedBeforeItsToolIsLookedFor(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	for _, c := range []struct {
		name    string
		headers map[string]string
		code    int
	}{
		{"another method", modernHeaders("prompts/get", "nosuch"), protocol.HEADER_MISMATCH},
		{"another name", modernHeaders("tools/call", "memory_recall"), protocol.HEADER_MISMATCH},
		{"the same", modernHeaders("tools/call", "nosuch"), protocol.INVALID_PARAMS},
	} {
		_, text := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nosuch",`+modernMeta+`}}`, c.headers)
		if want := fmt.Sprintf(`"code":%d`, c.code); !strings.Contains(text, want) {
			t.Errorf("headers with %s are answered %s, want %s", c.name, text, want)
		}
	}
}

func TestOverHTTPValuesRoundTripToTheByte(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	session := begin(t, url)
	value := `{"n":123456789012345678901234567890,"e":1e400,"h":"<&>"}`
	if o := callOver(t, url, "memory_store", `{"key":"k","value":`+value+`}`, session); o.failed != nil {
		t.Fatalf("memory_store: %s, want it stored", o.text)
	}
	o := callOver(t, url, "memory_recall", `{"key":"k"}`, session)
	if !strings.Contains(o.text, `"value":`+value) {
		t.Errorf("recalled %s", o.text)
	}
}

func TestACallOverHTTPStopsWhenItsClientHangsUp(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	url := serveHTTP(t, s)
	session := begin(t, url)
	ctx, cancel := context.WithCancel(context.Background())
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range session {
		r.Header.Set(name, value)
	}
	gone := make(chan error, 1)
	go func() {
		_, err := http.DefaultClient.Do(r)
		gone <- err
	}()
	await.Value(t, "the call", w.begun)
	cancel()
	await.Value(t, "hanging up", gone)
	if err := await.Value(t, "the cancellation", w.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestACancellationReachesTheClientsOwnRequestsOnly(t *testing.T) {
	s := newServer(t, Options{})
	w := addSlow(t, s)
	url := serveHTTP(t, s)
	session, other := begin(t, url), begin(t, url)
	answered := make(chan string, 2)
	go func() {
		_, text := post(t, url, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow"}}`, session)
		answered <- text
	}()
	go func() {
		_, text := post(t, url, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"slow",`+modernMeta+`}}`, modernHeaders("tools/call", "slow"))
		answered <- text
	}()
	await.Value(t, "a call", w.begun)
	await.Value(t, "a call", w.begun)
	cancelled := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}`
	post(t, url, cancelled, other)
	if response, _ := post(t, url, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,`+modernMeta+`}}`,
		modernHeaders("notifications/cancelled", "")); response.StatusCode != 202 {
		t.Errorf("a stateless cancellation is answered with %d", response.StatusCode)
	}
	select {
	case err := <-w.ended:
		t.Errorf("somebody else's request ended: %v", err)
	default:
	}
	post(t, url, cancelled, session)
	if err := await.Value(t, "the cancellation", w.ended); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	close(w.release)
	await.Value(t, "an answer", answered)
	await.Value(t, "an answer", answered)
}

func TestWhoAsksOverHTTPIsSaidByTheContext(t *testing.T) {
	s := newServer(t, Options{})
	inner := s.Handler()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := Session{Agent: "ada", Namespace: "work", Rights: owner().Rights}
		if r.Header.Get("X-Reader") != "" {
			session.Rights = session.Rights.ReadOnly()
		}
		as(session, inner).ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	callModern(t, h.URL, "memory_store", `{"key":"k","value":1}`)
	o := callModern(t, h.URL, "memory_recall", `{"key":"k"}`)
	if o.field("agent") != `"ada"` {
		t.Errorf("recalled %s", o.text)
	}
	if got := callModern(t, h.URL, "memory_status", `{}`).field("namespace"); got != `"work"` {
		t.Errorf("the namespace is %s", got)
	}
	session := begin(t, h.URL)
	session["X-Reader"] = "yes"
	if o := callOver(t, h.URL, "memory_store", `{"key":"k","value":2}`, session); o.failed == nil {
		t.Error("a reader wrote, in a session that a writer began")
	}
}

func TestAClosedServerRefusesRequests(t *testing.T) {
	s := newServer(t, Options{})
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/mcp", bytes.NewReader(nil)))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("answered %d", w.Code)
	}
}

func TestToolListsOverHTTPAreTheSameInBothEras(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	_, legacy := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, begin(t, url))
	_, modern := post(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+modernMeta+`}}`, modernHeaders("tools/list", ""))
	var a, b struct {
		Result struct{ Tools json.RawMessage }
	}
	if json.Unmarshal([]byte(legacy), &a) != nil || json.Unmarshal([]byte(modern), &b) != nil || !bytes.Equal(a.Result.Tools, b.Result.Tools) || len(a.Result.Tools) < 1000 {
		t.Errorf("the lists are %s and %s", legacy, modern)
	}
}

func TestAClientThatListensIsToldSoBeforeItsStreamEnds(t *testing.T) {
	url := serveHTTP(t, newServer(t, Options{}))
	for range 300 {
		_, text := post(t, url, `{"jsonrpc":"2.0","id":"sub","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},`+modernMeta+`}}`,
			map[string]string{"Mcp-Protocol-Version": protocol.ProtocolVersion20260728, "Mcp-Method": "subscriptions/listen"})
		acknowledged, ended := strings.Index(text, "notifications/subscriptions/acknowledged"), strings.Index(text, `"result"`)
		if acknowledged < 0 || ended < acknowledged {
			t.Fatalf("it was told %s", text)
		}
	}
}
