package oauth

import (
	"context"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// several are servers in processes of their own that share the spaces of a database, and a client that registered with one of them.
type several struct {
	t       *testing.T
	leader  *server.Sharing // of the default space
	other   *server.Sharing
	a, b    *world // by way of the leader, and of the other one
	client  string
	request asking
}

func newSeveral(t *testing.T) *several {
	t.Helper()
	s := &several{t: t}
	store := must.Get(postgres.Start(t).Database())
	list := []*server.Sharing{server.NewSharingWith(t, store, server.Front{Public: issuer}), server.NewSharingWith(t, store, server.Front{Public: issuer})}
	await.That(t, "the servers know each other, and who leads", func() bool {
		for i, each := range list {
			c := each.Cluster()
			if len(c.Servers) != 2 || len(c.Spaces) != 1 || c.Spaces[0].Gone {
				return false
			}
			if c.Spaces[0].Server == c.Self {
				s.leader, s.other = each, list[1-i]
			}
		}
		return s.leader != nil
	})
	ann := s.key(s.other.Dir)
	s.a, s.b = &world{t: t, by: s.leader.URL(), ann: ann}, &world{t: t, by: s.other.URL(), ann: ann}
	s.client = s.register(s.a)
	s.request = s.asking(s.a)
	return s
}

// key makes a key of ann by way of the operator's socket in a data directory.
func (s *several) key(dir string) operator.IssuedKey {
	s.t.Helper()
	key, err := operator.Call(s.t.Context(), server.Operator(s.t, dir), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"ann/*"}})
	if err != nil {
		s.t.Fatalf("make a key: %v", err)
	}
	return key
}

func (s *several) register(w *world) string {
	s.t.Helper()
	got := w.send("POST", w.at+"/register", `{"client_name":"Example","redirect_uris":["`+callback+`"]}`, "Content-Type", "application/json")
	if got.status != http.StatusCreated {
		s.t.Fatalf("register a client: got %d %s, want 201", got.status, got.body)
	}
	return got.member("client_id")
}

func (s *several) asking(w *world) asking {
	return w.asksFor().with("client_id", s.client)
}

// consents goes through the pages, each at another server than the one before, and returns the code.
func (s *several) consents(key string) (code string) {
	s.t.Helper()
	first, second := s.a.browser(), s.b.browser()
	second.cookies = first.cookies
	page := second.submit(first.open(s.request.query.Encode()), url.Values{"way": {"key"}, "key": {key}})
	sent := first.submit(page, url.Values{"decision": {"allow"}, "namespaces": {"ann/*"}, "right": {"read", "write"}})
	to, err := url.Parse(sent.header.Get("Location"))
	if err != nil || sent.status != http.StatusSeeOther {
		s.t.Fatalf("the decision: got %d %s, after the page %d %s, want the browser sent back", sent.status, sent.body, page.status, page.body)
	}
	return to.Query().Get("code")
}

func (s *several) refresh(w *world, token string) answer {
	return w.refresh(token, "client_id", s.client)
}

func TestAnyServerTakesAnyStepOfALogin(t *testing.T) {
	t.Parallel()
	s := newSeveral(t)
	tokens := s.b.exchange(s.request, s.consents(s.a.ann.Secret))
	if tokens.status != http.StatusOK {
		t.Fatalf("the code of one server at the other: got %d %s, want tokens", tokens.status, tokens.body)
	}
	for name, w := range map[string]*world{"the leader": s.a, "the other server": s.b} {
		if got := w.call(tokens.member("access_token")); got != http.StatusOK {
			t.Errorf("the access token at %s: got %d, want 200", name, got)
		}
	}
	next := s.refresh(s.b, tokens.member("refresh_token"))
	if again := s.refresh(s.a, next.member("refresh_token")); again.status != http.StatusOK || next.status != http.StatusOK {
		t.Fatalf("refreshed at one server and then at the other: got %d %s and %d %s, want 200", next.status, next.body, again.status, again.body)
	}
	if got := s.refresh(s.b, next.member("refresh_token")); got.status != http.StatusBadRequest {
		t.Errorf("a refresh token that was used at the other server: got %d %s, want 400", got.status, got.body)
	}
	for name, w := range map[string]*world{"the leader": s.a, "the other server": s.b} {
		if got := w.call(tokens.member("access_token")); got != http.StatusUnauthorized {
			t.Errorf("the access token at %s after its refresh token was used twice: got %d, want 401", name, got)
		}
	}
}

