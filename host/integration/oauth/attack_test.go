package oauth

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func TestAClientGetsAKeyOfItsOwnWithAPartOfThePersonsRights(t *testing.T) {
	w := newWorld(t)
	got := w.letIn()
	if got.member("token_type") != "Bearer" || got.member("scope") != "read write" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the tokens are %s, want a Bearer with the scope read write that nobody keeps", got.body)
	}
	token := got.member("access_token")
	if status, body := w.stores(token, "ann/notes"); status != http.StatusOK || strings.Contains(body, `"isError":true`) {
		t.Errorf("a store where the person allowed it: got %d %s, want it done", status, body)
	}
	if _, body := w.stores(token, "bob/notes"); !strings.Contains(body, `"isError":true`) {
		t.Errorf("a store elsewhere: got %s, want it refused", body)
	}
	list, err := operator.Query(t.Context(), w.Acts, operator.ListKeys)
	if err != nil {
		t.Fatal(err)
	}
	k := list.Keys[len(list.Keys)-1]
	if k.Agent != "ann/Example" || k.By == nil || k.By.Client == nil || k.By.Client.ID != clientID || k.By.Parent != w.ann.ID || k.By.Client.Resource != resource {
		t.Errorf("the list of keys has %+v %+v, want the client's, given by ann", k, k.By)
	}
	if len(k.Rights) != 2 {
		t.Errorf("the key has the rights %v, want read and write: nobody asked for more", k.Rights)
	}
}

func TestTheMetadataSayWhatTheServerDoes(t *testing.T) {
	w := newWorld(t)
	refused := w.send("POST", "/mcp", "{}")
	want := `resource_metadata="` + issuer + `/.well-known/oauth-protected-resource/mcp", scope="read write branch family:*"`
	if challenge := refused.header.Get("WWW-Authenticate"); refused.status != 401 || !strings.Contains(challenge, want) {
		t.Errorf("a client without a token: got %d %q, want 401 with %s", refused.status, challenge, want)
	}
	about := w.send("GET", "/.well-known/oauth-protected-resource/mcp", "")
	if about.member("resource") != resource || !strings.Contains(about.body, `"authorization_servers":["`+issuer+`"]`) {
		t.Errorf("the metadata of the resource: got %s, want %s of %s", about.body, resource, issuer)
	}
	server := w.send("GET", "/.well-known/oauth-authorization-server", "")
	for _, part := range []string{`"issuer":"` + issuer + `"`, `"code_challenge_methods_supported":["S256"]`, `"client_id_metadata_document_supported":true`,
		`"authorization_response_iss_parameter_supported":true`, `"response_types_supported":["code"]`, `"revocation_endpoint":"` + issuer + `/revoke"`} {
		if !strings.Contains(server.body, part) {
			t.Errorf("the metadata of the server: got %s, want %s", server.body, part)
		}
	}
	if strings.Contains(server.body, "registration_endpoint") {
		t.Errorf("the metadata of the server: got %s, want no registration, which nobody allowed", server.body)
	}
	if got := w.send("POST", "/register", `{"redirect_uris":["`+callback+`"]}`); got.status != 404 {
		t.Errorf("a registration that nobody allowed: got %d %s, want 404", got.status, got.body)
	}
}

func TestAServerIsNoAuthorizationServerUnlessToldSo(t *testing.T) {
	s := server.Start(t, host.Options{})
	for _, path := range []string{"/authorize", "/token", "/revoke", "/register", "/.well-known/oauth-authorization-server", "/console/authorize"} {
		if status, body := s.Send("GET", path, "", nil); status == http.StatusOK && !strings.Contains(body, "noscript") {
			t.Errorf("GET %s: got %d %s, want nothing there", path, status, body)
		}
	}
}

func TestEveryAnswerNamesTheIssuer(t *testing.T) {
	w := newWorld(t)
	allowed := w.browser().consents(newAsking(), w.ann.Secret, nil)
	denied := w.browser().consents(newAsking(), w.ann.Secret, url.Values{"decision": {"deny"}})
	for what, to := range map[string]*url.URL{"allowed": allowed, "denied": denied} {
		if q := to.Query(); q.Get("iss") != issuer || q.Get("state") != "s-1" || to.Host != "client.example" {
			t.Errorf("%s: the browser is sent to %v, want the client's address with the issuer and the state", what, to)
		}
	}
	if q := denied.Query(); q.Get("error") != "access_denied" || q.Has("code") {
		t.Errorf("denied: the browser is sent to %v, want access_denied and no code", denied)
	}
}

