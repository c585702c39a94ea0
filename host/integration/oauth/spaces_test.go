package oauth

import (
	"errors"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/keys"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// estate is a server with spaces, each with a key of ann.
type estate struct {
	*world
	dir  string
	keys map[string]string // by space
}

func newEstate(t *testing.T, change func(*host.Listen), names ...string) estate {
	t.Helper()
	e := estate{dir: t.TempDir(), keys: map[string]string{}}
	for _, name := range names {
		dir := must.Get(folder.Folder{Path: e.dir}.Create(name))
		k := must.Get(keys.Open(keys.Options{Path: owner.KeysPath(dir), Clock: time.Now}))
		_, e.keys[name], _ = k.Create(keys.Grant{Agent: "ann", Namespaces: []string{"ann/*"}, Rights: []operator.Right{"read", "write"}})
	}
	e.world = newWorld(t, func(l *host.Listen) {
		l.Spaces = &host.SpacesOptions{Dir: e.dir}
		change(l)
	})
	return e
}

// in is the world of a client of a space.
func (e estate) in(name string) *world {
	w := *e.world
	w.at = "/s/" + name
	return &w
}

func (e estate) isOpen(name string) bool {
	var owned *owner.OwnedError
	return errors.As(owner.CheckFree(filepath.Join(e.dir, name)), &owned)
}

func register(l *host.Listen) { l.OAuth.Register = true }

// asksFor is a request for authorization to the memory of a world.
func (w *world) asksFor() asking { return newAsking().with("resource", issuer+w.at+"/mcp") }

// call begins a session of the memory of a world over MCP.
func (w *world) call(token string) int {
	return w.send("POST", w.at+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
		"Authorization", "Bearer "+token, "Content-Type", "application/json", "Accept", "application/json, text/event-stream").status
}

func TestAClientFindsAndEntersASpace(t *testing.T) {
	e := newEstate(t, register, "red", "blue")
	red := e.in("red")
	refused := red.send("POST", "/s/red/mcp", "{}")
	at := issuer + "/.well-known/oauth-protected-resource/s/red/mcp"
	if header := refused.header.Get("WWW-Authenticate"); refused.status != http.StatusUnauthorized || !strings.Contains(header, `resource_metadata="`+at+`"`) {
		t.Errorf("without a token: got %d %s, want 401 and %s", refused.status, header, at)
	}
	about := red.send("GET", strings.TrimPrefix(at, issuer), "")
	if about.member("resource") != issuer+"/s/red/mcp" || !strings.Contains(about.body, `"authorization_servers":["`+issuer+`/s/red"]`) {
		t.Errorf("the metadata of the space: got %s, want its URL and its authorization server", about.body)
	}
	of := red.send("GET", "/.well-known/oauth-authorization-server/s/red", "")
	for name, want := range map[string]string{"issuer": "", "authorization_endpoint": "/authorize", "token_endpoint": "/token", "revocation_endpoint": "/revoke", "registration_endpoint": "/register"} {
		if got := of.member(name); got != issuer+"/s/red"+want {
			t.Errorf("%s: got %q, want %q", name, got, issuer+"/s/red"+want)
		}
	}
	a := red.asksFor()
	if page := red.browser().open(a.query.Encode()); !strings.Contains(page.body, "the space red of "+issuer) || !strings.Contains(page.body, `href="/s/red/authorize/style.css"`) {
		t.Errorf("the page of consent: got %d %s, want that it names the space", page.status, page.body)
	}
	if style := red.send("GET", "/s/red/authorize/style.css", ""); style.status != http.StatusOK {
		t.Errorf("the style of the page: got %d, want 200", style.status)
	}
	to := red.browser().consents(a, e.keys["red"], nil)
	if got := to.Query().Get("iss"); got != issuer+"/s/red" {
		t.Errorf("the answer names the issuer %q, want that of the space", got)
	}
	tokens := red.exchange(a, to.Query().Get("code"))
	token := tokens.member("access_token")
	if got := red.call(token); tokens.status != http.StatusOK || got != http.StatusOK {
		t.Fatalf("the tokens of the space: got %d %s, and %d with them, want 200", tokens.status, tokens.body, got)
	}
	again := red.refresh(tokens.member("refresh_token"))
	if got := red.call(again.member("access_token")); got != http.StatusOK {
		t.Errorf("refreshed: got %d %s, and %d with the token, want 200", again.status, again.body, got)
	}
	red.form("/s/red/revoke", url.Values{"token": {again.member("refresh_token")}, "client_id": {clientID}})
	if got := red.call(again.member("access_token")); got != http.StatusUnauthorized {
		t.Errorf("revoked: got %d, want 401", got)
	}
}

func TestATokenOfOneSpaceOpensNoOther(t *testing.T) {
	e := newEstate(t, register, "red", "blue")
	red, blue := e.in("red"), e.in("blue")
	enter := func() (asking, string) {
		a := red.asksFor()
		return a, red.browser().consents(a, e.keys["red"], nil).Query().Get("code")
	}
	a, code := enter()
	for name, other := range map[string]*world{"another space": blue, "the server itself": e.world} {
		if got := other.exchange(a, code); got.status != http.StatusBadRequest {
			t.Errorf("the code of a space at %s: got %d %s, want 400", name, got.status, got.body)
		}
	}
	tokens := red.exchange(a, code)
	token, refresh := tokens.member("access_token"), tokens.member("refresh_token")
	if token == "" {
		t.Fatalf("the code after others failed with it elsewhere: got %d %s, want tokens", tokens.status, tokens.body)
	}
	for name, other := range map[string]*world{"another space": blue, "the server itself": e.world} {
		if got := other.call(token); got != http.StatusUnauthorized {
			t.Errorf("the token of a space at %s: got %d, want 401", name, got)
		}
		if got := other.refresh(refresh); got.status != http.StatusBadRequest {
			t.Errorf("its refresh token at %s: got %d %s, want 400", name, got.status, got.body)
		}
		other.form(other.at+"/revoke", url.Values{"token": {refresh}, "client_id": {clientID}})
	}
	if got := red.call(token); got != http.StatusOK {
		t.Errorf("the token in its own space after that: got %d, want 200", got)
	}
	if got := e.send("POST", "/s/red/operation/memory_status", "{}", "Authorization", "Bearer "+token); got.status != http.StatusUnauthorized {
		t.Errorf("the token at another path of its space: got %d, want 401", got.status)
	}
	own := e.letIn().member("access_token")
	if got := red.call(own); got != http.StatusUnauthorized {
		t.Errorf("the token of the server itself in a space: got %d, want 401", got)
	}
	for _, wrong := range []string{issuer + "/s/blue/mcp", issuer + "/mcp", issuer, issuer + "/s/redx/mcp", issuer + "/s/red/../blue/mcp"} {
		if page := red.browser().open(newAsking().with("resource", wrong).query.Encode()); page.status != http.StatusBadRequest {
			t.Errorf("the resource %s on the page of the space red: got %d, want 400", wrong, page.status)
		}
	}
}

func TestAFormOfConsentOfOneSpaceIsRefusedByOthers(t *testing.T) {
	e := newEstate(t, register, "red", "blue")
	b, other := e.in("red").browser(), e.in("blue").browser()
	a := b.asksFor()
	page := b.submit(b.open(a.query.Encode()), url.Values{"way": {"key"}, "key": {e.keys["red"]}})
	other.cookies = b.cookies
	if got := other.submit(page, url.Values{"decision": {"allow"}, "namespaces": {"ann/*"}, "right": {"read"}}); got.status != http.StatusForbidden {
		t.Errorf("the form in another space: got %d %s, want 403", got.status, got.body)
	}
	if got := other.submit(other.open(other.asksFor().query.Encode()), url.Values{"way": {"key"}, "key": {e.keys["red"]}}); got.status != http.StatusUnauthorized {
		t.Errorf("the key of one space on the page of another: got %d, want 401", got.status)
	}
	registered := b.send("POST", "/s/red/register", `{"redirect_uris":["`+callback+`"]}`, "Content-Type", "application/json")
	id := registered.member("client_id")
	if page := b.open(a.with("client_id", id).query.Encode()); registered.status != http.StatusCreated || page.status != http.StatusOK {
		t.Errorf("a client that registered: got %d %s, and a page with %d, want 201 and 200", registered.status, registered.body, page.status)
	}
	if page := other.open(other.asksFor().with("client_id", id).query.Encode()); page.status != http.StatusBadRequest {
		t.Errorf("it in another space: got %d, want 400", page.status)
	}
}

func TestAnAuthorizationServerTellsStrangersNothingOfSpaces(t *testing.T) {
	e := newEstate(t, register, "red")
	form := func(v url.Values) func(w *world) answer {
		return func(w *world) answer { return w.form(w.at+"/token", v) }
	}
	for what, ask := range map[string]func(w *world) answer{
		"the metadata of the resource": func(w *world) answer { return w.send("GET", "/.well-known/oauth-protected-resource"+w.at+"/mcp", "") },
		"the metadata of the server":   func(w *world) answer { return w.send("GET", "/.well-known/oauth-authorization-server"+w.at, "") },
		"no token":                     func(w *world) answer { return w.send("POST", w.at+"/mcp", "{}") },
		"a wrong token": func(w *world) answer {
			return w.send("POST", w.at+"/mcp", "{}", "Authorization", "Bearer alcove_key_00")
		},
		"the style": func(w *world) answer { return w.send("GET", w.at+"/authorize/style.css", "") },
		"a wrong key": func(w *world) answer {
			b := w.browser()
			return b.submit(b.open(w.asksFor().with("code_challenge", strings.Repeat("a", 43)).query.Encode()), url.Values{"way": {"key"}, "key": {"alcove_key_000000000000_wrong"}})
		},
		"a wrong invitation": func(w *world) answer {
			b := w.browser()
			return b.submit(b.open(w.asksFor().with("code_challenge", strings.Repeat("a", 43)).query.Encode()), url.Values{"way": {"key"}, "key": {"aaaaa-aaaaa-aaaaa-aaaaa-aaaaa"}})
		},
		"a form without a proof": func(w *world) answer { return w.form(w.at+"/console/authorize", url.Values{"step": {"decide"}}) },
		"a wrong code":           form(url.Values{"grant_type": {"authorization_code"}, "code": {strings.Repeat("A", 64)}, "client_id": {clientID}}),
		"a wrong refresh token":  form(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {"alcove_refresh_000000000000_x"}, "client_id": {clientID}}),
		"a long form":            form(url.Values{"grant_type": {strings.Repeat("a", 40<<10)}}),
		"a wrong revocation":     func(w *world) answer { return w.form(w.at+"/revoke", url.Values{"token": {"x"}, "client_id": {"y"}}) },
	} {
		have, none := ask(e.in("red")), ask(e.in("sky"))
		told := strings.ReplaceAll(stripped(none.body), "sky", "red")
		if header := strings.ReplaceAll(none.header.Get("WWW-Authenticate"), "sky", "red"); none.status != have.status || told != stripped(have.body) || header != have.header.Get("WWW-Authenticate") {
			t.Errorf("%s: got %d %s %s for a space that is not, want as for one that is: %d %s %s", what, none.status, told, header, have.status, have.body, have.header.Get("WWW-Authenticate"))
		}
	}
	if e.isOpen("red") {
		t.Error("a stranger had the space opened")
	}
	if got := e.in("red").form("/s/red/token", url.Values{"grant_type": {strings.Repeat("a", 40<<10)}}); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of more than 32 KiB: got %d %s, want 413", got.status, got.body)
	}
}

