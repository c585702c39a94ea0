//go:build unix

package moves_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/postgres"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// TestHowFastASpaceMoves measures a move there and back, of as many memories as ALCOVE_MOVES_MEMORIES says.
func TestHowFastASpaceMoves(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("ALCOVE_MOVES_MEMORIES"))
	if err != nil {
		t.Skip("it is a measurement: ALCOVE_MOVES_MEMORIES=100000 runs it")
	}
	url := must.Get(postgres.Start(t).Database())
	l := newLandlord(t, "red")
	l.Stop()
	h, _, stop := server.Run(t, host.Options{Dir: l.dir})
	owner := server.Owner(h, "ann")
	var writers sync.WaitGroup
	const writersAtOnce, batch = 4, 50
	for w := range writersAtOnce {
		writers.Go(func() {
			for i := w * batch; i < n; i += writersAtOnce * batch {
				var items []memory.Item
				for m := i; m < min(i+batch, n); m++ {
					text := fmt.Sprintf(`"memory %d is about walnuts, terms of %d and the plan of day %d, as it was agreed on"`, m, m%977, m%365)
					items = append(items, memory.Item{Key: fmt.Sprint("m", m), Value: []byte(text)})
				}
				if _, err := owner.Store(t.Context(), memory.Location{}, items, memory.Write{}); err != nil {
					t.Errorf("store %d memories: %v", len(items), err)
					return
				}
			}
		})
	}
	writers.Wait()
	stop()
	l.Restart()
	l.open("red")
	for _, to := range []operator.MoveStoreRequest{{Store: url}, {Store: space.InDirectory}} {
		begun, ended := l.move("red", to)
		if ended.Error != "" {
			t.Fatalf("move to %+v: got %q, want that it was moved", to, ended.Error)
		}
		seconds := begun.Took.Seconds()
		t.Logf("%s: %d entries and %.1f MB in %.1f s and %d rounds, %.0f memories/s, %.1f MB/s; held for %s", filepath.Base(ended.To), begun.Entries, float64(begun.Bytes)/1e6,
			seconds, begun.Rounds, float64(n)/seconds, float64(begun.Bytes)/1e6/seconds, ended.Held)
	}
}
