package console_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// refused checks the status of an answer, and that it says why.
func refused(t *testing.T, what string, status int, body string, want int) {
	t.Helper()
	if status != want || !strings.Contains(body, `"error"`) || !strings.Contains(body, `"message"`) {
		t.Errorf("%s is answered with %d %.300s, want %d and why", what, status, body, want)
	}
}

const store = `{"key":"planted","value":"x"}`

// stored reports whether the request of store was served.
func stored(t *testing.T, b *browser) bool {
	t.Helper()
	_, body := b.send("POST", "api/operation/memory_recall", `{"key":"planted"}`)
	return strings.Contains(body, `"value":"x"`)
}

func TestARequestWithoutTheSessionsTokenIsRefused(t *testing.T) {
	s := server.Start(t, host.Options{})
	b, other := asOperator(t, s), asOperator(t, s)
	for name, token := range map[string]string{"none": "", "a wrong one": "x", "that of another session": other.who.CSRF, "a part": b.who.CSRF[:42]} {
		status, body := b.send("POST", "api/operation/memory_store", store, "Alcove-Console", token)
		refused(t, "a store with "+name, status, body, http.StatusForbidden)
		status, body = b.send("POST", "api/acts/health", "{}", "Alcove-Console", token)
		refused(t, "an act with "+name, status, body, http.StatusForbidden)
	}
	if stored(t, b) {
		t.Error("a refused request has stored a memory")
	}
}

func TestARequestThatAnotherPageSendsIsRefused(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	for name, headers := range map[string][]string{
		"of another site":                      {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		"of another port of this machine":      {"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"},
		"of another port, by an old browser":   {"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", ""},
		"of another site, without its origin":  {"Origin", "", "Sec-Fetch-Site", "cross-site"},
		"of a file":                            {"Origin", "null", "Sec-Fetch-Site", "cross-site"},
		"that the user typed into the address": {"Origin", "", "Sec-Fetch-Site", "none"},
	} {
		for _, path := range []string{"api/operation/memory_store", "api/acts/health"} {
			status, body := b.send("POST", path, store, headers...)
			refused(t, "a request "+name+" to "+path, status, body, http.StatusForbidden)
		}
		status, body := b.send("GET", "api/session", "", headers...)
		refused(t, "a look at the session "+name, status, body, http.StatusForbidden)
		status, body = newBrowser(t, s).send("POST", "api/session", `{"ticket":"`+ticketOf(t, s)+`"}`, headers...)
		refused(t, "a login "+name, status, body, http.StatusForbidden)
	}
	if stored(t, b) {
		t.Error("a refused request has stored a memory")
	}
}

func TestALoginThatAFormCouldSendIsRefused(t *testing.T) {
	s := server.Start(t, host.Options{})
	for _, kind := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""} {
		status, body := newBrowser(t, s).send("POST", "api/session", `{"ticket":"`+ticketOf(t, s)+`"}`, "Content-Type", kind)
		refused(t, "a login as "+kind, status, body, http.StatusUnsupportedMediaType)
	}
}

func TestPagesCannotBeFramedAndRunOnlyTheirOwnScripts(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	asset := firstAsset(t)
	for _, path := range []string{"", "memories/some-key", "icon.svg", asset, "nothing.js", "api/session", "api/nothing"} {
		r := b.do("GET", path, "")
		r.Body.Close()
		policy := r.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'", "connect-src 'self'", "report-uri /console/api/csp"} {
			if !slices.Contains(strings.Split(policy, "; "), part) {
				t.Errorf("%q has the policy %q, want %s in it", path, policy, part)
			}
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%q has %s %q, want %q", path, name, got, want)
			}
		}
		if !strings.Contains(r.Header.Get("Permissions-Policy"), "camera=()") || r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%q has the headers %v, want a Permissions-Policy and no other origin allowed", path, r.Header)
		}
	}
}

// firstAsset is the path of a file whose name has a hash.
func firstAsset(t *testing.T) string {
	t.Helper()
	list, err := filepath.Glob("dist/assets/*")
	if err != nil || len(list) == 0 {
		t.Fatalf("the built application has no assets: %v", err)
	}
	return strings.TrimPrefix(filepath.ToSlash(list[0]), "dist/")
}