func TestARedirectAddressIsThatOfTheClientToTheLetter(t *testing.T) {
	w := newWorld(t)
	for address, fine := range map[string]bool{
		callback: true, "http://127.0.0.1:5000/cb": true, "http://127.0.0.1/cb": true, "com.example.app:/cb": true,
		callback + "/": false, callback + "?x=1": false, callback + "#x": false, "https://client.example/callback/../evil": false, "https://client.example:443/callback": false,
		"https://CLIENT.example/callback": false, "https://client.example/Callback": false, "https://client.example.evil.example/callback": false,
		"https://client.example@evil.example/callback": false, "https://evil.example/callback": false, "http://client.example/callback": false,
		"http://127.0.0.1:5000/cb/more": false, "http://127.0.0.1:5000/cb?x": false, "http://127.0.0.1:5000@evil.example/cb": false, "http://127.0.0.2:5000/cb": false,
		"http://localhost:5000/cb": false, "https://127.0.0.1:5000/cb": false, "//client.example/callback": false, "https:\\\\client.example/callback": false,
		"https://client.example/callback\n": false, "javascript:alert(1)": false, "": false,
	} {
		query := newAsking().query
		query.Set("redirect_uri", address)
		got := w.browser().open(query.Encode())
		if (got.status == http.StatusOK) != fine {
			t.Errorf("the redirect address %q: got %d, want it taken: %t", address, got.status, fine)
		}
		if to := got.header.Get("Location"); to != "" {
			t.Errorf("the redirect address %q: the browser is sent to %s before anybody decided", address, to)
		}
	}
}

func TestNobodyIsRedirectedByARequestThatIsWrong(t *testing.T) {
	w := newWorld(t)
	good := newAsking()
	for what, query := range map[string]string{
		"another response type":  good.with("response_type", "token").query.Encode(),
		"no challenge":           good.with("code_challenge", "").query.Encode(),
		"a plain challenge":      good.with("code_challenge_method", "plain").query.Encode(),
		"no challenge method":    good.with("code_challenge_method", "").query.Encode(),
		"a short challenge":      good.with("code_challenge", "abc").query.Encode(),
		"another resource":       good.with("resource", "https://other.example/mcp").query.Encode(),
		"a resource of a space":  good.with("resource", issuer+"/s/work/mcp").query.Encode(),
		"a resource by its name": good.with("resource", issuer+".evil.example/mcp").query.Encode(),
		"no scope that there is": good.with("scope", "admin everything").query.Encode(),
		"a signed request":       good.with("request", "e30.e30.e30").query.Encode(),
		"a long state":           good.with("state", strings.Repeat("x", 3000)).query.Encode(),
		"two redirect addresses": good.query.Encode() + "&redirect_uri=" + url.QueryEscape("https://evil.example/"),
		"two clients":            good.query.Encode() + "&client_id=" + url.QueryEscape("https://evil.example/c"),
		"a long query":           good.query.Encode() + "&x=" + strings.Repeat("x", 9000),
		"no client":              good.with("client_id", "").query.Encode(),
		"an unknown client":      good.with("client_id", "https://client.example/none.json").query.Encode(),
	} {
		if got := w.browser().open(query); got.status != http.StatusBadRequest || got.header.Get("Location") != "" {
			t.Errorf("%s: got %d to %q, want 400 and no redirect", what, got.status, got.header.Get("Location"))
		}
	}
}

func TestACodeNeedsTheVerifierOfItsChallenge(t *testing.T) {
	w := newWorld(t)
	for what, change := range map[string][]string{
		"another verifier":         {"code_verifier", newAsking().verifier},
		"no verifier":              {"code_verifier", ""},
		"a verifier that is short": {"code_verifier", "abc"},
		"another client":           {"client_id", "https://client.example/other.json"},
		"another redirect address": {"redirect_uri", "http://127.0.0.1/cb"},
		"another resource":         {"resource", issuer + "/operation"},
	} {
		a := newAsking()
		code := w.browser().consents(a, w.ann.Secret, nil).Query().Get("code")
		if got := w.exchange(a, code, change...); got.status != http.StatusBadRequest || got.member("access_token") != "" {
			t.Errorf("%s: got %d %s, want 400 without tokens", what, got.status, got.body)
		}
		if got := w.exchange(a, code); got.status != http.StatusBadRequest {
			t.Errorf("%s: a second try with the same code got %d %s, want 400", what, got.status, got.body)
		}
	}
}