// stripped is a page without what is new on each.
func stripped(page string) string {
	for name, list := range hidden(page) {
		if name == "proof" || name == "until" || name == "request" {
			page = strings.ReplaceAll(page, strings.ReplaceAll(list[0], "&", "&amp;"), "")
		}
	}
	return page
}

func TestTokensOfAnIssuerEnterTheSpacesOfTheirRules(t *testing.T) {
	p := newProvider(t)
	e := newEstate(t, func(l *host.Listen) {
		l.OAuth, l.Issuer = host.OAuth{}, p.Issuer()
		l.IssuerRules = &operator.IssuerRules{Rules: []operator.IssuerRule{
			{Claims: map[string]string{"groups": "reds"}, Spaces: []string{"red"}, Namespaces: []string{"{agent}/*"}, Rights: server.ReadWrite},
			{Claims: map[string]string{"groups": "all"}, Namespaces: []string{"*"}, Rights: server.ReadWrite},
		}}
	}, "red", "blue")
	about := e.send("GET", "/.well-known/oauth-protected-resource/s/red/mcp", "")
	if about.member("resource") != issuer+"/s/red/mcp" || !strings.Contains(about.body, `"authorization_servers":["`+p.Issuer()+`"]`) {
		t.Errorf("the metadata of the space: got %s, want the issuer elsewhere", about.body)
	}
	token := func(audience, group string) string {
		return p.signed(p.claims(jwt.MapClaims{"aud": issuer + audience, "sub": "ann@example.org", "groups": []string{group}}))
	}
	if got := e.in("blue").call(token("/s/blue/mcp", "reds")); got != http.StatusUnauthorized || e.isOpen("blue") {
		t.Errorf("a token for a space without a rule: got %d, and the space is open: %t, want 401 and not", got, e.isOpen("blue"))
	}
	for _, c := range []struct {
		at, audience, group string
		want                int
	}{
		{"/s/red", "/s/red/mcp", "reds", 200}, {"", "/mcp", "all", 200},
		{"/s/red", "/mcp", "reds", 401}, {"/s/red", "/s/blue/mcp", "reds", 401}, {"/s/red", "/s/red/mcp", "all", 401},
		{"", "/s/red/mcp", "all", 401}, {"", "/mcp", "reds", 401}, {"/s/none", "/s/none/mcp", "reds", 401},
	} {
		w := *e.world
		w.at = c.at
		if got := w.call(token(c.audience, c.group)); got != c.want {
			t.Errorf("a token for %s of the group %s at %s/mcp: got %d, want %d", c.audience, c.group, c.at, got, c.want)
		}
	}
}
