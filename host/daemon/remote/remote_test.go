package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// dialed is a connection to a server that answers /readyz, and everything else as told.
func dialed(t *testing.T, hello owner.Hello, answer http.HandlerFunc) (*Conn, *bufio.Reader) {
	t.Helper()
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/readyz":
			io.WriteString(w, "ready\n")
		case r.Method != http.MethodDelete:
			answer(w, r)
		}
	}))
	t.Cleanup(far.Close)
	s, err := New(Options{URL: far.URL, Key: "k", Program: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Dial(t.Context(), hello)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c, bufio.NewReader(c)
}

func send(t *testing.T, c *Conn, line string) {
	t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func reads(t *testing.T, from *bufio.Reader, want string) {
	t.Helper()
	if got, err := from.ReadString('\n'); err != nil || got != want+"\n" {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestAnAnswerIsOneLineHoweverTheServerWritesIt(t *testing.T) {
	for name, answer := range map[string]struct{ kind, body string }{
		"compact JSON":  {"application/json", `{"jsonrpc":"2.0","id":1,"result":{"n":1.10}}` + "\n"},
		"indented JSON": {"application/json", "{\n \"jsonrpc\": \"2.0\",\n \"id\": 1, \"result\": {\"n\": 1.10}\n}"},
		"an event":      {eventStream, ": a proxy says hello\r\n\r\nevent: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\r\ndata:\"result\":{\"n\":1.10}}\r\n\r\n"},
	} {
		c, in := dialed(t, owner.Hello{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", answer.kind)
			io.WriteString(w, answer.body)
		})
		send(t, c, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		got, err := in.ReadString('\n')
		if want := `{"jsonrpc":"2.0","id":1,"result":{"n":1.10}}`; err != nil || got != want+"\n" {
			t.Errorf("%s: got %q, %v; want %q", name, got, err, want)
		}
	}
}

func TestNoticesBeforeAnAnswerArriveBeforeIt(t *testing.T) {
	c, in := dialed(t, owner.Hello{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", eventStream)
		io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
	})
	send(t, c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_load_family"}}`)
	reads(t, in, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	reads(t, in, `{"jsonrpc":"2.0","id":1,"result":{}}`)
}

func TestTheSessionOfAnInitializationIsInAllThatFollows(t *testing.T) {
	var got atomic.Value
	c, in := dialed(t, owner.Hello{Namespace: "notes", Branch: "idea", Agent: "ann", Profile: "full", Families: []string{"a", "b"}, ReadOnly: true}, func(w http.ResponseWriter, r *http.Request) {
		got.Store(fmt.Sprintf("%s %s %s %s", r.Header.Get("Authorization"), r.Header.Get(sessionHeader), r.Header.Get(versionHeader), r.URL.RawQuery))
		w.Header().Set(sessionHeader, "s1")
		io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18"}}`)
	})
	send(t, c, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
	in.ReadString('\n')
	send(t, c, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	in.ReadString('\n')
	if want := "Bearer k s1 2025-06-18 agent=ann&branch=idea&families=a%2Cb&namespace=notes&profile=full&read_only=true"; got.Load() != want {
		t.Errorf("got %v, want %q", got.Load(), want)
	}
}

func TestAClientWithoutSessionsRepeatsMethodAndNameInHeaders(t *testing.T) {
	for name, want := range map[string]string{"memory_store": "memory_store", "größe": "=?base64?Z3LDtsOfZQ==?="} {
		var got atomic.Value
		c, in := dialed(t, owner.Hello{}, func(w http.ResponseWriter, r *http.Request) {
			got.Store(r.Header.Get(versionHeader) + " " + r.Header.Get(methodHeader) + " " + r.Header.Get(nameHeader))
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		})
		send(t, c, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		in.ReadString('\n')
		if want := "2026-07-28 tools/call " + want; got.Load() != want {
			t.Errorf("%s: got %v, want %q", name, got.Load(), want)
		}
	}
}

func TestWhatTheServerRefusesIsAnsweredWithItsWords(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{401, `{"error":{"code":"denied","message":"the key was revoked"}}`, `"code":"denied"`},
		{401, `{"error":{"code":"denied","message":"the key was revoked"}}`, `answers 401: the key was revoked (here: ALCOVE_KEY, or --key-file FILE)`},
		{403, `{"error":{"code":"denied","message":"the host is not this server"}}`, `answers 403: the host is not this server`},
		{429, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"too fast","data":{"code":"exhausted"}}}`, `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"too fast","data":{"code":"exhausted"}}}`},
		{404, "<html>no such page</html>", `is the address that of an alcove server?`},
		{200, "<html>welcome</html>", `is not MCP: is the address that of an alcove server?`},
	} {
		conn, in := dialed(t, owner.Hello{}, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			io.WriteString(w, c.body)
		})
		send(t, conn, `{"jsonrpc":"2.0","id":7,"method":"ping"}`)
		if got, err := in.ReadString('\n'); err != nil || !strings.Contains(got, c.want) || !strings.Contains(got, `"id":7`) {
			t.Errorf("%d %s: got %q, %v; want %q", c.status, c.body, got, err, c.want)
		}
	}
}

func TestAConnectionEndsWithItsSessionAndItsServer(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"the session is unknown": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"the server is stopping": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"error":{"code":"unavailable","message":"stopping"}}`)
		},
		"a proxy finds no server": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) },
		"the stream breaks off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", eventStream)
			io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":2,")
		},
	} {
		c, in := dialed(t, owner.Hello{}, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(sessionHeader) != "" {
				answer(w, r)
				return
			}
			w.Header().Set(sessionHeader, "s1")
			io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
		})
		send(t, c, `{"jsonrpc":"2.0","id":1,"method":"initialize"}`)
		in.ReadString('\n')
		send(t, c, `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
		if got, err := in.ReadString('\n'); err == nil {
			t.Errorf("%s: got %q, want the end of the connection", name, got)
		}
	}
}

func TestAServerThatWasReachedIsWaitedForAndAnUnknownOneIsNot(t *testing.T) {
	var looks atomic.Int32
	far := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if looks.Add(1) == 2 {
			w.WriteHeader(http.StatusBadGateway)
		}
	}))
	s, err := New(Options{URL: far.URL, Wait: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c, err := s.Dial(t.Context(), owner.Hello{})
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	if looks.Load() != 3 {
		t.Errorf("the server was looked for %d times, want 3: once, and again until it was back", looks.Load())
	}
	far.Close()
	if s, err = New(Options{URL: far.URL, Wait: time.Hour}); err != nil {
		t.Fatal(err)
	}
	var refused *owner.Refusal
	if _, err := s.Dial(t.Context(), owner.Hello{}); !errors.As(err, &refused) || refused.Code != "unavailable" {
		t.Errorf("a server that is not there: got %v, want a refusal at once", err)
	}
}

func TestURLsAndKeysThatCannotBeAreRefused(t *testing.T) {
	for _, c := range []struct{ url, key, want string }{
		{"memory.example:9742", "", "is not the URL of a server"},
		{"ftp://memory.example", "", "is not the URL of a server"},
		{"https://ann:secret@memory.example", "", "has no user"},
		{"https://memory.example/" + strings.Repeat("x", longestURL), "", "at most 2048 are allowed"},
		{"http://memory.example", "k", "would show the key to everybody"},
		{"https://memory.example", "two words", "must be one word of at most 4096 bytes"},
		{"https://memory.example", strings.Repeat("k", longestKey+1), "must be one word of at most 4096 bytes"},
	} {
		if _, err := New(Options{URL: c.url, Key: c.key}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40s with the key %.20q: got %v, want %q", c.url, c.key, err, c.want)
		}
	}
	for given, want := range map[string]string{
		"https://memory.example": "https://memory.example/mcp", "https://memory.example/": "https://memory.example/mcp",
		"https://memory.example/team/mcp/": "https://memory.example/team/mcp", "http://[::1]:9742/mcp": "http://[::1]:9742/mcp",
	} {
		if s, err := New(Options{URL: given, Key: "k"}); err != nil || s.URL() != want {
			t.Errorf("%s: got %v, want %s", given, err, want)
		}
	}
}
