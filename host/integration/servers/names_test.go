package servers_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// pair starts two servers of a new database, whose URL is returned.
func pair(t *testing.T) (list []*server.Sharing, url string) {
	t.Helper()
	url = must.Get(postgres.Start(t).Database())
	for range 2 {
		list = append(list, server.NewSharing(t, url))
	}
	await.That(t, "both servers know each other, and who leads the default space", func() bool {
		for _, s := range list {
			if c := s.Cluster(); running(c) != 2 || len(c.Spaces) != 1 || c.Spaces[0].Gone {
				return false
			}
		}
		return true
	})
	return list, url
}

// act has a server carry out an act.
func act[In, Out any](t *testing.T, s *server.Sharing, a operator.Act[In, Out], r In) (out Out, err error) {
	t.Helper()
	return actIn(t, s.Dir, a, r)
}

// actIn is act on the space with a data directory.
func actIn[In, Out any](t *testing.T, dir string, a operator.Act[In, Out], r In) (out Out, err error) {
	t.Helper()
	c := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, dir) })
	defer c.Close() // a server has a limit
	return operator.Call(t.Context(), c, a, r)
}

// keyIn makes a key of a space that the database has, by way of a server.
func keyIn(t *testing.T, s *server.Sharing, name string) string {
	t.Helper()
	var secret string
	until(t, "a key of the space "+name+" is made", func() (bool, string) {
		conn, err := owner.Connect(t.Context(), s.At.Socket, owner.Hello{Space: name})
		if err != nil {
			return false, err.Error()
		}
		conn.Close()
		key, err := actIn(t, filepath.Join(s.Dir, "spaces", name), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}})
		secret = key.Secret
		return err == nil, fmt.Sprint(err)
	})
	return secret
}

func listed(t *testing.T, s *server.Sharing) map[string]operator.ListedSpace {
	t.Helper()
	all := map[string]operator.ListedSpace{}
	for _, o := range must.Get(act(t, s, operator.ListSpaces, operator.None{})) {
		all[o.Name] = o
	}
	return all
}

// rowsOf counts the rows of all spaces whose names are not among some.
func rowsOf(t *testing.T, url string, but ...string) (n int) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(context.Background())
	for _, table := range []string{"names", "spaces", "entries", "counters", "points", "requests", "blobs", "blob_parts", "documents", "leases", "trims", "purged"} {
		rows := 0
		must.Do(t, c.QueryRow(t.Context(), `SELECT count(*) FROM alcove.`+table+` WHERE space NOT IN (SELECT space FROM alcove.names WHERE name = ANY($1))`, but).Scan(&rows))
		n += rows
	}
	return n
}