func TestACodeThatIsUsedAgainEndsWhatItBecame(t *testing.T) {
	w := newWorld(t)
	a := newAsking()
	code := w.browser().consents(a, w.ann.Secret, nil).Query().Get("code")
	first := w.exchange(a, code)
	if status, _ := w.stores(first.member("access_token"), "ann/notes"); status != http.StatusOK {
		t.Fatalf("the token of the code: got %d, want 200", status)
	}
	if got := w.exchange(a, code); got.status != http.StatusBadRequest || got.member("error") != "invalid_grant" {
		t.Errorf("the code again: got %d %s, want invalid_grant", got.status, got.body)
	}
	if status, _ := w.stores(first.member("access_token"), "ann/notes"); status != http.StatusUnauthorized {
		t.Errorf("the token after the code was used again: got %d, want 401", status)
	}
}

func TestACodeHoldsForAMinuteAndATokenForAnHour(t *testing.T) {
	clock := testclock.At(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))
	w := &world{t: t, web: newSite(t)}
	w.web.documents[clientID] = `{"client_id":"` + clientID + `","client_name":"Example","redirect_uris":["` + callback + `"]}`
	w.Server = server.StartOn(t, host.Options{Clock: clock.Now}, host.Listen{HTTP: "127.0.0.1:0", Public: issuer, OAuth: host.OAuth{Serve: true, Fetch: w.web.reader()}})
	w.ann = w.Issue("ann", server.ReadWrite, "ann/*")
	a := newAsking()
	code := w.browser().consents(a, w.ann.Secret, nil).Query().Get("code")
	clock.Add(time.Minute)
	if got := w.exchange(a, code); got.status != http.StatusBadRequest {
		t.Errorf("a code of a minute ago: got %d %s, want 400", got.status, got.body)
	}
	got := w.letIn()
	if !strings.Contains(got.body, `"expires_in":3600`) {
		t.Errorf("the tokens are %s, want an access token of an hour", got.body)
	}
	clock.Add(time.Hour)
	if status, body := w.stores(got.member("access_token"), "ann/notes"); status != http.StatusUnauthorized || !strings.Contains(body, "expired") {
		t.Errorf("a token of an hour ago: got %d %s, want 401 because it expired", status, body)
	}
	clock.Add(59 * 24 * time.Hour)
	got = w.refresh(got.member("refresh_token"))
	if status, _ := w.stores(got.member("access_token"), "ann/notes"); status != http.StatusOK {
		t.Errorf("a token that was refreshed after 59 days: got %d %s, want it admitted", status, got.body)
	}
	clock.Add(60 * 24 * time.Hour)
	if got := w.refresh(got.member("refresh_token")); got.status != http.StatusBadRequest {
		t.Errorf("a refresh after 60 days: got %d %s, want 400", got.status, got.body)
	}
}

func TestARefreshTokenThatIsUsedAgainEndsTheAuthorization(t *testing.T) {
	w := newWorld(t)
	stolen := w.letIn()
	second := w.refresh(stolen.member("refresh_token"))
	third := w.refresh(second.member("refresh_token"))
	if third.status != http.StatusOK {
		t.Fatalf("a refresh: got %d %s, want tokens", third.status, third.body)
	}
	for _, token := range []string{stolen.member("access_token"), third.member("access_token")} {
		if status, _ := w.stores(token, "ann/notes"); status != http.StatusOK {
			t.Errorf("a token within its hour, after a refresh: got %d, want 200", status)
		}
	}
	if got := w.refresh(second.member("refresh_token")); got.member("error") != "invalid_grant" || !strings.Contains(got.body, "used before") {
		t.Errorf("a refresh token that was used: got %d %s, want invalid_grant because it was", got.status, got.body)
	}
	if got := w.refresh(third.member("refresh_token")); got.status != http.StatusBadRequest {
		t.Errorf("the newest refresh token after that: got %d %s, want 400", got.status, got.body)
	}
	for _, token := range []string{stolen.member("access_token"), third.member("access_token")} {
		if status, _ := w.stores(token, "ann/notes"); status != http.StatusUnauthorized {
			t.Errorf("an access token after that: got %d, want 401", status)
		}
	}
}