func TestFilesAreCachedAsLongAsTheyHold(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := newBrowser(t, s)
	get := func(path string, headers ...string) *http.Response {
		r := b.do("GET", path, "", headers...)
		r.Body.Close()
		return r
	}
	if r := get(firstAsset(t)); r.StatusCode != 200 || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("an asset is %d with %q, want it to hold for ever", r.StatusCode, r.Header.Get("Cache-Control"))
	}
	first := get("")
	tag := first.Header.Get("ETag")
	if first.Header.Get("Cache-Control") != "no-cache" || tag == "" || first.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("the page has the headers %v, want HTML that is asked for again, by its ETag", first.Header)
	}
	if r := get("sessions", "If-None-Match", tag); r.StatusCode != http.StatusNotModified {
		t.Errorf("the page of a route is %d for its ETag, want 304", r.StatusCode)
	}
	if r := get("", "Accept-Encoding", "identity"); r.Header.Get("Content-Encoding") != "" || r.Header.Get("ETag") == tag {
		t.Errorf("the page for a browser that unpacks nothing has the headers %v, want it as it is, with another ETag", r.Header)
	}
	if r := get("", "Accept-Encoding", "gzip, br"); r.Header.Get("Content-Encoding") != "gzip" || r.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("the page for a browser that unpacks gzip has the headers %v", r.Header)
	}
	for path, want := range map[string]int{"memories/a/b": 200, "memories/a/main.go": 200, "../token": 404, "assets/none-12345678.js": 404} {
		if r := get(path); r.StatusCode != want {
			t.Errorf("%s is %d, want %d", path, r.StatusCode, want)
		}
	}
	status, body := b.send("POST", "", "x")
	refused(t, "a POST to the page", status, body, http.StatusMethodNotAllowed)
}

func TestAHostThatWasPointedHereIsRefused(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	for _, path := range []string{"", "api/session"} {
		status, body := b.send("GET", path, "", "Host", "evil.example", "Origin", "http://evil.example")
		refused(t, "a request for evil.example to "+path, status, body, http.StatusForbidden)
		status, body = b.send("GET", path, "", "Host", "evil.example", "Origin", "")
		refused(t, "a request for evil.example without an origin to "+path, status, body, http.StatusForbidden)
	}
	status, body := b.send("POST", "api/operation/memory_store", store, "Host", "evil.example:9742", "Origin", "http://evil.example:9742")
	refused(t, "a store for evil.example", status, body, http.StatusForbidden)
}

// streamOf opens a stream as a browser does.
func streamOf(b *browser, query, origin string) (*websocket.Conn, int, error) {
	header := http.Header{"Origin": {origin}, "Sec-Fetch-Site": {"same-origin"}}
	ws, r, err := websocket.Dial(b.t.Context(), "ws"+strings.TrimPrefix(b.url, "http")+"api/stream"+query, &websocket.DialOptions{HTTPClient: b.client, HTTPHeader: header})
	if r == nil {
		return ws, 0, err
	}
	return ws, r.StatusCode, err
}

// endOf reads a stream to its end.
func endOf(b *browser, ws *websocket.Conn) error {
	for {
		if _, _, err := ws.Read(b.t.Context()); err != nil {
			return err
		}
	}
}

func (b *browser) origin() string { return strings.TrimSuffix(b.url, "/console/") }

