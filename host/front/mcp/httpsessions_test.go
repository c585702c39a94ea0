package mcp

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// keptMap keeps sessions in memory, across the servers of a test.
type keptMap struct {
	mu   sync.Mutex
	byID map[string][2]string
	puts int
}

func (k *keptMap) Put(id, key string, state []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byID[id] = [2]string{key, string(state)}
	k.puts++
}

func (k *keptMap) Get(id string) (key string, state []byte, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s, ok := k.byID[id]
	return s[0], []byte(s[1]), ok
}

func (k *keptMap) Delete(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.byID, id)
}

// keyed serves clients whose key is in a header of theirs.
func keyed(t *testing.T, s *Server) string {
	t.Helper()
	inner := s.Handler()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := owner()
		session.Key = r.Header.Get("X-Key")
		as(session, inner).ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	return h.URL
}

func ask(t *testing.T, method, url string, headers map[string]string) (status int) {
	t.Helper()
	r, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	return response.StatusCode
}

func TestTheNextServerTakesUpASessionWhereItWas(t *testing.T) {
	f, space, kept := newFake(), newSpace(t), &keptMap{byID: map[string][2]string{}}
	first := keyed(t, newServerOf(t, space, Options{Kept: kept}, f))
	session := begin(t, first)
	post(t, first, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_load_family","arguments":{"family":"auto-tag"}}}`, session)
	callOver(t, first, "memory_branch", `{"action":"create","name":"mine"}`, session)
	callOver(t, first, "memory_branch", `{"action":"switch","name":"mine"}`, session)
	const list = `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`
	_, before := post(t, first, list, session)
	if !strings.Contains(before, "memory_auto_tag") {
		t.Fatalf("before the restart the list is %s", before)
	}

	second := keyed(t, newServerOf(t, space, Options{Kept: kept}, f)) // the first was killed
	other := map[string]string{"X-Key": "other", "Mcp-Session-Id": session["Mcp-Session-Id"], "Mcp-Protocol-Version": "2025-11-25"}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for _, each := range []struct {
		what, url string
		headers   map[string]string
	}{{"another key", second, other}, {"another profile", second + "/?profile=full", session}} {
		if response, text := post(t, each.url, ping, each.headers); response.StatusCode != 404 {
			t.Errorf("%s: got %d %s, want 404", each.what, response.StatusCode, text)
		}
	}
	o := callOver(t, second, "memory_status", `{}`, session)
	if got := o.field("branch"); got != `"mine"` {
		t.Errorf("the session is on %s, want mine", got)
	}
	if _, after := post(t, second, list, session); after != before {
		t.Errorf("the list is %s, want %s", after, before)
	}
	if got := callOver(t, second, "memory_store", `{"key":"k","value":1}`, session); got.failed != nil {
		t.Errorf("storing failed: %s", got.text)
	}
	if got := callOver(t, second, "memory_recall", `{"key":"k"}`, session).field("agent"); got != `"web"` {
		t.Errorf("the agent is %s, want the client's name, web", got)
	}
	if response, _ := post(t, second, ping, other); response.StatusCode != 404 {
		t.Errorf("another key gets %d once the session is open, want 404", response.StatusCode)
	}
	if status := ask(t, "DELETE", second, session); status != 200 {
		t.Fatalf("ending it is answered with %d", status)
	}
	third := keyed(t, newServerOf(t, space, Options{Kept: kept}, f))
	if response, _ := post(t, third, ping, session); response.StatusCode != 404 {
		t.Errorf("after its end, it is answered with %d, want 404", response.StatusCode)
	}
}

func TestCallsThatChangeNothingInASessionKeepNothing(t *testing.T) {
	kept := &keptMap{byID: map[string][2]string{}}
	url := serveHTTP(t, newServer(t, Options{Kept: kept}))
	session := begin(t, url)
	for range 5 {
		callOver(t, url, "memory_status", `{}`, session)
	}
	if kept.puts != 1 {
		t.Errorf("it was kept %d times, want once", kept.puts)
	}
}

func TestASessionOutlastsAServerThatStops(t *testing.T) {
	kept := &keptMap{byID: map[string][2]string{}}
	s := newServer(t, Options{Kept: kept})
	session := begin(t, serveHTTP(t, s))
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	response, text := post(t, serveHTTP(t, newServer(t, Options{Kept: kept})), `{"jsonrpc":"2.0","id":2,"method":"ping"}`, session)
	if response.StatusCode != 200 {
		t.Errorf("the next server answers %d %s, want 200", response.StatusCode, text)
	}
}

func TestAStreamWithoutASessionBeginsNone(t *testing.T) {
	kept := &keptMap{byID: map[string][2]string{}}
	s := newServer(t, Options{Kept: kept})
	url := serveHTTP(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	if response.StatusCode != 400 || len(s.sessions.byID) != 0 || kept.puts != 0 {
		t.Errorf("answered %d, with %d sessions open and %d kept; want 400 and none", response.StatusCode, len(s.sessions.byID), kept.puts)
	}
}