func TestWhoKnowsTheIDOfAKeyEndsNoAuthorization(t *testing.T) {
	w := newWorld(t)
	got := w.letIn()
	refresh := got.member("refresh_token")
	parts := strings.SplitN(refresh, "_", 4)
	for what, token := range map[string]string{
		"a made-up token":       strings.Join(parts[:3], "_") + "_" + strings.Repeat("A", 43) + "_" + strings.Repeat("A", 43),
		"a token cut short":     refresh[:len(refresh)-1],
		"a long token":          refresh + strings.Repeat("A", 300),
		"an access token":       got.member("access_token"),
		"the key of the person": w.ann.Secret,
		"nothing":               "",
	} {
		if got := w.refresh(token); got.status != http.StatusBadRequest {
			t.Errorf("%s: got %d %s, want 400", what, got.status, got.body)
		}
	}
	if got := w.refresh(refresh, "client_id", "https://client.example/other.json"); got.status != http.StatusBadRequest {
		t.Errorf("the token by another client: got %d %s, want 400", got.status, got.body)
	}
	if got := w.refresh(refresh, "resource", issuer+"/operation"); got.status != http.StatusBadRequest {
		t.Errorf("the token for another resource: got %d %s, want 400", got.status, got.body)
	}
	if got := w.refresh(refresh); got.status != http.StatusOK {
		t.Errorf("the token after all that: got %d %s, want tokens", got.status, got.body)
	}
}

func TestATokenIsForItsResourceAlone(t *testing.T) {
	w := newWorld(t)
	token := w.letIn().member("access_token")
	for _, path := range []string{"/operation", "/operation/memory_status", "/metrics", "/mcpx"} {
		if got := w.send("POST", path, "{}", "Authorization", "Bearer "+token); got.status != http.StatusUnauthorized && got.status != http.StatusNotFound {
			t.Errorf("the token at %s: got %d %s, want 401", path, got.status, got.body)
		}
	}
	if _, err := w.Connect(owner.Hello{Key: token}); err == nil {
		t.Error("the token on the socket: got a session, want it refused")
	}
	if status, body := w.Post(w.ann.Secret, token, "memory_status", `{}`); status == http.StatusOK && !strings.Contains(body, "alone") {
		t.Errorf("the token in _meta: got %d %s, want it refused", status, body)
	}
	if status, body := w.Send("POST", "/console/api/session", `{"key":"`+token+`"}`, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }); status == http.StatusOK {
		t.Errorf("the token in the console's login: got %s, want it refused", body)
	}
	b := w.browser()
	if got := b.submit(b.open(newAsking().query.Encode()), url.Values{"way": {"key"}, "key": {token}}); got.status != http.StatusUnauthorized {
		t.Errorf("the token on the page of consent: got %d, want 401: no client lets in another", got.status)
	}
	other := newWorld(t)
	if status, _ := other.stores(token, "ann/notes"); status != http.StatusUnauthorized {
		t.Errorf("the token at another server: got %d, want 401", status)
	}
	w.Restart() // with the same public URL
	if status, _ := w.stores(token, "ann/notes"); status != http.StatusOK {
		t.Errorf("the token after a restart: got %d, want 200", status)
	}
}

func TestATokenOfTheWholeServerIsForEachPath(t *testing.T) {
	w := newWorld(t)
	a := newAsking().with("resource", issuer)
	got := w.exchange(a, w.browser().consents(a, w.ann.Secret, nil).Query().Get("code"), "resource", issuer)
	for _, path := range []string{"/operation/memory_status", "/mcp"} {
		if answered := w.send("POST", path, "{}", "Authorization", "Bearer "+got.member("access_token"), "Content-Type", "application/json"); answered.status == http.StatusUnauthorized {
			t.Errorf("the token at %s: got %d %s, want it admitted", path, answered.status, answered.body)
		}
	}
}