func TestAStreamNeedsTheTokenAndTheOrigin(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	for name, c := range map[string]struct{ query, origin string }{
		"no token":      {"", b.origin()},
		"a wrong token": {"?csrf=x", b.origin()},
		"another site":  {"?csrf=" + b.who.CSRF, "https://evil.example"},
		"another port":  {"?csrf=" + b.who.CSRF, "http://127.0.0.1:1"},
		"no origin's":   {"?csrf=" + b.who.CSRF, "null"},
	} {
		if _, status, err := streamOf(b, c.query, c.origin); err == nil || status != http.StatusForbidden {
			t.Errorf("a stream with %s is answered with %d, %v, want 403", name, status, err)
		}
	}
	if _, status, err := streamOf(newBrowser(t, s), "?csrf="+b.who.CSRF, b.origin()); err == nil || status != http.StatusUnauthorized {
		t.Errorf("a stream without a session is answered with %d, %v, want 401", status, err)
	}
	ws, _, err := streamOf(b, "?csrf="+b.who.CSRF, b.origin())
	if err != nil {
		t.Fatalf("a stream of the session: %v", err)
	}
	defer ws.CloseNow()
	ask := `{"id":1,"method":"memory_store","params":` + store + `}`
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(ask)); err != nil {
		t.Fatalf("write an operation: %v", err)
	}
	if _, text, err := ws.Read(t.Context()); err != nil || !strings.Contains(string(text), `"result"`) {
		t.Errorf("an operation on the stream is answered with %s, %v", text, err)
	}
	b.send("DELETE", "api/session", "")
	if err := endOf(b, ws); websocket.CloseStatus(err) != websocket.StatusPolicyViolation || !strings.Contains(err.Error(), "over") {
		t.Errorf("the stream of a session that ended ends with %v, want that it is over", err)
	}
}

func TestATicketOpensOnce(t *testing.T) {
	s := server.Start(t, host.Options{})
	ticket := ticketOf(t, s)
	newBrowser(t, s).in(`{"ticket":"` + ticket + `"}`)
	status, body := newBrowser(t, s).send("POST", "api/session", `{"ticket":"`+ticket+`"}`)
	refused(t, "a ticket that was used", status, body, http.StatusUnauthorized)
}

func TestGuessesAreThrottledAndCountedAndKeepNobodyOut(t *testing.T) {
	s := server.Start(t, host.Options{})
	got := map[int]int{}
	for i := range 40 {
		login := fmt.Sprintf(`{"ticket":"guess%d"}`, i)
		if i%2 == 1 {
			login = fmt.Sprintf(`{"key":"alcove_key_0123456789ab_guess%d"}`, i)
		}
		r := newBrowser(t, s).do("POST", "api/session", login)
		r.Body.Close()
		got[r.StatusCode]++
		if r.StatusCode == http.StatusTooManyRequests && r.Header.Get("Retry-After") == "" {
			t.Error("a throttled login does not say when to try again")
		}
	}
	if got[http.StatusUnauthorized] != 20 || got[http.StatusTooManyRequests] != 20 {
		t.Errorf("40 guesses are answered with %v, want 20 with 401 and 20 with 429", got)
	}
	asOperator(t, s)
	denied, err := operator.Call(t.Context(), s.Acts, operator.ListAudit, operator.AuditQuery{Denied: true})
	if err != nil || len(denied.Entries) == 0 || denied.Entries[0].Client != "127.0.0.1" {
		t.Errorf("the audit log has the denials %+v, %v, want those of 127.0.0.1", denied.Entries, err)
	}
}

func TestTheCookieOfAnotherProcessIsRefused(t *testing.T) {
	s, other := server.Start(t, host.Options{}), server.Start(t, host.Options{})
	b := asOperator(t, s)
	elsewhere := &browser{t: t, url: other.URL() + "/console/", client: b.client, who: b.who} // cookies know no ports
	status, body := elsewhere.send("POST", "api/acts/health", "{}")
	refused(t, "an act with the cookie of another server", status, body, http.StatusUnauthorized)
	s.Restart()
	b.url = s.URL() + "/console/"
	status, body = b.send("POST", "api/acts/health", "{}")
	refused(t, "an act with the cookie of the server before", status, body, http.StatusUnauthorized)
}

func TestALoginEndsTheSessionBefore(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	at, err := url.Parse(b.url)
	if err != nil {
		t.Fatal(err)
	}
	before, token := b.client.Jar.Cookies(at)[0], b.who.CSRF
	b.in(`{"key":"` + s.Issue("ann", []operator.Right{"read"}, "*").Secret + `"}`)
	if b.who.Operator || b.who.CSRF == token {
		t.Errorf("the session after a login with a key is %+v, want a new one, of the key", b.who)
	}
	before.Path = at.Path
	b.client.Jar.SetCookies(at, []*http.Cookie{before})
	status, body := b.send("POST", "api/acts/health", "{}", "Alcove-Console", token)
	refused(t, "an act in the session before", status, body, http.StatusUnauthorized)
}

