package rights_test

import (
	"bytes"
	"crypto/tls"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/front/httpsessions"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

func TestAClientWithAKeyIsItsAgentWithItsRights(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "team/*")
	c, err := k.Connect(owner.Hello{Key: ann.Secret, Agent: "mallory"})
	if err != nil {
		t.Fatal(err)
	}
	found, err := c.Call(t.Context(), "memory_search", map[string]any{"query": "tea"})
	if err != nil || !strings.Contains(found.Text, "of the team") || !strings.Contains(found.Text, "of others") || strings.Contains(found.Text, "home") {
		t.Errorf("the socket finds %s, %v", found.Text, err)
	}
	if _, err := c.Call(t.Context(), "memory_store", map[string]any{"key": "mine", "value": 1, "namespace": "team/new"}); err != nil {
		t.Error(err)
	}
	if _, err := c.Call(t.Context(), "memory_store", map[string]any{"key": "mine", "value": 1, "namespace": "home"}); err == nil || !strings.Contains(err.Error(), `may not write namespace "home"`) {
		t.Errorf("a foreign namespace: %v", err)
	}
	if _, err := c.Call(t.Context(), "memory_branch", map[string]any{"action": "create", "name": "draft"}); err == nil || !strings.Contains(err.Error(), "the right branch") {
		t.Errorf("a branch: %v", err)
	}
	m, err := server.Owner(k.Host, "").Recall(t.Context(), memory.Location{Namespace: "team/new"}, "mine", memory.AsOf{})
	if err != nil || m.Agent != "ann" {
		t.Errorf("it was written by %+v, %v", m, err)
	}
	for name, call := range map[string]func() (int, string){
		"a bearer token": func() (int, string) { return k.Post(ann.Secret, "", "memory_search", `{"query":"tea"}`) },
		"a call's meta": func() (int, string) {
			return k.Post(k.Host.Token(), ann.Secret, "memory_search", `{"query":"tea"}`)
		},
	} {
		if status, body := call(); status != http.StatusOK || !strings.Contains(body, "of the team") || strings.Contains(body, "home") {
			t.Errorf("%s: status %d, body %s, want what is of the team alone", name, status, body)
		}
	}
	if _, body := k.Post(k.Host.Token(), ann.Secret+"x", "memory_search", `{"query":"tea"}`); !strings.Contains(body, "not known here") || strings.Contains(body, "of the team") {
		t.Errorf("a forged key in a call's meta: %s", body)
	}
	if status, body := k.Post(ann.Secret+"x", "", "memory_search", `{"query":"tea"}`); status != http.StatusUnauthorized || !strings.Contains(body, "not known here") {
		t.Errorf("a forged bearer token: %d %s", status, body)
	}
}

func TestAKeyWithoutTheUsualNamespaceBeginsInItsOwn(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "team/*", "notes")
	c, err := k.Connect(owner.Hello{Key: ann.Secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "memory_store", map[string]any{"key": "mine", "value": 1}); err != nil {
		t.Error(err)
	}
	if m, err := server.Owner(k.Host, "").Recall(t.Context(), memory.Location{Namespace: "notes"}, "mine", memory.AsOf{}); err != nil || m == nil {
		t.Errorf("Recall(mine) = %+v, %v, want the memory in notes", m, err)
	}
}

func TestAKeyForAPatternBeginsWithinIt(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "team/*")
	c, err := k.Connect(owner.Hello{Key: ann.Secret})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "memory_store", map[string]any{"key": "mine", "value": "of ann"}); err != nil {
		t.Error(err)
	}
	if m, err := server.Owner(k.Host, "").Recall(t.Context(), memory.Location{Namespace: "team/default"}, "mine", memory.AsOf{}); err != nil || m == nil {
		t.Errorf("stored is %+v, %v, want it in team/default", m, err)
	}
	for name, call := range map[string]func() (int, string){
		"a bearer token": func() (int, string) { return k.Post(ann.Secret, "", "memory_recall", `{"key":"mine"}`) },
		"a call's meta":  func() (int, string) { return k.Post(k.Host.Token(), ann.Secret, "memory_recall", `{"key":"mine"}`) },
		"its status":     func() (int, string) { return k.Post(ann.Secret, "", "memory_status", `{}`) },
	} {
		if _, body := call(); !strings.Contains(body, "of ann") && !strings.Contains(body, `"namespace":"team/default"`) {
			t.Errorf("%s: got %s", name, body)
		}
	}
	const want = `, but team/*: name one of these, or ask the memory's owner for that right`
	if _, body := k.Post(ann.Secret, "", "memory_recall", `{"key":"k","namespace":"home"}`); !strings.Contains(body, want) {
		t.Errorf("another namespace: got %s, want %s", body, want)
	}
	named, err := k.Connect(owner.Hello{Key: ann.Secret, Namespace: "home"})
	if err != nil {
		t.Fatal(err)
	}
	if status, err := named.Call(t.Context(), "memory_status", nil); err != nil || !strings.Contains(status.Text, `"namespace":"*"`) || !strings.Contains(status.Text, `"keys":3`) {
		t.Errorf("the status of a session in another namespace: got %v, %v, want that of all it may read", status, err)
	}
	if _, err := named.Call(t.Context(), "memory_recall", map[string]any{"key": "k"}); err == nil || !strings.Contains(err.Error(), `may not read namespace "home"`) {
		t.Errorf("a recall in a namespace that the client named: got %v, want a denial", err)
	}
}