func TestARevocationEndsOpenStreamsAtOnce(t *testing.T) {
	for what, end := range map[string]func(w *world, tokens answer){
		"the refresh token": func(w *world, got answer) {
			w.form("/revoke", url.Values{"token": {got.member("refresh_token")}, "client_id": {clientID}})
		},
		"the access token": func(w *world, got answer) {
			w.form("/revoke", url.Values{"token": {got.member("access_token")}, "client_id": {clientID}})
		},
		"the person's key": func(w *world, got answer) {
			if _, err := operator.Call(w.t.Context(), w.Acts, operator.RevokeKey, operator.KeyID{ID: w.ann.ID}); err != nil {
				w.t.Fatal(err)
			}
		},
	} {
		w := newWorld(t)
		a := newAsking().with("resource", issuer)
		got := w.exchange(a, w.browser().consents(a, w.ann.Secret, nil).Query().Get("code"), "resource", issuer)
		token := got.member("access_token")
		conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(w.URL(), "http")+"/stream", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
		if err != nil {
			t.Fatalf("%s: open a stream: %v", what, err)
		}
		end(w, got)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for err == nil {
			_, _, err = conn.Read(ctx)
		}
		if ctx.Err() != nil {
			t.Errorf("%s was revoked: the stream stays open", what)
		}
		cancel()
		conn.CloseNow()
		if status, _ := w.stores(token, "ann/notes"); status != http.StatusUnauthorized {
			t.Errorf("%s was revoked: the access token got %d, want 401", what, status)
		}
		if got := w.refresh(got.member("refresh_token")); got.status != http.StatusBadRequest {
			t.Errorf("%s was revoked: the refresh token got %d %s, want 400", what, got.status, got.body)
		}
	}
}

func TestAClientRevokesItsOwnTokensAlone(t *testing.T) {
	w := newWorld(t)
	got := w.letIn()
	for _, v := range []url.Values{
		{"token": {got.member("refresh_token")}, "client_id": {"https://client.example/other.json"}},
		{"token": {w.ann.Secret}, "client_id": {clientID}},
		{"token": {"unknown"}, "client_id": {clientID}},
	} {
		if answered := w.form("/revoke", v); answered.status != http.StatusOK {
			t.Errorf("revoke %v: got %d %s, want 200, which tells nothing", v, answered.status, answered.body)
		}
	}
	if status, _ := w.stores(got.member("access_token"), "ann/notes"); status != http.StatusOK {
		t.Errorf("the token after that: got %d, want 200", status)
	}
	if status, _ := w.stores(w.ann.Secret, "ann/notes"); status != http.StatusOK {
		t.Errorf("the person's key after that: got %d, want 200", status)
	}
}

func TestAFormOfConsentThatThePageDidNotWriteIsRefused(t *testing.T) {
	w := newWorld(t)
	victim, attacker := w.browser(), w.browser()
	query := newAsking().query.Encode()
	login := victim.submit(victim.open(query), url.Values{"way": {"key"}, "key": {w.ann.Secret}})
	mallory := w.Issue("mallory", server.ReadWrite, "mallory")
	other := attacker.submit(attacker.open(query), url.Values{"way": {"key"}, "key": {mallory.Secret}})
	decide := url.Values{"decision": {"allow"}, "namespaces": {"ann/*"}, "right": {"read"}}
	with := func(page answer, changes ...string) url.Values {
		v := hidden(page.body)
		for name, list := range decide {
			v[name] = list
		}
		for i := 0; i < len(changes); i += 2 {
			v.Set(changes[i], changes[i+1])
		}
		return v
	}
	post := func(b *browser, v url.Values, headers ...string) answer {
		return w.form("/console/authorize", v, append([]string{"Cookie", b.cookie()}, headers...)...)
	}
	for what, got := range map[string]answer{
		"a form of another browser":       post(victim, with(other), "Origin", issuer),
		"without the cookie":              w.form("/console/authorize", with(login), "Origin", issuer),
		"without the proof":               post(victim, with(login, "proof", ""), "Origin", issuer),
		"with another request":            post(victim, with(login, "request", newAsking().query.Encode()), "Origin", issuer),
		"with another holder":             post(victim, with(login, "holder", ""), "Origin", issuer),
		"with a longer time":              post(victim, with(login, "until", "99999999999"), "Origin", issuer),
		"a login that says it is decided": post(victim, with(victim.open(query), "step", "decide", "holder", w.ann.ID), "Origin", issuer),
		"of another site":                 post(victim, with(login), "Origin", "https://evil.example"),
		"of a sandboxed page":             post(victim, with(login), "Origin", "null"),
		"of another page of the site":     post(victim, with(login), "Origin", issuer, "Sec-Fetch-Site", "same-site"),
		"from elsewhere without origin":   post(victim, with(login), "Sec-Fetch-Site", "cross-site"),
	} {
		if got.status != http.StatusForbidden || got.header.Get("Location") != "" {
			t.Errorf("%s: got %d to %q, want 403", what, got.status, got.header.Get("Location"))
		}
	}
	if got := post(victim, with(login), "Origin", issuer, "Sec-Fetch-Site", "same-origin"); got.status != http.StatusSeeOther {
		t.Errorf("the form itself: got %d %s, want the browser sent back", got.status, got.body)
	}
}