func TestTheCookieIsForTheConsoleAloneAndForNoScript(t *testing.T) {
	s := server.Start(t, host.Options{})
	r := newBrowser(t, s).do("POST", "api/session", `{"ticket":"`+ticketOf(t, s)+`"}`)
	r.Body.Close()
	if len(r.Cookies()) != 1 {
		t.Fatalf("the login sets the cookies %v, want one", r.Cookies())
	}
	c := r.Cookies()[0]
	if c.Name != "alcove_console" || c.Path != "/console/" || !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteStrictMode || c.Domain != "" || len(c.Value) < 43 {
		t.Errorf("the cookie is %+v, want an alcove_console of 32 bytes for /console/, HttpOnly and SameSite=Strict", c)
	}
}

func TestTheSessionOfAKeyIsItsPartAlone(t *testing.T) {
	s := server.Teas(t)
	key := s.Issue("ann", []operator.Right{"read"}, "team/*")
	b := withKey(t, s, key)
	if w := b.who; w.Operator || w.Agent != "ann" || !slices.Equal(w.Rights.Read, []string{"team/*"}) || len(w.Rights.Write) != 0 {
		t.Errorf("the session is %+v, want ann's with reading in team/* alone", w)
	}
	if _, body := b.send("POST", "api/operation/memory_recall?namespace=team/a", `{"key":"k"}`); !strings.Contains(body, "tea of the team") {
		t.Errorf("a recall in team/a is answered with %s, want its text", body)
	}
	for path, request := range map[string]string{"memory_recall?namespace=home": `{"key":"k"}`, "memory_store?namespace=team/a": store} {
		if _, body := b.send("POST", "api/operation/"+path, request); !strings.Contains(body, "E_DENIED") {
			t.Errorf("%s is answered with %s, want a refusal", path, body)
		}
	}
	for _, act := range []string{"health", "keys", "key-create", "console-ticket", "backup", "audit", "purge", "none"} {
		status, body := b.send("POST", "api/acts/"+act, "{}", "Alcove-Confirm", act)
		refused(t, "the act "+act+" in the session of a key", status, body, http.StatusForbidden)
	}
}

func TestASessionEndsWithItsKey(t *testing.T) {
	s := server.Start(t, host.Options{})
	key := s.Issue("ann", []operator.Right{"read", "write"}, "*")
	b := withKey(t, s, key)
	ws, _, err := streamOf(b, "?csrf="+b.who.CSRF, b.origin())
	if err != nil {
		t.Fatalf("a stream of the session: %v", err)
	}
	defer ws.CloseNow()
	if _, err := operator.Call(t.Context(), s.Acts, operator.RevokeKey, operator.KeyID{ID: key.ID}); err != nil {
		t.Fatalf("revoke the key: %v", err)
	}
	if err := endOf(b, ws); !strings.Contains(err.Error(), "revoked") {
		t.Errorf("the stream ends with %v, want that the key was revoked", err)
	}
	status, body := b.send("POST", "api/operation/memory_store", store)
	refused(t, "a store with a revoked key", status, body, http.StatusUnauthorized)
	if !strings.Contains(body, "revoked") {
		t.Errorf("the refusal says %s, want that the key was revoked", body)
	}
	status, body = b.send("GET", "api/session", "")
	refused(t, "a look at the session of a revoked key", status, body, http.StatusUnauthorized)
}

func TestASessionEndsWhenItsKeyExpires(t *testing.T) {
	var ahead atomic.Int64
	s := server.Start(t, host.Options{Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
	key, err := operator.Call(t.Context(), s.Acts, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"*"}, Rights: []operator.Right{"read"}, Expires: "1h"})
	if err != nil {
		t.Fatalf("create a key: %v", err)
	}
	b := withKey(t, s, key)
	ahead.Store(int64(2 * time.Hour))
	status, body := b.send("POST", "api/operation/memory_recall", `{"key":"k"}`)
	refused(t, "a recall with an expired key", status, body, http.StatusUnauthorized)
	status, body = newBrowser(t, s).send("POST", "api/session", `{"key":"`+key.Secret+`"}`)
	refused(t, "a login with an expired key", status, body, http.StatusUnauthorized)
}

