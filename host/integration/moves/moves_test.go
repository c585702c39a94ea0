//go:build unix

// Package moves_test tests that spaces move between directories and databases while they are used, and when servers are killed.
package moves_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// landlord is a server of one space besides its own memory.
type landlord struct {
	*server.Server
	dir string // of the space
	key string
}

func newLandlord(t *testing.T, name string) landlord {
	t.Helper()
	f := folder.Folder{Path: filepath.Join(t.TempDir(), "spaces")}
	dir := must.Get(f.Create(name))
	s := server.StartOn(t, host.Options{}, host.Listen{HTTP: "127.0.0.1:0", Spaces: &host.SpacesOptions{Dir: f.Path}})
	l := landlord{Server: s, dir: dir}
	l.open(name)
	l.key = must.Get(operator.Call(t.Context(), server.Operator(t, dir), operator.CreateKey, operator.KeyRequest{Agent: "ann", Rights: server.ReadWrite, Namespaces: []string{"*"}})).Secret
	return l
}

// open has the server open a space.
func (l landlord) open(name string) {
	l.T.Helper()
	conn, err := owner.Connect(l.T.Context(), l.At.Socket, owner.Hello{Space: name})
	if err == nil {
		err = conn.Close()
	}
	if err != nil && !strings.Contains(err.Error(), "key") {
		l.T.Fatalf("open the space %s: %v", name, err)
	}
}

// move moves the space, and waits until it is open again.
func (l landlord) move(name string, r operator.MoveStoreRequest) (begun operator.MoveBegun, ended operator.MoveEnded) {
	l.T.Helper()
	acts := server.Operator(l.T, l.dir)
	begun, err := operator.Call(l.T.Context(), acts, operator.MoveStore, r)
	if err != nil {
		l.T.Fatalf("move the space: %v", err)
	}
	await.That(l.T, "the move ended", func() bool {
		l.open(name)
		ended, err = operator.Call(l.T.Context(), acts, operator.GetMove, operator.None{})
		return err == nil && ended.Move == begun.Move
	})
	return begun, ended
}

// ledger is what clients were told that is stored.
type ledger struct {
	mu      sync.Mutex
	stored  []string
	longest time.Duration // that one of them waited
	refused map[string]int
}

// write stores a memory, and asks again with the same request id while it is told to.
func (l landlord) write(ctx context.Context, b *ledger, name, key string) {
	began := time.Now()
	for {
		r, err := http.NewRequest("POST", l.URL()+"/s/"+name+"/operation/memory_store", strings.NewReader(fmt.Sprintf(`{"key":%q,"value":"walnut"}`, key)))
		if err != nil {
			l.T.Errorf("ask to store %s: %v", key, err)
			return
		}
		r.Header.Set("Authorization", "Bearer "+l.key)
		r.Header.Set("Idempotency-Key", key)
		answer, err := http.DefaultClient.Do(r)
		status, said := 0, ""
		if err == nil {
			data, _ := io.ReadAll(answer.Body)
			answer.Body.Close()
			status, said = answer.StatusCode, string(data)
		} else {
			said = err.Error()
		}
		b.mu.Lock()
		if status == http.StatusOK {
			b.stored, b.longest = append(b.stored, key), max(b.longest, time.Since(began))
			b.mu.Unlock()
			return
		}
		b.refused[fmt.Sprint(status, " ", said)]++
		b.mu.Unlock()
		if status != 0 && !strings.Contains(said, `"retryable":true`) {
			l.T.Errorf("store %s: got %d %s, want 200 or that it is retryable", key, status, said)
			return
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// versionsOf counts the versions of each memory in a bundle.
func versionsOf(bundle []byte) map[string]int {
	count := map[string]int{}
	for _, line := range bytes.Split(bundle, []byte("\n")) {
		if !bytes.Contains(line, []byte(`"c":"memory"`)) || bytes.Contains(line, []byte(`"counter":true`)) {
			continue
		}
		_, rest, _ := bytes.Cut(line, []byte(`"k":"`))
		key, _, _ := bytes.Cut(rest, []byte(`"`))
		count[string(key)]++
	}
	return count
}

func TestASpaceMovesThereAndBackWhileItIsWritten(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	l := newLandlord(t, "red")
	b := &ledger{refused: map[string]int{}}
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				l.write(ctx, b, "red", fmt.Sprintf("w%d-%d", w, n))
			}
		})
	}
	for _, to := range []operator.MoveStoreRequest{{Store: url}, {Store: space.InDirectory}, {Store: url}} {
		begun, ended := l.move("red", to)
		if ended.Error != "" {
			t.Errorf("move to %+v: got %q, want that it was moved", to, ended.Error)
		}
		b.mu.Lock()
		t.Logf("%s: %d entries in %d rounds and %s; held for %s, the longest wait of a client was %s; refused: %v", ended.To, begun.Entries, begun.Rounds, begun.Took, ended.Held, b.longest, b.refused)
		b.longest = 0
		b.mu.Unlock()
	}
	stop()
	writers.Wait()
	l.Stop()
	where, data := contents(t, l.dir, space.DefaultDriver())
	if n := inDatabase(t, url, "red"); where != "database" || n != 1 {
		t.Errorf("after the last move: got the store in the %s, and %d in the database, want it there", where, n)
	}
	count := versionsOf(data)
	for _, key := range b.stored {
		if count[key] != 1 {
			t.Errorf("%s, which was acknowledged: got %d versions, want 1", key, count[key])
		}
	}
	if len(b.stored) == 0 {
		t.Error("nothing was stored meanwhile, want something")
	}
	for answer := range b.refused {
		if strings.HasPrefix(answer, "0 ") {
			t.Errorf("a client: got %q, want an answer of the server", answer)
		}
	}
}