// keptFor returns what the next server of a directory would know of a session.
func keptFor(t *testing.T, dir, id string) (state []byte, kept bool) {
	t.Helper()
	text, err := os.ReadFile(owner.HTTPSessionsPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sessions")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	next, err := httpsessions.Open(httpsessions.Options{Path: path, Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer next.Close()
	_, state, kept = next.Get(id)
	return state, kept
}

func TestARevokedKeyEndsWhatItsClientsHaveOpen(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann, bob := k.Issue("ann", server.ReadWrite, "*"), k.Issue("bob", server.ReadWrite, "*")
	conn, err := owner.Connect(t.Context(), k.At.Socket, owner.Hello{Key: ann.Secret})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begun := k.Do("POST", ann.Secret, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	begun.Body.Close()
	session := []string{"Mcp-Session-Id", begun.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25"}
	stream := k.Do("GET", ann.Secret, "", session...)
	defer stream.Body.Close()
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if stolen := k.Do("POST", bob.Secret, list, session...); stolen.StatusCode != http.StatusNotFound {
		t.Errorf("another key's session: %d", stolen.StatusCode)
	}
	if own := k.Do("POST", ann.Secret, list, session...); own.StatusCode != http.StatusOK {
		t.Errorf("its own session: %d", own.StatusCode)
	}
	if _, kept := keptFor(t, k.Dir, session[1]); !kept {
		t.Error("the session is not kept for the next server")
	}
	if _, err := operator.Call(t.Context(), k.Acts, operator.RevokeKey, operator.KeyID{ID: ann.ID}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan string, 2)
	for name, from := range map[string]io.Reader{"the connection": conn, "the stream": stream.Body} {
		go func() {
			io.Copy(io.Discard, from)
			ended <- name
		}()
	}
	await.Value(t, "one ends", ended)
	await.Value(t, "the other ends", ended)
	if status, body := k.Post(ann.Secret, "", "memory_status", `{}`); status != http.StatusUnauthorized || !strings.Contains(body, "was revoked") {
		t.Errorf("a request: %d %s", status, body)
	}
	if state, kept := keptFor(t, k.Dir, session[1]); kept {
		t.Errorf("its session is still kept for the next server: %s", state)
	}
	if _, err := k.Connect(owner.Hello{Key: ann.Secret}); err == nil || !strings.Contains(err.Error(), "was revoked") {
		t.Errorf("a connection: %v", err)
	}
	if status, body := k.Post(bob.Secret, "", "memory_status", `{}`); status != http.StatusOK {
		t.Errorf("another key: %d %s", status, body)
	}
}

func TestAServerThatRequiresKeysRefusesTheKeyless(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	ann := k.Issue("ann", server.ReadWrite, "*")
	before, err := k.Connect(owner.Hello{})
	if err != nil {
		t.Fatalf("the first key changes nothing: %v", err)
	}
	if err := k.Host.RequireKeys(true); err != nil {
		t.Fatal(err)
	}
	if _, err := before.Call(t.Context(), "memory_status", nil); err != nil {
		t.Errorf("a client that is connected: %v", err)
	}
	if _, err := k.Connect(owner.Hello{}); err == nil || !strings.Contains(err.Error(), "requires an API key") {
		t.Errorf("the socket: %v", err)
	}
	for name, token := range map[string]string{"the token": k.Host.Token(), "none": "", "another": "x"} {
		if status, body := k.Post(token, "", "memory_status", `{}`); status != http.StatusUnauthorized || !strings.Contains(body, "requires an API key") {
			t.Errorf("%s: status %d, body %s, want %d, for it requires a key", name, status, body, http.StatusUnauthorized)
		}
	}
	if _, err := k.Connect(owner.Hello{Key: ann.Secret}); err != nil {
		t.Errorf("with a key: %v", err)
	}
	if list, err := operator.Query(t.Context(), k.Acts, operator.ListKeys); err != nil || !list.Required || len(list.Keys) != 1 {
		t.Errorf("an operator without a key: %+v, %v", list, err)
	}
}

func TestADamagedFileOfKeysKeepsTheServerFromStarting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Open(t, host.Options{Dir: dir}).Close()
	if err := os.WriteFile(owner.KeysPath(dir), bytes.Repeat([]byte("{"), 10), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := host.Open(t.Context(), host.Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "keys.json is damaged") {
		t.Errorf("Open: %v, want the error that keys.json is damaged", err)
	}
}

func TestAServerWithTLSIsReachedAtTheURLOfItsRecord(t *testing.T) {
	t.Parallel()
	files, pool := testcert.Write(t, t.TempDir())
	k := server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", TLSCert: files.Cert, TLSKey: files.Key})
	written, err := owner.ReadRecord(k.Dir)
	if err != nil || written.URL() != "https://"+k.At.HTTP {
		t.Fatalf("the record has %q (%v)", written.URL(), err)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequest(http.MethodPost, written.URL()+"/operation", strings.NewReader(`{"method": "search", "params": {"query": "tea"}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+k.Issue("reader", []operator.Right{"read"}, "team/a").Secret)
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("answered %s", answer.Status)
	}
}

func TestTheLimitsOfAKeyHoldOnEveryFrontEnd(t *testing.T) {
	t.Parallel()
	k := server.Teas(t)
	issue := func(l operator.KeyLimits) operator.IssuedKey {
		t.Helper()
		issued, err := operator.Call(t.Context(), k.Acts, operator.CreateKey, operator.KeyRequest{Agent: "ann", Namespaces: []string{"team/a"}, Rights: server.ReadWrite, Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		return issued
	}
	operation := func(token, body string) (*http.Response, string) {
		t.Helper()
		q, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+k.At.HTTP+"/operation", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		data, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(data)
	}
	const status, slow = `{"method":"status"}`, .01 // a call in 100 s
	once := issue(operator.KeyLimits{CallsPerSecond: slow, Burst: 1})
	if answer, body := operation(once.Secret, status); answer.StatusCode != 200 || strings.Contains(body, `"error"`) {
		t.Fatalf("the first operation: %d %s", answer.StatusCode, body)
	}
	answer, body := operation(once.Secret, status)
	if after, err := strconv.Atoi(answer.Header.Get("Retry-After")); err != nil || after < 1 || after > 100 {
		t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
	}
	if answer.StatusCode != 429 || !strings.Contains(body, "E_EXHAUSTED") || !strings.Contains(body, `"limit":"calls_per_second"`) {
		t.Errorf("the second: %d %s", answer.StatusCode, body)
	}
	if code, body := k.Post(once.Secret, "", "memory_status", "{}"); code != 429 || !strings.Contains(body, `"retry_after_ms"`) || !strings.Contains(body, "-32000") {
		t.Errorf("over MCP: %d %s", code, body)
	}
	if code, body := k.Post(k.Host.Token(), once.Secret, "memory_status", "{}"); code != 200 || !strings.Contains(body, "calls_per_second") || !strings.Contains(body, `"isError":true`) {
		t.Errorf("with the key in _meta: %d %s", code, body)
	}
	socket := issue(operator.KeyLimits{CallsPerSecond: slow, Burst: 2})
	c, err := k.Connect(owner.Hello{Key: socket.Secret}) // initialize is a call
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "memory_status", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Call(t.Context(), "memory_status", nil); err == nil || !strings.Contains(err.Error(), "calls per second with this key: at most 0.01") {
		t.Errorf("on the socket: %v", err)
	}
	batch := issue(operator.KeyLimits{CallsPerSecond: slow, Burst: 3})
	if _, body := operation(batch.Secret, `{"batch":[`+strings.Repeat(status+",", 4)+status+`]}`); strings.Count(body, "E_EXHAUSTED") != 2 {
		t.Errorf("a batch of five with a limit of three: %s", body)
	}
	short := issue(operator.KeyLimits{BodyBytes: 1024})
	if answer, body := operation(short.Secret, `{"method":"status","params":{"pad":"`+strings.Repeat("x", 1024)+`"}}`); answer.StatusCode != 413 || !strings.Contains(body, "1024 bytes") {
		t.Errorf("a long body: %d %s", answer.StatusCode, body)
	}
	if code, body := k.Post(k.Host.Token(), short.Secret, "memory_status", `{"pad":"`+strings.Repeat("x", 1024)+`"}`); code != 200 || !strings.Contains(body, "at most 1024 are allowed") {
		t.Errorf("a long message with the key in _meta: %d %s", code, body)
	}
	figures := issue(operator.KeyLimits{CallsPerSecond: slow, Burst: 1})
	for i, want := range []int{200, 429} {
		q, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+k.At.HTTP+"/metrics", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Header.Set("Authorization", "Bearer "+figures.Secret)
		answer, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != want {
			t.Errorf("metrics, request %d: got status %d, want %d", i+1, answer.StatusCode, want)
		}
	}
	if answer, body := operation(k.Host.Token(), `{"batch":[`+strings.Repeat(status+",", 99)+status+`]}`); answer.StatusCode != 200 || strings.Contains(body, "E_EXHAUSTED") {
		t.Errorf("the owner: %d %.300s", answer.StatusCode, body)
	}
}