func TestAnActThatChangesSomethingNeedsItsConfirmation(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	create := `{"agent":"ann","namespaces":["*"],"rights":["read"]}`
	for _, confirmed := range []string{"", "keys", "true"} {
		status, body := b.send("POST", "api/acts/key-create", create, "Alcove-Confirm", confirmed)
		if status != http.StatusForbidden || !strings.Contains(body, "Alcove-Confirm: key-create") {
			t.Errorf("a key with the confirmation %q is answered with %d %s, want how to confirm", confirmed, status, body)
		}
	}
	if status, body := b.send("POST", "api/acts/key-create", create, "Alcove-Confirm", "key-create"); status != http.StatusOK || !strings.Contains(body, `"secret"`) {
		t.Errorf("a confirmed key is answered with %d %s", status, body)
	}
	for act, request := range map[string]string{"keys": "{}", "audit": "{}", "family-undo": `{"call":"none"}`, "memories-move": `{"id":"m","from":"a","to":"b","dry_run":true}`, "trust": "{}"} {
		if status, body := b.send("POST", "api/acts/"+act, request); status == http.StatusForbidden {
			t.Errorf("%s, which changes nothing, is refused: %s", act, body)
		}
	}
	if status, body := b.send("POST", "api/acts/family-undo", `{"call":"none","apply":true}`); status != http.StatusForbidden {
		t.Errorf("an undo that is applied without confirmation is answered with %d %s, want 403", status, body)
	}
}

func TestStreamsOfActsAreDownloads(t *testing.T) {
	s := server.Start(t, host.Options{})
	s.Put("notes", "tea", "green")
	b := asOperator(t, s)
	r := b.do("POST", "api/acts/memories", "{}")
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Disposition") != "attachment" || r.Header.Get("Content-Type") != "application/octet-stream" {
		t.Errorf("the memories are %d with %v, want a download", r.StatusCode, r.Header)
	}
	status, body := b.send("POST", "api/acts/memories", `{"branch":"none"}`)
	if status == http.StatusOK {
		t.Errorf("the memories of a branch that does not exist are answered with %d %s, want a failure", status, body)
	}
}

func TestAReadOnlyServerChangesNothing(t *testing.T) {
	dir := t.TempDir()
	server.Start(t, host.Options{Dir: dir}).Stop()
	s := server.Start(t, host.Options{Dir: dir, ReadOnly: true})
	b := asOperator(t, s)
	if !b.who.ReadOnly || len(b.who.Rights.Write) != 0 {
		t.Errorf("the session is %+v, want one that writes nothing", b.who)
	}
	if _, body := b.send("POST", "api/operation/memory_store", store); !strings.Contains(body, `"error"`) || stored(t, b) {
		t.Errorf("a store is answered with %s, want a refusal", body)
	}
	status, body := b.send("POST", "api/acts/key-create", `{"agent":"ann","namespaces":["*"],"rights":["read"]}`, "Alcove-Confirm", "key-create")
	refused(t, "a key", status, body, http.StatusForbidden)
	if status, body := b.send("POST", "api/acts/keys", "{}"); status != http.StatusOK {
		t.Errorf("the keys are answered with %d %s, want them", status, body)
	}
}

func TestOnALockedServerOperatorsChangeNothing(t *testing.T) {
	s := server.Start(t, host.Options{Locked: true})
	b := asOperator(t, s)
	if !b.who.Locked {
		t.Errorf("the session is %+v, want it to be locked", b.who)
	}
	for act, request := range map[string]string{"key-create": `{"agent":"ann","namespaces":["*"],"rights":["read"]}`, "trust": `{"name":"x","remove":true}`,
		"posture-set": "{}", "set-retention": "{}", "family-grant": "{}", "lock": "{}"} {
		status, body := b.send("POST", "api/acts/"+act, request, "Alcove-Confirm", act)
		refused(t, "the act "+act, status, body, http.StatusForbidden)
	}
	if status, body := b.send("POST", "api/acts/retention", "{}"); status != http.StatusOK {
		t.Errorf("the retention is answered with %d %s, want it", status, body)
	}
	if _, body := b.send("POST", "api/operation/memory_store", store); !strings.Contains(body, `"result"`) {
		t.Errorf("a store is answered with %s, want it stored: the lock is for families and policy", body)
	}
}