func TestThePageOfConsentCannotBeFramedAndRunsNoScript(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	page := b.open(newAsking().query.Encode())
	for what, got := range map[string]answer{"the login": page, "the consent": b.submit(page, url.Values{"way": {"key"}, "key": {w.ann.Secret}}), "an error": b.open("x=1")} {
		policy := got.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "script-src") || strings.Contains(got.body, "<script") {
			t.Errorf("%s: got the policy %q, want no frames and no scripts", what, policy)
		}
		if got.header.Get("X-Frame-Options") != "DENY" || got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: got the headers %v, want X-Frame-Options, Cache-Control and X-Content-Type-Options", what, got.header)
		}
	}
	if cookie := page.header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "Secure") {
		t.Errorf("the cookie is %q, want one that no script and no other host has", cookie)
	}
}

func TestAClientsTextIsShownAsText(t *testing.T) {
	w := newWorld(t)
	const evil = "https://client.example/evil.json"
	w.web.documents[evil] = `{"client_id":"` + evil + `","client_name":"<script>alert(1)</script>\u202e\u0000\n` + strings.Repeat("x", 500) + `","redirect_uris":["https://client.example/cb"]}`
	got := w.browser().open(newAsking().with("client_id", evil).with("redirect_uri", "https://client.example/cb").query.Encode())
	if got.status != 200 || strings.Contains(got.body, "<script") || strings.Contains(got.body, "\u202e") || strings.Contains(got.body, strings.Repeat("x", 200)) {
		t.Errorf("a hostile name: got %d %s, want it escaped, cut and without what steers text", got.status, got.body)
	}
	if !strings.Contains(got.body, "<b>client.example</b>") {
		t.Errorf("the page: got %s, want the host that the client's metadata come from", got.body)
	}
}

func TestAPersonGivesNothingThatTheyLack(t *testing.T) {
	w := newWorld(t)
	reader := w.Issue("reader", []operator.Right{"read"}, "ann/*")
	b := w.browser()
	page := b.submit(b.open(newAsking().query.Encode()), url.Values{"way": {"key"}, "key": {reader.Secret}})
	if strings.Contains(page.body, `value="write"`) || !strings.Contains(page.body, `value="read" checked`) {
		t.Errorf("the page for a key that reads: got %s, want reading alone offered", page.body)
	}
	for what, entered := range map[string]url.Values{
		"other namespaces": {"namespaces": {"*"}, "right": {"read"}},
		"no namespaces":    {"namespaces": {""}, "right": {"read"}},
		"no rights":        {"namespaces": {"ann/*"}, "right": {}},
		"rights it lacks":  {"namespaces": {"ann/*"}, "right": {"write"}},
	} {
		entered.Set("decision", "allow")
		if got := b.submit(page, entered); got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: got %d to %q, want the page again with the reason", what, got.status, got.header.Get("Location"))
		}
	}
	a := newAsking().with("scope", "read")
	to := w.browser().consents(a, reader.Secret, url.Values{"right": {"read", "write", "config"}})
	if got := w.exchange(a, to.Query().Get("code")); got.member("scope") != "read" {
		t.Errorf("rights that the client did not ask for: got %s, want read", got.body)
	}
}