func TestTheLifeOfASpaceOfSeveralServers(t *testing.T) {
	t.Parallel()
	list, url := pair(t)
	must.Get(act(t, list[1], operator.CreateSpace, operator.SpaceName{Name: "work"}))
	if _, err := act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: "work"}); err == nil || !strings.Contains(err.Error(), "there is such a space") {
		t.Errorf("create it again: got %v, want that it is there", err)
	}
	key := keyIn(t, list[0], "work")
	for i, s := range list {
		if status, answer := ask(t, s.URL()+"/s/work", key, "memory_store", map[string]any{"key": fmt.Sprint("k", i), "value": "walnut"}); status != http.StatusOK {
			t.Fatalf("store by way of server %d: got %d %s, want 200", i, status, answer)
		}
	}
	keyIn(t, list[1], "work") // both servers have a directory of it
	if o := listed(t, list[0])["work"]; o.Bytes == 0 || o.Version == 0 || o.Leader == "" || o.Written.IsZero() {
		t.Errorf("list the spaces: got %+v, want size, version, leader and last use of work", o)
	}

	asked := make(chan struct{})
	var strangers sync.WaitGroup
	for i, s := range list {
		strangers.Go(func() {
			for told := false; ; time.Sleep(time.Millisecond) { // of leases that ended, servers know a while later
				status, answer := ask(t, s.URL()+"/s/work", "alcove_key_0123_unknown", "memory_recall", map[string]any{"key": "k0"})
				if status == http.StatusNotFound && !told {
					t.Errorf("a stranger who asks server %d while the space is renamed: got %d %s, want nothing of names", i, status, answer)
					told = true
				}
				select {
				case <-asked:
					return
				default:
				}
			}
		})
	}
	must.Get(act(t, list[0], operator.RenameSpace, operator.SpaceRename{Name: "work", To: "job"}))
	time.AfterFunc(time.Second, func() { close(asked) })
	strangers.Wait()
	for i, s := range list {
		if status, answer := ask(t, s.URL()+"/s/job", key, "memory_search", map[string]any{"query": "walnut"}); status != http.StatusOK || !strings.Contains(answer, "k0") || !strings.Contains(answer, "k1") {
			t.Errorf("search the renamed space by way of server %d: got %d %s, want both memories", i, status, answer)
		}
		if status, answer := ask(t, s.URL()+"/s/work", key, "memory_recall", map[string]any{"key": "k0"}); status != http.StatusNotFound || !strings.Contains(answer, "renamed to job") {
			t.Errorf("its former name by way of server %d: got %d %s, want 404 and its new name", i, status, answer)
		}
		for _, name := range []string{"work", "job", "never"} {
			if status, answer := ask(t, s.URL()+"/s/"+name, "alcove_key_0123_unknown", "memory_recall", map[string]any{"key": "k0"}); status != http.StatusUnauthorized || strings.Contains(answer, "renamed") {
				t.Errorf("a stranger who asks server %d for %s: got %d %s, want 401 and nothing of names", i, name, status, answer)
			}
		}
		await.That(t, "the directory of the space follows its name", func() bool {
			return dirsOf(s) == "job"
		})
	}
	if o := listed(t, list[1]); o["work"].Name != "" || o["job"].Version == 0 {
		t.Errorf("list the spaces: got %+v, want job in place of work", o)
	}

	must.Get(act(t, list[1], operator.DeleteSpace, operator.SpaceName{Name: "job"}))
	if n := rowsOf(t, url, "default"); n != 0 {
		t.Errorf("rows of the deleted space: got %d, want none", n)
	}
	for i, s := range list {
		await.That(t, "nothing of the space is on its machine", func() bool { return dirsOf(s) == "" })
		conn, err := owner.Connect(t.Context(), s.At.Socket, owner.Hello{Space: "job"})
		if err == nil {
			conn.Close()
		}
		if err == nil || !strings.Contains(err.Error(), "was deleted") {
			t.Errorf("a client on the machine of server %d: got %v, want that the space was deleted", i, err)
		}
		if status, answer := ask(t, s.URL()+"/s/job", key, "memory_recall", map[string]any{"key": "k0"}); status != http.StatusUnauthorized || !strings.Contains(answer, "perhaps with all of its space") {
			t.Errorf("its key at server %d: got %d %s, want 401", i, status, answer)
		}
	}

	must.Get(act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: "job"}))
	if status, answer := ask(t, list[1].URL()+"/s/job", key, "memory_recall", map[string]any{"key": "k0"}); status != http.StatusUnauthorized {
		t.Errorf("a key of the deleted space in another one of its name: got %d %s, want 401", status, answer)
	}
	if status, answer := ask(t, list[1].URL()+"/s/job", keyIn(t, list[1], "job"), "memory_recall", map[string]any{"key": "k0"}); status != http.StatusOK || strings.Contains(answer, "walnut") {
		t.Errorf("recall in another space of its name: got %d %s, want nothing", status, answer)
	}

	lead, _ := leader(t, list, "default")
	entries := ""
	for _, e := range must.Get(act(t, lead, operator.ListAudit, operator.AuditQuery{Limit: 100})).Entries {
		entries += fmt.Sprintf("%+v\n", e)
	}
	for _, want := range []string{"spaces-create", "spaces-rename", "spaces-delete"} {
		if !strings.Contains(entries, want) {
			t.Errorf("the audit log: got\n%s, want %s", entries, want)
		}
	}
}

// dirsOf names the spaces of which a server has a directory.
func dirsOf(s *server.Sharing) string {
	var names []string
	list, _ := os.ReadDir(filepath.Join(s.Dir, "spaces"))
	for _, e := range list {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

func TestNamesThatNoSpaceCanHaveAreRefused(t *testing.T) {
	t.Parallel()
	list, _ := pair(t)
	must.Get(act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: strings.Repeat("x", 63)}))
	for _, name := range []string{"", "A", "a/b", "../x", "-a", "a-", "a.b", strings.Repeat("x", 64), strings.Repeat("x", 100_000)} {
		if _, err := act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: name}); err == nil || !strings.Contains(err.Error(), "use 1 to 63 of a-z") {
			t.Errorf("create a space %.80q: got %v, want what a name has", name, err)
		}
		if _, err := act(t, list[1], operator.RenameSpace, operator.SpaceRename{Name: strings.Repeat("x", 63), To: name}); err == nil || !strings.Contains(err.Error(), "use 1 to 63 of a-z") {
			t.Errorf("rename a space to %.80q: got %v, want what a name has", name, err)
		}
	}
	for name, want := range map[string]string{"none": "there is no such space", "default": "the server's own memory", strings.Repeat("y", 100_000): "there is no such space"} {
		if _, err := act(t, list[1], operator.DeleteSpace, operator.SpaceName{Name: name}); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("delete the space %.80q: got %.1000v, want %s", name, err, want)
		}
		if _, err := act(t, list[0], operator.RenameSpace, operator.SpaceRename{Name: name, To: "other"}); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 1000 {
			t.Errorf("rename the space %.80q: got %.1000v, want %s", name, err, want)
		}
	}
	if _, err := act(t, list[0], operator.RenameSpace, operator.SpaceRename{Name: strings.Repeat("x", 63), To: "default"}); err == nil || !strings.Contains(err.Error(), "there is such a space") {
		t.Errorf("rename to a name that is taken: got %v, want that it is", err)
	}
}