// beyond is a server that other machines can connect to.
func beyond(t *testing.T, l host.Listen) (*server.Server, *http.Client) {
	t.Helper()
	files, pool := testcert.Write(t, t.TempDir(), "alcove.test")
	required := true
	l.HTTP, l.TLSCert, l.TLSKey, l.RequireKeys = "0.0.0.0:0", files.Cert, files.Key, &required
	s := server.StartOn(t, host.Options{}, l)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, &http.Client{Jar: jar, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: "alcove.test"}}}
}

func TestOtherMachinesReachTheConsoleOnlyIfToldSo(t *testing.T) {
	yes := true
	s, client := beyond(t, host.Listen{})
	port := s.At.HTTP[strings.LastIndex(s.At.HTTP, ":"):]
	if r, err := client.Get("https://127.0.0.1" + port + "/console/"); err != nil || r.StatusCode == http.StatusOK {
		t.Errorf("the console is %v, %v, want none", r, err)
	}
	if _, err := operator.Query(t.Context(), s.Acts, operator.OpenConsole); err == nil || !strings.Contains(err.Error(), "--console") {
		t.Errorf("a ticket is answered with %v, want how to get one", err)
	}
	s, client = beyond(t, host.Listen{Console: &yes})
	port = s.At.HTTP[strings.LastIndex(s.At.HTTP, ":"):]
	issued, err := operator.Query(t.Context(), s.Acts, operator.OpenConsole)
	if err != nil || !strings.HasPrefix(issued.Address, "https://127.0.0.1"+port+"/console/#ticket=") {
		t.Fatalf("the address is %q, %v, want one of this machine", issued.Address, err)
	}
	b := &browser{t: t, url: "https://127.0.0.1" + port + "/console/", client: client}
	_, ticket, _ := strings.Cut(issued.Address, "#ticket=")
	r := b.do("POST", "api/session", `{"ticket":"`+ticket+`"}`)
	r.Body.Close()
	if len(r.Cookies()) != 1 || !r.Cookies()[0].Secure {
		t.Errorf("the login over TLS is %d with the cookies %v, want one that is Secure", r.StatusCode, r.Cookies())
	}
}

func TestWithoutAConsoleThereIsNone(t *testing.T) {
	no := false
	s := server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", Console: &no})
	for _, path := range []string{"/console/", "/console/api/session"} {
		if status, body := s.Send("GET", path, "", nil); status != http.StatusNotFound {
			t.Errorf("%s is %d %s, want 404", path, status, body)
		}
	}
	if _, err := operator.Query(t.Context(), s.Acts, operator.OpenConsole); err == nil || !strings.Contains(err.Error(), "--no-console") {
		t.Errorf("a ticket is answered with %v, want why there is none", err)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := asOperator(t, s)
	long := strings.Repeat("x", 20<<10)
	for path, body := range map[string]string{"api/session": `{"key":"` + long + `"}`, "api/csp": long, "": long, "api/nothing": long} {
		status, answer := b.send("POST", path, body)
		refused(t, "a long body to "+path, status, answer, http.StatusRequestEntityTooLarge)
	}
	status, answer := b.send("POST", "api/operation/memory_store", `{"key":"`+strings.Repeat("x", 17<<20)+`"}`)
	refused(t, "an operation of 17 MiB", status, answer, http.StatusRequestEntityTooLarge)
}

func TestTheTokenOfTheDirectoryOpensNoSession(t *testing.T) {
	s := server.Start(t, host.Options{})
	b := newBrowser(t, s)
	status, body := b.send("POST", "api/session", `{"key":"`+s.Token()+`"}`)
	refused(t, "a login with the token of the data directory", status, body, http.StatusUnauthorized)
	status, body = b.send("POST", "api/acts/health", "{}", "Authorization", "Bearer "+s.Token())
	refused(t, "an act with the token of the data directory", status, body, http.StatusUnauthorized)
}

func TestWhereKeysAreRequiredTheOperatorNeedsNone(t *testing.T) {
	required := true
	s := server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", RequireKeys: &required})
	b := asOperator(t, s)
	if _, body := b.send("POST", "api/operation/memory_store", store); !strings.Contains(body, `"result"`) || !stored(t, b) {
		t.Errorf("a store of the operator is answered with %s, want it stored", body)
	}
}