func TestTheDocumentOfAClientHasLimits(t *testing.T) {
	w := newWorld(t)
	put := func(path, body string) string {
		id := "https://client.example/" + path
		w.web.documents[id] = strings.ReplaceAll(body, "ID", id)
		return id
	}
	for what, id := range map[string]string{
		"of another client":       put("other", `{"client_id":"https://client.example/x","redirect_uris":["`+callback+`"]}`),
		"without addresses":       put("none", `{"client_id":"ID"}`),
		"with an http address":    put("http", `{"client_id":"ID","redirect_uris":["http://client.example/callback"]}`),
		"with a script":           put("script", `{"client_id":"ID","redirect_uris":["javascript:alert(1)"]}`),
		"with a secret":           put("secret", `{"client_id":"ID","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"client_secret_basic"}`),
		"with too many addresses": put("many", `{"client_id":"ID","redirect_uris":["`+strings.Repeat(callback+`","`, 20)+callback+`"]}`),
		"too long":                put("long", `{"client_id":"ID","redirect_uris":["`+callback+`"],"x":"`+strings.Repeat("x", 16<<10)+`"}`),
		"elsewhere":               put("moved", "-> "+clientID),
		"no JSON":                 put("text", `hello`),
		"not there":               "https://client.example/nowhere",
		"with a fragment":         clientID + "#x",
		"over http":               strings.Replace(clientID, "https", "http", 1),
		"with a user":             strings.Replace(clientID, "client.example", "u@client.example", 1),
		"at the root":             "https://client.example/",
		"with dots":               "https://client.example/a/../metadata.json",
		"with a long name":        "https://client.example/" + strings.Repeat("x", 2048),
	} {
		if got := w.browser().open(newAsking().with("client_id", id).query.Encode()); got.status != http.StatusBadRequest {
			t.Errorf("a document %s: got %d, want 400", what, got.status)
		}
	}
	before := len(w.web.asked)
	for range 3 {
		w.browser().open(newAsking().with("client_id", "https://client.example/nowhere").query.Encode())
	}
	if len(w.web.asked) != before {
		t.Errorf("a document that was not there is asked for %d times more, want none within a minute", len(w.web.asked)-before)
	}
	for i := range 100 {
		w.browser().open(newAsking().with("client_id", fmt.Sprintf("https://client.example/%d", i)).query.Encode())
	}
	if got := w.browser().open(newAsking().with("client_id", "https://client.example/last").query.Encode()); !strings.Contains(got.body, "60 documents") || len(w.web.asked) > 60 {
		t.Errorf("after %d documents: got %s, want the limit of 60 within a minute named", len(w.web.asked), got.body)
	}
}

func TestTheServerReadsNoDocumentsInPrivateNetworks(t *testing.T) {
	w := newWorld(t, func(l *host.Listen) { l.OAuth.Fetch = nil }) // as it is outside of tests
	for _, host := range []string{"127.0.0.1", "localhost", "localhost.", "[::1]", "10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00:ec2::254]", "0x7f000001", "2130706433", "127.1", "[::ffff:127.0.0.1]", "0"} {
		got := w.browser().open(newAsking().with("client_id", "https://"+host+"/metadata.json").query.Encode())
		if got.status != http.StatusBadRequest || strings.Contains(got.body, "refused") {
			t.Errorf("a document at %s: got %d %s, want 400 that tells nothing of the network", host, got.status, got.body)
		}
	}
}