// TestNothingIsLostWhileASpaceIsRenamed has clients of both servers write a space that is renamed again and again, also while its leader is
// killed, and that go on with the name that they are told.
func TestNothingIsLostWhileASpaceIsRenamed(t *testing.T) {
	t.Parallel()
	list, url := pair(t)
	must.Get(act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: "n0"}))
	key := keyIn(t, list[0], "n0")
	urls := []string{list[0].URL(), list[1].URL()}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	stored := make([]atomic.Int64, 4)
	for w := range stored {
		writers.Go(func() {
			name := "n0"
			for n, at := 0, w; ctx.Err() == nil; at++ {
				status, answer := storeOnce(t, urls[at%len(urls)]+"/s/"+name, key, fmt.Sprintf("w%d-%d", w, n))
				_, told, renamed := strings.Cut(answer, " was renamed to ")
				switch {
				case status == http.StatusOK:
					n++
					stored[w].Store(int64(n))
				case status == http.StatusNotFound && renamed:
					name, _, _ = strings.Cut(told, ":")
				case status != 0 && !strings.Contains(answer, `"retryable":true`):
					t.Errorf("store as %s: got %d %s, want 200, its new name, or that it can be retried", name, status, answer)
					return
				}
			}
		})
	}
	name := "n0"
	for i := range 6 {
		to := fmt.Sprint("n", i+1)
		if i == 3 { // the leader is killed as it is asked
			lead := leaderOf(t, list, name)
			go lead.Kill()
			defer lead.Start()
			list = except(list, lead)
		}
		until(t, "the space is renamed to "+to, func() (bool, string) {
			_, err := act(t, list[i%len(list)], operator.RenameSpace, operator.SpaceRename{Name: name, To: to})
			return err == nil || strings.Contains(err.Error(), "renamed to "+to), fmt.Sprint(err)
		})
		name = to
	}
	for w := range stored {
		await.That(t, fmt.Sprintf("writer %d stores something", w), func() bool { return t.Failed() || stored[w].Load() > 0 })
	}
	stop()
	writers.Wait()
	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(context.Background())
	for w := range stored {
		n := int(stored[w].Load())
		keys, versions := 0, 0
		must.Do(t, c.QueryRow(t.Context(), `SELECT count(DISTINCT key), count(*) FROM alcove.entries JOIN alcove.names USING (space) WHERE name = $1 AND position($2 IN encode(key, 'escape')) > 0`, name, fmt.Sprintf("w%d-", w)).Scan(&keys, &versions))
		if keys < n || keys > n+1 || versions != keys { // the last one may not have been acknowledged
			t.Errorf("writer %d: got %d keys with %d versions, want %d, once each", w, keys, versions, n)
		}
	}
}

// storeOnce stores a memory whose key is the id of its request, too.
func storeOnce(t *testing.T, url, key, name string) (status int, answer string) {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), "POST", url+"/operation/memory_store", strings.NewReader(fmt.Sprintf(`{"key":%q,"value":"walnut"}`, name))))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Idempotency-Key", name)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err.Error()
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		return 0, err.Error()
	}
	return got.StatusCode, string(body)
}

// leaderOf waits for a server to lead a space.
func leaderOf(t *testing.T, list []*server.Sharing, name string) (lead *server.Sharing) {
	t.Helper()
	await.That(t, "a server leads the space "+name, func() bool {
		lead = leads(list, name)
		return lead != nil
	})
	return lead
}

// leads is the server that leads a space; nil: none.
func leads(list []*server.Sharing, name string) *server.Sharing {
	for _, s := range list {
		c := s.Cluster()
		for _, led := range c.Spaces {
			if led.Name == name && led.Server == c.Self {
				return s
			}
		}
	}
	return nil
}

func except(list []*server.Sharing, one *server.Sharing) (rest []*server.Sharing) {
	for _, s := range list {
		if s != one {
			rest = append(rest, s)
		}
	}
	return rest
}
