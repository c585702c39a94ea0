package console_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestMain(m *testing.M) { os.Exit(server.Main(m, server.Child{})) }

// who is the answer to a login.
type who struct {
	Operator  bool
	Agent     string
	Namespace string
	ReadOnly  bool `json:"read_only"`
	Locked    bool
	Version   string
	CSRF      string
	Rights    struct{ Read, Write, Further []string }
}

// browser is a browser in which the console is open.
type browser struct {
	t      *testing.T
	url    string // of the console
	client *http.Client
	who    who
}

func newBrowser(t *testing.T, s *server.Server) *browser {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t: t, url: s.URL() + "/console/", client: &http.Client{Jar: jar}}
}

// ticketOf returns a ticket of the operator.
func ticketOf(t *testing.T, s *server.Server) string {
	t.Helper()
	issued, err := operator.Query(t.Context(), s.Acts, operator.OpenConsole)
	if err != nil {
		t.Fatalf("ask for a ticket: %v", err)
	}
	address, ticket, _ := strings.Cut(issued.Address, "#ticket=")
	if want := s.URL() + "/console/"; address != want || ticket == "" {
		t.Fatalf("the console's address is %q, want one at %s with a ticket", issued.Address, want)
	}
	return ticket
}

// asOperator is a browser in which the operator logged in.
func asOperator(t *testing.T, s *server.Server) *browser {
	t.Helper()
	return newBrowser(t, s).in(`{"ticket":"` + ticketOf(t, s) + `"}`)
}

// withKey is a browser in which the holder of a key logged in.
func withKey(t *testing.T, s *server.Server, key operator.IssuedKey) *browser {
	t.Helper()
	return newBrowser(t, s).in(`{"key":"` + key.Secret + `"}`)
}

// in logs in.
func (b *browser) in(login string) *browser {
	b.t.Helper()
	status, body := b.send("POST", "api/session", login)
	if status != http.StatusOK {
		b.t.Fatalf("the login is answered with %d %s, want 200", status, body)
	}
	if err := json.Unmarshal([]byte(body), &b.who); err != nil || b.who.CSRF == "" {
		b.t.Fatalf("the login is answered with %s, want a session with its csrf: %v", body, err)
	}
	return b
}

// send sends a request to the console as its application does. headers are names and values in turn; an empty value removes one.
func (b *browser) send(method, path, body string, headers ...string) (status int, answer string) {
	b.t.Helper()
	r := b.do(method, path, body, headers...)
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		b.t.Fatalf("read the answer of %s: %v", path, err)
	}
	return r.StatusCode, string(text)
}

func (b *browser) do(method, path, body string, headers ...string) *http.Response {
	b.t.Helper()
	q, err := http.NewRequestWithContext(b.t.Context(), method, b.url+path, bytes.NewReader([]byte(body)))
	if err != nil {
		b.t.Fatal(err)
	}
	origin := strings.TrimSuffix(b.url, "/console/")
	set := []string{"Content-Type", "application/json", "Origin", origin, "Sec-Fetch-Site", "same-origin", "Alcove-Console", b.who.CSRF}
	for i, set := 0, append(set, headers...); i < len(set); i += 2 {
		q.Header.Set(set[i], set[i+1])
		if set[i+1] == "" {
			q.Header.Del(set[i])
		}
	}
	if host := q.Header.Get("Host"); host != "" {
		q.Host = host
	}
	r, err := b.client.Do(q)
	if err != nil {
		b.t.Fatalf("send %s %s: %v", method, path, err)
	}
	return r
}

func TestTheOperatorLogsInWithATicketAndOperates(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	if w := b.who; !w.Operator || w.ReadOnly || w.Version != "test" || strings.Join(w.Rights.Write, ",") != "*" || w.Rights.Further != nil {
		t.Errorf("the session is %+v, want the operator's with all rights", w)
	}
	if status, body := b.send("POST", "api/operation/memory_store", `{"key":"tea","value":"green"}`); status != http.StatusOK || !strings.Contains(body, `"result"`) {
		t.Errorf("a store is answered with %d %s", status, body)
	}
	if status, body := b.send("POST", "api/operation", `{"method":"memory_recall","params":{"key":"tea"}}`); status != http.StatusOK || !strings.Contains(body, "green") {
		t.Errorf("a retrieval is answered with %d %s, want the stored value", status, body)
	}
	if status, body := b.send("GET", "api/operation/tools", ""); status != http.StatusOK || !strings.Contains(body, "memory_store") {
		t.Errorf("the tools are %d %.200s", status, body)
	}
	if status, body := b.send("POST", "api/acts/health", "{}"); status != http.StatusOK || !strings.Contains(body, `"read_only":false`) {
		t.Errorf("the health is %d %s", status, body)
	}
	if status, body := b.send("GET", "api/session", "", "Alcove-Console", ""); status != http.StatusOK || !strings.Contains(body, b.who.CSRF) {
		t.Errorf("the session is %d %s, want what the login answered", status, body)
	}
	if status, _ := b.send("DELETE", "api/session", ""); status != http.StatusNoContent {
		t.Errorf("the end of the session is answered with %d, want 204", status)
	}
	if status, _ := b.send("GET", "api/session", ""); status != http.StatusUnauthorized {
		t.Errorf("the session that ended is answered with %d, want 401", status)
	}
}
