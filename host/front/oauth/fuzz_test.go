package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

func FuzzRequestForAuthorization(f *testing.F) {
	s := serverOf(f)
	id, err := s.idOf(registration{"Example", []string{"https://client.example/cb", "http://127.0.0.1/cb"}})
	if err != nil {
		f.Fatal(err)
	}
	good := url.Values{"response_type": {"code"}, "client_id": {id}, "redirect_uri": {"http://127.0.0.1:1/cb"}, "code_challenge": {strings.Repeat("a", 43)}, "code_challenge_method": {"S256"}}
	f.Add(good.Encode())
	f.Add(good.Encode() + "&resource=https%3A%2F%2Fmemory.example.org%2Fmcp&scope=read")
	f.Add("client_id=" + registeredPrefix + "e30.")
	f.Fuzz(func(t *testing.T, raw string) {
		q, err := s.read(t.Context(), raw)
		if err != nil {
			return
		}
		to, err := url.Parse(q.redirect)
		if err != nil || to.Host != "client.example" && to.Hostname() != "127.0.0.1" || to.Path != "/cb" {
			t.Errorf("read(%q): the redirect address is %q, want one of the client's", raw, q.redirect)
		}
		if !strings.HasPrefix(q.resource, s.options.Issuer) || strings.ContainsAny(policy(q.redirect), "\r\n") {
			t.Errorf("read(%q): the resource is %q and the policy %q, want those of this server", raw, q.resource, policy(q.redirect))
		}
	})
}

func FuzzDocumentOfAClient(f *testing.F) {
	const id = "https://client.example/metadata.json"
	f.Add([]byte(`{"client_id":"` + id + `","client_name":"Example","redirect_uris":["https://client.example/cb"]}`))
	f.Add([]byte(`{"client_id":"` + id + `","redirect_uris":["com.example:/cb","http://[::1]/cb"]}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		c, err := readDocument(id, body)
		if err != nil {
			return
		}
		if len(c.name) > longestName || len(c.redirects) == 0 || strings.ContainsAny(c.name, "\n\x00\u202e") {
			t.Errorf("readDocument(%q): got %+v, want a short name and redirect addresses", body, c)
		}
		for _, each := range c.redirects {
			if !c.redirectsTo(each) || strings.ContainsAny(policy(each), "\r\n") {
				t.Errorf("readDocument(%q): the address %q is not one that can be used", body, each)
			}
		}
	})
}

// nobody keeps nothing.
type nobody struct{ Keys }

func serverOf(t testing.TB) *Server {
	t.Helper()
	s, err := New(Options{Issuer: "https://memory.example.org", Register: true, Secret: []byte("secret"), Keys: nobody{}, Fetch: http.DefaultClient,
		Holder:  func(string) (memory.Caller, error) { return memory.Caller{}, nil },
		Refused: func(*http.Request, error) {}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDecisionsThatWaitAreBounded(t *testing.T) {
	now := time.Now()
	c := newCodes(func() time.Time { return now })
	for i := range mostCodes + 1 {
		if _, ok := c.issue(decision{client: keys.Client{ID: "x"}}); ok != (i < mostCodes) {
			t.Fatalf("code %d is issued: %t, want at most %d", i+1, ok, mostCodes)
		}
	}
	now = now.Add(codeKept)
	if _, ok := c.issue(decision{}); !ok || len(c.kept) != 1 {
		t.Errorf("ten minutes later a code is issued: %t, and %d are kept, want it alone", ok, len(c.kept))
	}
}
