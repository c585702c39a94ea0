// Package oauth lets clients of OAuth into a whole server, as persons and attackers do.
package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestMain(m *testing.M) { os.Exit(server.Main(m, server.Child{})) }

const (
	issuer   = "https://memory.example.org"
	resource = issuer + "/mcp"
	clientID = "https://client.example/metadata.json"
	callback = "https://client.example/callback"
)

// world is a server, a person with a key, and a client with metadata.
type world struct {
	*server.Server
	t   testing.TB
	ann operator.IssuedKey
	web *site
	at  string // the path of the memory
	by  string // the URL of the server that is asked; empty: that of Server
}

// site has the documents of clients.
type site struct {
	*httptest.Server
	documents map[string]string // by URL
	asked     []string
}

func newSite(t testing.TB) *site {
	s := &site{documents: map[string]string{}}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := "https://" + r.Host + r.URL.Path
		s.asked = append(s.asked, at)
		body, ok := s.documents[at]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if to, redirects := strings.CutPrefix(body, "-> "); redirects {
			http.Redirect(w, r, to, http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// reader is a client that finds each host in the site, and follows no redirects.
func (s *site) reader() *http.Client {
	c := s.Client()
	transport := c.Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.InsecureSkipVerify = true
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", s.Listener.Addr().String())
	}
	return &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func newWorld(t *testing.T, change ...func(*host.Listen)) *world {
	t.Helper()
	w := &world{t: t, web: newSite(t)}
	w.web.documents[clientID] = `{"client_id":"` + clientID + `","client_name":"Example","redirect_uris":["` + callback + `","http://127.0.0.1/cb","com.example.app:/cb"],"token_endpoint_auth_method":"none"}`
	l := host.Listen{HTTP: "127.0.0.1:0", Public: issuer, OAuth: host.OAuth{Serve: true, Fetch: w.web.reader()}}
	for _, c := range change {
		c(&l)
	}
	w.Server = server.StartOn(t, host.Options{}, l)
	w.ann = w.Issue("ann", []operator.Right{"read", "write", "branch"}, "ann/*")
	return w
}

// answer is what the server answers.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) member(name string) string {
	var read map[string]any
	if json.Unmarshal([]byte(a.body), &read) != nil {
		return ""
	}
	text, _ := read[name].(string)
	return text
}

func (w *world) base() string {
	if w.by != "" {
		return w.by
	}
	return w.URL()
}

// send sends a request as it comes through the proxy at the public URL.
func (w *world) send(method, path, body string, headers ...string) answer {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.base()+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatalf("make a request: %v", err)
	}
	r.Host = "memory.example.org"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	got, err := c.Do(r)
	if err != nil {
		w.t.Fatalf("send %s %s: %v", method, path, err)
	}
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	if err != nil {
		w.t.Fatalf("read the answer to %s %s: %v", method, path, err)
	}
	return answer{got.StatusCode, got.Header, string(text)}
}

func (w *world) form(path string, v url.Values, headers ...string) answer {
	w.t.Helper()
	return w.send("POST", path, v.Encode(), append([]string{"Content-Type", "application/x-www-form-urlencoded"}, headers...)...)
}

// browser is the browser of a person.
type browser struct {
	*world
	cookies map[string]string
}

func (w *world) browser() *browser { return &browser{w, map[string]string{}} }

func (b *browser) cookie() string {
	var all []string
	for name, value := range b.cookies {
		all = append(all, name+"="+value)
	}
	return strings.Join(all, "; ")
}

func (b *browser) keep(a answer) answer {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		b.cookies[c.Name] = c.Value
	}
	return a
}

func (b *browser) open(query string) answer {
	b.t.Helper()
	return b.keep(b.send("GET", b.at+"/authorize?"+query, "", "Cookie", b.cookie()))
}

