package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
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
	common, err := NewCommon(http.DefaultClient, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	codes, err := OpenCodes(time.Now, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Common: common, Issuer: "https://memory.example.org", Register: true, Secret: []byte("secret"), Codes: codes, Keys: nobody{}, Clock: time.Now,
		Holder:  func(string) (memory.Caller, error) { return memory.Caller{}, nil },
		Refused: func(*http.Request, error) {}})
}

func TestDecisionsThatWaitAreBounded(t *testing.T) {
	now := time.Now()
	c, err := OpenCodes(func() time.Time { return now }, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range mostCodes + 1 {
		if err := c.issue(strconv.Itoa(i), decision{Client: keys.Client{ID: "x"}}); (err == nil) != (i < mostCodes) {
			t.Fatalf("code %d: got %v, want at most %d", i+1, err, mostCodes)
		}
	}
	now = now.Add(codeKept)
	if err := c.issue("last", decision{}); err != nil || len(c.kept) != 1 {
		t.Errorf("ten minutes later: got %v and %d codes, want one alone", err, len(c.kept))
	}
}

func TestCodesGoOnWithTheNextServer(t *testing.T) {
	var kept []byte
	var full error
	keep := func(data []byte) error {
		if full == nil {
			kept = data
		}
		return full
	}
	open := func() *Codes {
		t.Helper()
		c, err := OpenCodes(time.Now, kept, keep)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if err := open().issue("code", decision{Holder: "ann"}); err != nil {
		t.Fatalf("issue a code: %v", err)
	}
	full = errors.New("no room")
	if found, _, err := open().take("code"); found != nil || err == nil {
		t.Errorf("take a code whose use cannot be kept: got %v, %v, want an error", found, err)
	}
	full = nil
	if found, _, err := open().take("code"); err != nil || found == nil || found.Holder != "ann" {
		t.Fatalf("take the code from the next server: got %v, %v, want that of ann", found, err)
	}
	if found, revoke, err := open().take("code"); err != nil || found != nil || revoke != "" {
		t.Errorf("take it again: got %v, %q, %v, want nothing yet", found, revoke, err)
	}
	if replayed, err := open().redeemed("code", "key"); err != nil || !replayed {
		t.Errorf("the code became a key after it was taken again: got %t, %v, want that this is known", replayed, err)
	}
	if found, revoke, err := open().take("code"); err != nil || found != nil || revoke != "key" {
		t.Errorf("take it once more: got %v, %q, %v, want the key that is to be revoked", found, revoke, err)
	}
	if _, err := OpenCodes(time.Now, []byte("{"), keep); err == nil {
		t.Error("damaged codes: got no error, want one")
	}
}
