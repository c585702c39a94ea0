package servers_test

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// readyz is what a server says of itself.
func readyz(t *testing.T, s *server.Sharing) (status int, text string) {
	t.Helper()
	got := must.Get(http.Get(s.URL() + "/readyz"))
	defer got.Body.Close()
	return got.StatusCode, string(must.Get(io.ReadAll(got.Body)))
}

// TestADrainEndsWhileASpaceIsMoved has the copy of a space wait for the database for as long as the test does.
func TestADrainEndsWhileASpaceIsMoved(t *testing.T) {
	t.Parallel()
	url := must.Get(postgres.Start(t).Database())
	first := server.NewSharing(t, url+"&statement_timeout=3600000")
	must.Get(act(t, first, operator.CreateSpace, operator.SpaceName{Name: "red"}))
	key := keyIn(t, first, "red")
	if status, answer := ask(t, first.URL()+"/s/red", key, "memory_store", map[string]any{"key": "k", "value": "walnut"}); status != http.StatusOK {
		t.Fatalf("store: got %d %s, want 200", status, answer)
	}
	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(t.Context())
	hold := must.Get(c.Begin(t.Context()))
	must.Get(hold.Exec(t.Context(), `LOCK TABLE alcove.entries IN ACCESS EXCLUSIVE MODE`))
	moved := make(chan error, 1)
	go func() {
		_, err := actIn(t, filepath.Join(first.Dir, "spaces", "red"), operator.MoveStore, operator.MoveStoreRequest{Store: space.InDirectory})
		moved <- err
	}()
	await.That(t, "the copy waits", func() bool { return waits(t, url) })
	second := server.NewSharing(t, url)
	await.That(t, "both servers know each other", func() bool { return running(first.Cluster()) == 2 && running(second.Cluster()) == 2 })

	drained := make(chan error, 1)
	go func() {
		_, err := act(t, first, operator.DrainServer, operator.None{})
		drained <- err
	}()
	if err := await.Value(t, "the drain ends", drained); err != nil {
		t.Errorf("drain: got %v, want no error", err)
	}
	if err := await.Value(t, "the move ends", moved); err == nil || !strings.Contains(err.Error(), "stays where it was") {
		t.Errorf("the move: got %v, want that the store stays where it was", err)
	}
	if own := first.Cluster().Asked(); !own.Draining || own.Leads != 0 {
		t.Errorf("what the drained server says of itself: got %+v, want that it leads nothing", own)
	}
	if status, text := readyz(t, first); status != http.StatusOK || !strings.Contains(text, "draining: ") {
		t.Errorf("/readyz of the drained server: got %d %s, want that it is ready, and drained", status, text)
	}
	must.Do(t, hold.Rollback(t.Context()))
	until(t, "the other server leads the space", func() (bool, string) {
		status, answer := ask(t, first.URL()+"/s/red", key, "memory_recall", map[string]any{"key": "k"})
		return status == http.StatusOK && strings.Contains(answer, "walnut"), answer
	})
	if leaderOf(t, []*server.Sharing{first, second}, "red") != second {
		t.Errorf("who leads the space: got the drained server, want the other one")
	}

	second.Stop()
	until(t, "the drained server says that it is of no use", func() (bool, string) {
		status, text := readyz(t, first)
		return status == http.StatusServiceUnavailable && strings.Contains(text, "no other server t"), text
	})
}

// waits reports whether something in the database waits for a lock on the entries.
func waits(t *testing.T, url string) (waits bool) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), url))
	defer c.Close(t.Context())
	must.Do(t, c.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'alcove.entries'::regclass AND NOT granted)`).Scan(&waits))
	return waits
}