// submit sends the form of a page as a browser does, with what the person enters.
func (b *browser) submit(page answer, entered url.Values) answer {
	b.t.Helper()
	v := hidden(page.body)
	for name, list := range entered {
		v[name] = list
	}
	return b.keep(b.form(b.at+"/console/authorize", v, "Cookie", b.cookie(), "Origin", issuer, "Sec-Fetch-Site", "same-origin"))
}

var hiddenField = regexp.MustCompile(`<input type="hidden" name="([a-z]+)" value="([^"]*)">`)

func hidden(page string) url.Values {
	v := url.Values{}
	for _, m := range hiddenField.FindAllStringSubmatch(page, -1) {
		v.Set(m[1], unescape(m[2]))
	}
	return v
}

func unescape(text string) string {
	return strings.NewReplacer("&amp;", "&", "&#43;", "+", "&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">").Replace(text)
}

// asking is a request for authorization, and the verifier of its challenge.
type asking struct {
	query    url.Values
	verifier string
}

func newAsking() asking {
	secret := make([]byte, 32)
	rand.Read(secret)
	verifier := base64.RawURLEncoding.EncodeToString(secret)
	sum := sha256.Sum256([]byte(verifier))
	return asking{url.Values{"response_type": {"code"}, "client_id": {clientID}, "redirect_uri": {callback}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
		"code_challenge_method": {"S256"}, "state": {"s-1"}, "resource": {resource}, "scope": {"read write"}}, verifier}
}

func (a asking) with(name, value string) asking {
	changed := url.Values{}
	for n, v := range a.query {
		changed[n] = v
	}
	changed.Set(name, value)
	if value == "" {
		changed.Del(name)
	}
	return asking{changed, a.verifier}
}

// consents goes through the pages, and returns the address to which the browser is sent.
func (b *browser) consents(a asking, key string, entered url.Values) *url.URL {
	b.t.Helper()
	page := b.open(a.query.Encode())
	if page.status != http.StatusOK {
		b.t.Fatalf("the page of %v: got %d %s, want 200", a.query, page.status, page.body)
	}
	page = b.submit(page, url.Values{"way": {"key"}, "key": {key}})
	if page.status != http.StatusOK || !strings.Contains(page.body, `value="allow"`) {
		b.t.Fatalf("the login: got %d %s, want the page of consent", page.status, page.body)
	}
	v := url.Values{"decision": {"allow"}, "namespaces": {"ann/*"}, "right": {"read", "write"}}
	for name, list := range entered {
		v[name] = list
	}
	sent := b.submit(page, v)
	to, err := url.Parse(sent.header.Get("Location"))
	if err != nil || sent.status != http.StatusSeeOther {
		b.t.Fatalf("the decision: got %d %s, want the browser sent back", sent.status, sent.body)
	}
	return to
}

func (w *world) exchange(a asking, code string, changes ...string) answer {
	w.t.Helper()
	v := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {a.query.Get("client_id")}, "redirect_uri": {a.query.Get("redirect_uri")},
		"code_verifier": {a.verifier}, "resource": {issuer + w.at + "/mcp"}}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return w.form(w.at+"/token", v)
}

func (w *world) refresh(token string, changes ...string) answer {
	w.t.Helper()
	v := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}, "client_id": {clientID}}
	for i := 0; i < len(changes); i += 2 {
		v.Set(changes[i], changes[i+1])
	}
	return w.form(w.at+"/token", v)
}

// letIn lets the client in, and returns its answer with tokens.
func (w *world) letIn() answer {
	w.t.Helper()
	a := newAsking()
	got := w.exchange(a, w.browser().consents(a, w.ann.Secret, nil).Query().Get("code"))
	if got.status != http.StatusOK {
		w.t.Fatalf("the exchange of the code: got %d %s, want tokens", got.status, got.body)
	}
	return got
}

// stores reports the status with which a token stores a memory.
func (w *world) stores(token, namespace string) (int, string) {
	return w.Post(token, "", "memory_store", `{"key":"k","value":"v","namespace":"`+namespace+`"}`)
}