func TestACodeIsRedeemedOnceByAllServers(t *testing.T) {
	t.Parallel()
	s := newSeveral(t)
	code := s.consents(s.a.ann.Secret)
	var all sync.WaitGroup
	got := make(chan answer, 8)
	for i := range cap(got) {
		all.Go(func() { got <- []*world{s.a, s.b}[i%2].exchange(s.request, code) })
	}
	all.Wait()
	close(got)
	count := map[int]int{}
	for each := range got {
		if count[each.status]++; each.status == http.StatusOK {
			if status := s.b.call(each.member("access_token")); status != http.StatusUnauthorized {
				t.Errorf("the token of a code that many presented: got %d, want 401", status)
			}
		}
	}
	if count[http.StatusOK] > 1 || count[http.StatusOK]+count[http.StatusBadRequest] != cap(got) {
		t.Errorf("a code that 8 clients presented at both servers: got the statuses %v, want 200 at most once and else 400", count)
	}
}

func TestACodeAndItsUseGoOnWithTheNextLeader(t *testing.T) {
	t.Parallel()
	s := newSeveral(t)
	used := s.consents(s.a.ann.Secret)
	tokens := s.a.exchange(s.request, used)
	kept := s.consents(s.a.ann.Secret)
	s.leader.Kill()
	await.That(t, "the other server leads", func() bool { return s.b.call(tokens.member("access_token")) == http.StatusOK })
	if got := s.b.exchange(s.request, kept); got.status != http.StatusOK {
		t.Errorf("a code of the leader that was killed: got %d %s, want tokens", got.status, got.body)
	}
	if got := s.b.exchange(s.request, used); got.status != http.StatusBadRequest {
		t.Errorf("a code that was used there: got %d %s, want 400", got.status, got.body)
	}
	if got := s.b.call(tokens.member("access_token")); got != http.StatusUnauthorized {
		t.Errorf("what the code became that was used again: got %d, want 401", got)
	}
}

func TestARevocationAtOneServerEndsStreamsOfTheOther(t *testing.T) {
	t.Parallel()
	s := newSeveral(t)
	whole := s.request.with("resource", issuer)
	for what, c := range map[string]struct{ at, by *world }{"a stream by way of the other server": {s.b, s.a}, "a stream by way of the leader": {s.a, s.b}} {
		s.request = whole
		tokens := c.at.exchange(whole, s.consents(s.a.ann.Secret), "resource", issuer)
		conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(c.at.by, "http")+"/stream", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + tokens.member("access_token")}}})
		if err != nil {
			t.Fatalf("%s: open it with %d %s: %v", what, tokens.status, tokens.body, err)
		}
		c.by.form("/revoke", url.Values{"token": {tokens.member("refresh_token")}, "client_id": {s.client}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		for err == nil {
			_, _, err = conn.Read(ctx)
		}
		if ctx.Err() != nil {
			t.Errorf("%s: it stays open after the token was revoked at the other one", what)
		}
		cancel()
		conn.CloseNow()
	}
}

func TestServersShareTheLoginsOfSpaces(t *testing.T) {
	t.Parallel()
	s := newSeveral(t)
	dir := must.Get(folder.Folder{Path: filepath.Join(s.other.Dir, "spaces")}.Create("red"))
	conn := must.Get(owner.Connect(t.Context(), s.other.At.Socket, owner.Hello{Space: "red"}))
	conn.Close()
	ann := s.key(dir)
	s.a.at, s.b.at = "/s/red", "/s/red"
	s.client = s.register(s.b)
	s.request = s.asking(s.a)
	tokens := s.a.exchange(s.request, s.consents(ann.Secret))
	if got := s.b.call(tokens.member("access_token")); got != http.StatusOK {
		t.Errorf("the token of a space: got %d, after %d %s, want 200", got, tokens.status, tokens.body)
	}
	s.a.at, s.b.at = "", ""
	if got := s.b.call(tokens.member("access_token")); got != http.StatusUnauthorized {
		t.Errorf("it at the servers themselves: got %d, want 401", got)
	}
	s.b.at = "/s/none"
	if got := s.b.form("/s/none/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {tokens.member("refresh_token")}, "client_id": {s.client}}); got.status != http.StatusBadRequest {
		t.Errorf("the refresh token at a space that is not: got %d %s, want 400", got.status, got.body)
	}
	for _, space := range s.other.Cluster().Spaces {
		if space.Name == "none" {
			t.Error("a stranger had a space made")
		}
	}
}