func TestClientsRegisterWhereTheOperatorAllowsIt(t *testing.T) {
	w := newWorld(t, func(l *host.Listen) { l.OAuth.Register = true })
	got := w.send("POST", "/register", `{"client_name":"Program","redirect_uris":["http://localhost:1234/cb"],"token_endpoint_auth_method":"client_secret_post"}`)
	id := got.member("client_id")
	if got.status != http.StatusCreated || id == "" || got.member("token_endpoint_auth_method") != "none" || got.member("client_secret") != "" {
		t.Fatalf("a registration: got %d %s, want a client without a secret", got.status, got.body)
	}
	a := newAsking().with("client_id", id).with("redirect_uri", "http://localhost:4321/cb")
	w.Restart()
	b := w.browser()
	if page := b.open(a.query.Encode()); !strings.Contains(page.body, "nobody checked its name") || !strings.Contains(page.body, "program on the computer") {
		t.Errorf("the page: got %s, want it to say that the client named itself and is a program", page.body)
	}
	if got := w.exchange(a, w.browser().consents(a, w.ann.Secret, nil).Query().Get("code")); got.status != http.StatusOK {
		t.Errorf("tokens after a restart: got %d %s, want them", got.status, got.body)
	}
	for what, changed := range map[string]string{"cut": id[:len(id)-2], "changed": strings.Replace(id, "alcove-client.e", "alcove-client.f", 1), "another server's": "alcove-client.e30.AAAA"} {
		if got := b.open(a.with("client_id", changed).query.Encode()); got.status != http.StatusBadRequest {
			t.Errorf("an id that is %s: got %d, want 400", what, got.status)
		}
	}
	for what, body := range map[string]string{
		"a script": `{"redirect_uris":["javascript:alert(1)"]}`, "nothing": `{}`, "no JSON": `x`, "http": `{"redirect_uris":["http://client.example/cb"]}`,
		"addresses that are too long": `{"redirect_uris":["https://client.example/` + strings.Repeat("x", 2000) + `"]}`,
	} {
		if got := w.send("POST", "/register", body); got.status != http.StatusBadRequest {
			t.Errorf("a registration with %s: got %d %s, want 400", what, got.status, got.body)
		}
	}
	if got := w.send("POST", "/register", strings.Repeat(" ", 17<<10)); got.status != http.StatusRequestEntityTooLarge {
		t.Errorf("a registration of 17 KiB: got %d %s, want 413", got.status, got.body)
	}
}

func TestFormsOfClientsAreRead(t *testing.T) {
	w := newWorld(t)
	for what, got := range map[string]answer{
		"a GET":              w.send("GET", "/token", ""),
		"JSON":               w.send("POST", "/token", `{"grant_type":"refresh_token"}`, "Content-Type", "application/json"),
		"another grant type": w.form("/token", url.Values{"grant_type": {"password"}}),
		"a member twice":     w.form("/token", url.Values{"grant_type": {"refresh_token", "refresh_token"}}),
		"no token":           w.form("/revoke", url.Values{"client_id": {clientID}}),
		"a long form":        w.form("/token", url.Values{"code": {strings.Repeat("x", 20<<10)}}),
	} {
		if got.status < 400 || got.status >= 500 || got.member("access_token") != "" {
			t.Errorf("%s: got %d %s, want it refused", what, got.status, got.body)
		}
	}
}

func TestFailedLoginsOnThePageAreThrottledAndRecorded(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	page := b.open(newAsking().query.Encode())
	statuses := map[int]int{}
	for range 25 {
		statuses[b.submit(page, url.Values{"way": {"key"}, "key": {"alcove_key_000000000000_wrong"}}).status]++
	}
	if statuses[http.StatusUnauthorized] != 20 || statuses[http.StatusTooManyRequests] != 5 {
		t.Errorf("25 wrong keys: got the statuses %v, want 20 times 401 and 5 times 429", statuses)
	}
	if got := b.submit(page, url.Values{"way": {"key"}, "key": {w.ann.Secret}}); got.status != http.StatusOK {
		t.Errorf("the right key after that: got %d, want 200", got.status)
	}
}

func TestACodeOfAnInvitationIsAcceptedOnThePage(t *testing.T) {
	w := newWorld(t)
	invited, err := operator.Call(t.Context(), w.Acts, operator.InvitePerson, operator.InvitationRequest{Agent: "cleo"})
	if err != nil {
		t.Fatal(err)
	}
	a := newAsking()
	to := w.browser().consents(a, invited.Code, url.Values{"namespaces": {"cleo"}})
	token := w.exchange(a, to.Query().Get("code")).member("access_token")
	if status, body := w.stores(token, "cleo"); status != http.StatusOK || strings.Contains(body, `"isError":true`) {
		t.Errorf("a store by the client of who was invited: got %d %s, want it done", status, body)
	}
	b := w.browser()
	if got := b.submit(b.open(newAsking().query.Encode()), url.Values{"way": {"key"}, "key": {invited.Code}}); got.status != http.StatusUnauthorized {
		t.Errorf("the code again: got %d, want 401", got.status)
	}
}
