package servers_test

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/host/testing/testcert"
)

// two starts two servers that serve operators of other machines and the console, and returns the leader of the default space first.
func two(t *testing.T) (leads, other *server.Sharing, elsewhere func(s *server.Sharing, secret string) operator.Server) {
	t.Helper()
	files, pool := testcert.Write(t, t.TempDir())
	cert := must.Get(tls.LoadX509KeyPair(files.Cert, files.Key))
	f := server.Front{Operators: host.OperatorsListen{Address: "127.0.0.1:0", Cert: files.Cert, Key: files.Key, Clients: files.Cert}}
	store := must.Get(postgres.Start(t).Database())
	list := []*server.Sharing{server.NewSharingWith(t, store, f), server.NewSharingWith(t, store, f)}
	await.That(t, "both servers know each other, and who leads", func() bool {
		for _, s := range list {
			if c := s.Cluster(); running(c) != 2 || len(c.Spaces) != 1 || c.Spaces[0].Gone {
				return false
			}
		}
		return true
	})
	leads, others := leader(t, list, "default")
	return leads, others[0], func(s *server.Sharing, secret string) operator.Server {
		c := admin.NewClientOf("https://"+s.At.Operators, secret, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}, RootCAs: pool})
		t.Cleanup(c.Close)
		return c
	}
}

func TestOperatorsOfOtherMachinesActInTheirRolesByWayOfAnyServer(t *testing.T) {
	t.Parallel()
	leads, other, elsewhere := two(t)
	ctx := t.Context()
	secrets := map[operator.Role]string{}
	for _, role := range []operator.Role{operator.Viewer, operator.Admin} {
		made, err := operator.Call(ctx, server.Operator(t, other.Dir), operator.CreateOperator, operator.OperatorRequest{Name: string(role), Role: role})
		if err != nil {
			t.Fatalf("make a %s: %v", role, err)
		}
		secrets[role] = made.Secret
	}
	for name, s := range map[string]*server.Sharing{"the leader": leads, "the other server": other} {
		viewer, boss := elsewhere(s, secrets[operator.Viewer]), elsewhere(s, secrets[operator.Admin])
		if _, err := operator.Query(ctx, viewer, operator.ListOperators); err != nil {
			t.Errorf("a viewer lists operators at %s: got %v, want none", name, err)
		}
		if c, err := operator.Query(ctx, viewer, operator.GetCluster); err != nil || len(c.Servers) != 2 {
			t.Errorf("a viewer asks %s for the servers: got %+v, %v, want both", name, c, err)
		}
		grant := operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}}
		if _, err := operator.Call(ctx, viewer, operator.CreateKey, grant); err == nil || !strings.Contains(err.Error(), "viewer") {
			t.Errorf("a viewer makes a key at %s: got %v, want a refusal that names the role", name, err)
		}
		if _, err := operator.Query(ctx, viewer, operator.DrainServer); err == nil {
			t.Errorf("a viewer drains %s: got no error, want a refusal", name)
		}
		if _, err := operator.Call(ctx, boss, operator.CreateKey, grant); err != nil {
			t.Errorf("an admin makes a key at %s: got %v, want none", name, err)
		}
		if _, err := operator.Query(ctx, elsewhere(s, "alcove_operator_x"), operator.ListOperators); err == nil {
			t.Errorf("an unknown key at %s: got no error, want a refusal", name)
		}
	}
	if _, err := operator.Call(ctx, server.Operator(t, leads.Dir), operator.RevokeOperator, operator.OperatorName{Name: string(operator.Admin)}); err != nil {
		t.Fatalf("revoke an operator: %v", err)
	}
	for name, s := range map[string]*server.Sharing{"the leader": leads, "the other server": other} {
		if _, err := operator.Query(ctx, elsewhere(s, secrets[operator.Admin]), operator.ListOperators); err == nil {
			t.Errorf("a revoked operator at %s: got no error, want a refusal", name)
		}
	}
	leads.Kill()
	await.That(t, "the other server leads, and knows the operators", func() bool {
		_, err := operator.Query(ctx, elsewhere(other, secrets[operator.Viewer]), operator.ListOperators)
		return err == nil
	})
}

// browsing is a browser at the console of a server.
type browsing struct {
	t      *testing.T
	client http.Client
	csrf   string
}

