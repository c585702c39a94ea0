// Package servers_test tests servers that share the spaces of a database, each in a process of its own.
package servers_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// three starts three servers of a new database.
func three(t *testing.T) []*server.Sharing {
	t.Helper()
	return threeBy(t, func(url string) *server.Sharing { return server.NewSharing(t, url) })
}

// threeAsInProduction starts three servers whose leases last as long as in production.
func threeAsInProduction(t *testing.T) []*server.Sharing {
	t.Helper()
	here := server.Machine{Address: "127.0.0.1", HTTP: "127.0.0.1"}
	return threeBy(t, func(url string) *server.Sharing { return server.NewSharingOn(t, url, here) })
}

func threeBy(t *testing.T, start func(url string) *server.Sharing) (list []*server.Sharing) {
	t.Helper()
	url := must.Get(postgres.Start(t).Database())
	for range 3 {
		list = append(list, start(url))
	}
	await.That(t, "all servers know each other, and who leads the default space", func() bool {
		for _, s := range list {
			if c := s.Cluster(); running(c) != 3 || len(c.Spaces) != 1 || c.Spaces[0].Gone {
				return false
			}
		}
		return true
	})
	return list
}

func running(c operator.Cluster) (n int) {
	for _, s := range c.Servers {
		if !s.Gone {
			n++
		}
	}
	return n
}

// leader is the server that leads a space, and others are the rest.
func leader(t *testing.T, list []*server.Sharing, space string) (leader *server.Sharing, others []*server.Sharing) {
	t.Helper()
	for _, s := range list {
		c := s.Cluster()
		for _, led := range c.Spaces {
			if led.Name == space && led.Server == c.Self {
				leader = s
			}
		}
		if leader != s {
			others = append(others, s)
		}
	}
	if leader == nil {
		t.Fatalf("no server leads %s: %+v", space, list[0].Cluster())
	}
	return leader, others
}

// issue makes a key by way of a server.
func issue(t *testing.T, s *server.Sharing) string {
	t.Helper()
	var key operator.IssuedKey
	until(t, "a key is made", func() (bool, string) {
		var err error
		key, err = operator.Call(t.Context(), server.Operator(t, s.Dir), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}})
		return err == nil, fmt.Sprint(err)
	})
	return key.Secret
}

// ask makes a call of a tool over HTTP.
func ask(t *testing.T, url, key, tool string, arguments map[string]any) (status int, answer string) {
	t.Helper()
	body := must.Get(json.Marshal(arguments))
	r := must.Get(http.NewRequestWithContext(t.Context(), "POST", url+"/operation/"+tool, strings.NewReader(string(body))))
	r.Header.Set("Authorization", "Bearer "+key)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer got.Body.Close()
	return got.StatusCode, string(must.Get(io.ReadAll(got.Body)))
}

func TestAnyServerServesAnyClient(t *testing.T) {
	t.Parallel()
	list := three(t)
	key := issue(t, list[0])
	for i, s := range list {
		name := fmt.Sprint("k", i)
		if status, answer := ask(t, s.URL(), key, "memory_store", map[string]any{"key": name, "value": "walnut"}); status != http.StatusOK {
			t.Fatalf("store by way of server %d: got %d %s, want 200", i, status, answer)
		}
		for j, other := range list {
			if status, answer := ask(t, other.URL(), key, "memory_recall", map[string]any{"key": name}); status != http.StatusOK || !strings.Contains(answer, "walnut") {
				t.Errorf("what was stored by way of server %d, by way of %d: got %d %s, want walnut", i, j, status, answer)
			}
		}
	}
	for i, s := range list {
		if status, answer := ask(t, s.URL(), "alcove_key_0123_unknown", "memory_recall", map[string]any{"key": "k0"}); status != http.StatusUnauthorized {
			t.Errorf("an unknown key at server %d: got %d %s, want 401", i, status, answer)
		}
	}
}

// until asks until the answer is as wanted, and fails when it stays another.
func until(t *testing.T, what string, try func() (done bool, got string)) {
	t.Helper()
	last := ""
	await.That(t, what, func() bool {
		done, got := try()
		if last = got; !done && t.Context().Err() != nil {
			t.Fatalf("%s: got %s", what, last)
		}
		return done
	})
}

func TestAClientIsServedAfterTheLeaderIsKilledOrStopped(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*server.Sharing){"killed": (*server.Sharing).Kill, "stopped": (*server.Sharing).Stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := threeAsInProduction(t)
			key := issue(t, list[0])
			was, others := leader(t, list, "default")
			if status, answer := ask(t, others[0].URL(), key, "memory_store", map[string]any{"key": "k", "value": "walnut"}); status != http.StatusOK {
				t.Fatalf("store: got %d %s, want 200", status, answer)
			}
			began := time.Now()
			end(was)
			ended := time.Since(began)
			for i, s := range others {
				until(t, "the others serve the space", func() (bool, string) {
					status, answer := ask(t, s.URL(), key, "memory_recall", map[string]any{"key": "k"})
					if status != http.StatusOK && !strings.Contains(answer, `"retryable":true`) {
						t.Errorf("server %d: got %d %s, want an error that can be retried", i, status, answer)
					}
					return status == http.StatusOK && strings.Contains(answer, "walnut"), answer
				})
			}
			t.Logf("%s: the process ended after %v, and the others served after %v", name, ended, time.Since(began))
		})
	}
}
