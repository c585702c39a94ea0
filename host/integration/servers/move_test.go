package servers_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// writers write a space at whatever addresses it has, each memory once.
type writers struct {
	t      *testing.T
	key    string
	urls   atomic.Pointer[[]string]
	stored [4]atomic.Int64
	stop   func()
}

func write(t *testing.T, key string, urls ...string) *writers {
	t.Helper()
	w := &writers{t: t, key: key}
	w.urls.Store(&urls)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for i := range w.stored {
		all.Go(func() { w.run(ctx, i) })
	}
	w.stop = func() {
		cancel()
		all.Wait()
	}
	return w
}

func (w *writers) run(ctx context.Context, id int) {
	for at := id; ctx.Err() == nil; at++ {
		urls := *w.urls.Load()
		status, answer := storeOnce(w.t, urls[at%len(urls)], w.key, fmt.Sprintf("w%d-%d", id, w.stored[id].Load()))
		switch {
		case status == http.StatusOK:
			w.stored[id].Add(1)
		case status == http.StatusNotFound && strings.Contains(answer, "was moved to the directory"): // another address has it, soon
			time.Sleep(10 * time.Millisecond)
		case status != 0 && !strings.Contains(answer, `"retryable":true`):
			w.t.Errorf("store: got %d %s, want 200, where it was moved, or that it can be retried", status, answer)
			return
		}
	}
}

// more waits until each writer stored some more memories.
func (w *writers) more() {
	w.t.Helper()
	for i := range w.stored {
		before := w.stored[i].Load()
		await.That(w.t, "each client goes on", func() bool { return w.stored[i].Load() > before || w.t.Failed() })
	}
}

// judge counts what is in the database, and stops.
func (w *writers) judge(url, name string) {
	w.t.Helper()
	w.stop()
	c := must.Get(pgx.Connect(w.t.Context(), url))
	defer c.Close(context.Background())
	for i := range w.stored {
		n, keys, versions := int(w.stored[i].Load()), 0, 0
		must.Do(w.t, c.QueryRow(w.t.Context(), `SELECT count(DISTINCT key), count(*) FROM alcove.entries JOIN alcove.names USING (space) WHERE name = $1 AND position($2 IN encode(key, 'escape')) > 0`, name, fmt.Sprintf("w%d-", i)).Scan(&keys, &versions))
		if keys < n || keys > n+1 || versions != keys { // the last one may not have been acknowledged
			w.t.Errorf("client %d: got %d keys with %d versions, want %d, once each", i, keys, versions, n)
		}
	}
}

// TestASpaceThatServersShareMovesOutAndBackWhileItIsWritten asks the server that does not lead the space to move it into a directory, serves
// that with a server of its own, and moves it back to where the others lead it.
func TestASpaceThatServersShareMovesOutAndBackWhileItIsWritten(t *testing.T) {
	t.Parallel()
	list, url := pair(t)
	must.Get(act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: "red"}))
	key := keyIn(t, list[0], "red")
	keyIn(t, list[1], "red") // both have a directory of it
	shared := []string{list[0].URL() + "/s/red", list[1].URL() + "/s/red"}
	w := write(t, key, shared...)
	w.more()
	lead := leaderOf(t, list, "red")
	other := except(list, lead)[0]
	begun := must.Get(actIn(t, filepath.Join(other.Dir, "spaces", "red"), operator.MoveStore, operator.MoveStoreRequest{Store: space.InDirectory}))
	dir := filepath.Join(lead.Dir, "spaces", "red")
	if !strings.Contains(begun.To, dir) {
		t.Errorf("moved to %s, want the directory of the leader, %s", begun.To, dir)
	}
	for i, s := range shared {
		until(t, "the servers say where it is", func() (bool, string) {
			status, answer := ask(t, s, key, "memory_recall", map[string]any{"key": "w0-0"})
			return status == http.StatusNotFound && strings.Contains(answer, "was moved to the directory"), fmt.Sprintf("server %d: %d %s", i, status, answer)
		})
	}
	at, stop := serveAlone(t, dir)
	w.urls.Store(&[]string{"http://" + at})
	w.more()
	back := must.Get(actIn(t, dir, operator.MoveStore, operator.MoveStoreRequest{Store: url, Space: "red"}))
	until(t, "it is moved back", func() (bool, string) {
		ended, err := actIn(t, dir, operator.GetMove, operator.None{})
		return err == nil && ended.Move == back.Move && ended.Error == "", fmt.Sprint(ended, err)
	})
	stop()
	w.urls.Store(&shared)
	w.more()
	w.judge(url, "red")
	for i, s := range list {
		if dirsOf(s) != "red" {
			t.Errorf("the spaces on the machine of server %d: got directories of %q, want that of red", i, dirsOf(s))
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "alcove.db")); err != nil {
		t.Errorf("the side that was left: got %v, want that it is kept", err)
	}
}

// serveAlone serves a data directory with a server of its own, and returns its address.
func serveAlone(t *testing.T, dir string) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	started, ended := make(chan string, 2), make(chan error, 1)
	go func() {
		ended <- host.OpenAndServe(ctx, host.Options{Dir: dir, Driver: space.DefaultDriver(), Name: "red"}, host.Listen{HTTP: "127.0.0.1:0", Started: func(r owner.Record) { started <- r.HTTP }})
	}()
	select {
	case address = <-started:
	case err := <-ended:
		t.Fatalf("serve the directory with a server of its own: %v", err)
	}
	return address, func() {
		cancel()
		must.Do(t, <-ended)
	}
}

// TestASpaceGoesOnWhenItsLeaderIsKilledWhileItMoves kills the leader in the midst of a move. The others lead on, and its directory makes no
// difference when it comes back.
func TestASpaceGoesOnWhenItsLeaderIsKilledWhileItMoves(t *testing.T) {
	t.Parallel()
	list, url := pair(t)
	must.Get(act(t, list[0], operator.CreateSpace, operator.SpaceName{Name: "red"}))
	key := keyIn(t, list[0], "red")
	keyIn(t, list[1], "red")
	w := write(t, key, list[0].URL()+"/s/red", list[1].URL()+"/s/red")
	w.more()
	lead := leaderOf(t, list, "red")
	other := except(list, lead)[0]
	go actIn(t, filepath.Join(other.Dir, "spaces", "red"), operator.MoveStore, operator.MoveStoreRequest{Store: space.InDirectory})
	staged := filepath.Join(lead.Dir, "spaces", "red", "moving")
	await.That(t, "a copy began", func() bool { return len(must.Get(filepath.Glob(staged))) > 0 })
	lead.Kill()
	w.more()
	lead.Start()
	urls := []string{list[0].URL() + "/s/red", list[1].URL() + "/s/red"}
	w.urls.Store(&urls)
	w.more()
	w.judge(url, "red")
}