// open opens the address that an operator of a server gets.
func (b *browsing) open(s *server.Sharing) {
	b.t.Helper()
	at, err := operator.Query(b.t.Context(), server.Operator(b.t, s.Dir), operator.OpenConsole)
	if err != nil {
		b.t.Fatalf("open the console: %v", err)
	}
	address, ticket, _ := strings.Cut(at.Address, "#ticket=")
	if !strings.HasPrefix(address, s.URL()+"/") {
		b.t.Errorf("the address of the console: got %s, want one of the server that was asked, %s", address, s.URL())
	}
	status, body := b.send("POST", s, "session", `{"ticket":"`+ticket+`"}`)
	var who struct{ CSRF string }
	if err := json.Unmarshal([]byte(body), &who); err != nil || status != http.StatusOK {
		b.t.Fatalf("log in with a ticket: got %d %s, want 200", status, body)
	}
	b.csrf = who.CSRF
}

func (b *browsing) send(method string, s *server.Sharing, path, body string, headers ...string) (status int, answer string) {
	b.t.Helper()
	r := must.Get(http.NewRequestWithContext(b.t.Context(), method, s.URL()+"/console/api/"+path, strings.NewReader(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Alcove-Console", b.csrf)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	got, err := b.client.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer got.Body.Close()
	return got.StatusCode, string(must.Get(io.ReadAll(got.Body)))
}

// at has the browser find one server where it found another: as behind one name.
func (b *browsing) at(from, to *server.Sharing) {
	u, next := must.Get(url.Parse(from.URL()+"/console/")), must.Get(url.Parse(to.URL()+"/console/"))
	for _, c := range b.client.Jar.Cookies(u) {
		c.Path = "/console/"
		b.client.Jar.SetCookies(next, []*http.Cookie{c})
	}
}

func TestTheConsoleIsServedByWayOfAnyServer(t *testing.T) {
	t.Parallel()
	leads, other, _ := two(t)
	b := &browsing{t: t, client: http.Client{Jar: must.Get(cookiejar.New(nil))}}
	b.open(other)
	if status, body := b.send("POST", other, "operation/memory_store", `{"key":"k","value":"walnut"}`); status != http.StatusOK {
		t.Errorf("store by way of the server that does not lead: got %d %s, want 200", status, body)
	}
	b.at(other, leads)
	if status, body := b.send("POST", leads, "operation/memory_recall", `{"key":"k"}`); status != http.StatusOK || !strings.Contains(body, "walnut") {
		t.Errorf("the session at the leader: got %d %s, want walnut", status, body)
	}
	if status, body := b.send("POST", other, "acts/keys", `{}`); status != http.StatusOK {
		t.Errorf("an act of the operator: got %d %s, want 200", status, body)
	}
	if status, body := b.send("POST", other, "operation/memory_recall", `{"key":"k"}`, "Origin", "http://evil.example"); status != http.StatusForbidden {
		t.Errorf("another page's request: got %d %s, want 403", status, body)
	}
	if status, body := b.send("POST", other, "operation/memory_recall", `{"key":"k"}`, "Alcove-Console", "wrong"); status != http.StatusForbidden {
		t.Errorf("a request without the session's token: got %d %s, want 403", status, body)
	}
	leads.Kill()
	until(t, "the session goes on with the next leader", func() (bool, string) {
		status, body := b.send("POST", other, "operation/memory_recall", `{"key":"k"}`)
		if status == http.StatusUnauthorized {
			t.Fatalf("after the leader was killed: got %d %s, want that the session is known", status, body)
		}
		return status == http.StatusOK && strings.Contains(body, "walnut"), body
	})
	if status, body := b.send("DELETE", other, "session", ""); status != http.StatusNoContent {
		t.Errorf("log out: got %d %s, want 204", status, body)
	}
	if status, body := b.send("POST", other, "operation/memory_recall", `{"key":"k"}`); status != http.StatusUnauthorized {
		t.Errorf("a session that was ended: got %d %s, want 401", status, body)
	}
}

func TestGuessesAtTheConsoleAreCountedByAddressAtAllServers(t *testing.T) {
	t.Parallel()
	leads, other, _ := two(t)
	b := &browsing{t: t, client: http.Client{Jar: must.Get(cookiejar.New(nil))}}
	last := 0
	for i := range 22 {
		last, _ = b.send("POST", []*server.Sharing{leads, other}[i%2], "session", `{"key":"alcove_key_000000000000_wrong"}`)
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("22 wrong keys, in turns at both servers: got %d, want 429", last)
	}
}