func TestTheSideThatWasLeftIsRemovedOnRequest(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	l := newLandlord(t, "red")
	acts := server.Operator(t, l.dir)
	if _, err := operator.Call(t.Context(), acts, operator.RemoveMoved, operator.None{}); err == nil || !strings.Contains(err.Error(), "nothing is left") {
		t.Errorf("remove what was not moved: got %v, want an error that nothing is left", err)
	}
	l.move("red", operator.MoveStoreRequest{Store: url})
	must.Get(operator.Call(t.Context(), acts, operator.RemoveMoved, operator.None{}))
	if there := must.Get(space.DefaultDriver().Exists(l.dir)); there {
		t.Error("the files that were left: got them, want them removed")
	}
	l.move("red", operator.MoveStoreRequest{Store: space.InDirectory})
	must.Get(operator.Call(t.Context(), acts, operator.RemoveMoved, operator.None{}))
	driver := must.Get(space.Place{Store: url, Space: "red"}.Driver(nil))
	if there := must.Get(driver.Exists(l.dir)); there {
		t.Error("the rows that were left: got them, want them removed")
	}
	if status, answer := l.Send("POST", "/s/red/operation/memory_status", `{}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+l.key) }); status != http.StatusOK {
		t.Errorf("the space afterwards: got %d %s, want 200", status, answer)
	}
}

func TestAMoveToADatabaseThatCannotTakeItLeavesTheSpaceAsItWas(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	url := must.Get(s.Database())
	taken := must.Get(must.Get(space.DriverFor(url+"&space=red")).Open(t.Context(), t.TempDir(), noOptions))
	must.Do(t, taken.Close())
	newer, weak := must.Get(s.Database()), must.Get(s.Database())
	made := must.Get(must.Get(space.DriverFor(newer)).Open(t.Context(), t.TempDir(), noOptions))
	must.Do(t, made.Close())
	must.Do(t, s.Exec(t.Context(), nameOf(newer), `INSERT INTO alcove.schema_versions (version_id, is_applied) VALUES (900, true)`))
	must.Do(t, s.Exec(t.Context(), nameOf(weak), `CREATE ROLE reader LOGIN`, `REVOKE CREATE ON DATABASE `+nameOf(weak)+` FROM PUBLIC`))
	l := newLandlord(t, "red")
	acts := server.Operator(t, l.dir)
	for what, c := range map[string]struct {
		to   operator.MoveStoreRequest
		want string
	}{
		"one that has such a space":      {operator.MoveStoreRequest{Store: url}, "there is such a space"},
		"one of a newer version":         {operator.MoveStoreRequest{Store: newer}, "use the newer one that made it"},
		"one without rights":             {operator.MoveStoreRequest{Store: strings.Replace(weak, "postgres@", "reader@", 1)}, "needs the right to create"},
		"one that is not there":          {operator.MoveStoreRequest{Store: s.URL("nowhere")}, "does not exist"},
		"the directory, where it is":     {operator.MoveStoreRequest{Store: space.InDirectory}, "from a directory to a database"},
		"no URL":                         {operator.MoveStoreRequest{Store: "http://x"}, "not a URL as in postgres://"},
		"a file that there is not":       {operator.MoveStoreRequest{File: filepath.Join(t.TempDir(), "none")}, "no such file"},
		"a space with a name that is no": {operator.MoveStoreRequest{Store: url, Space: "../x"}, "a name has 1 to 63"},
	} {
		if _, err := operator.Call(t.Context(), acts, operator.MoveStore, c.to); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("move to %s: got %v, want an error with %q", what, err, c.want)
		}
	}
	if status, answer := l.Send("POST", "/s/red/operation/memory_store", `{"key":"k","value":"v"}`, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+l.key) }); status != http.StatusOK {
		t.Errorf("the space afterwards: got %d %s, want 200", status, answer)
	}
	if _, ended := l.move("red", operator.MoveStoreRequest{Store: url, Space: "free"}); ended.Error != "" {
		t.Errorf("move to a name that is free: got %q, want that it was moved", ended.Error)
	}
}

// nameOf is the name of the database of a URL.
func nameOf(url string) string {
	_, name, _ := strings.Cut(url, "@/")
	name, _, _ = strings.Cut(name, "?")
	return name
}
