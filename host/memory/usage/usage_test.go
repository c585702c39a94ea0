package usage

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/testclock"
	"github.com/alcove-memory/alcove/host/testing/testspace"
)

// world is a counter on a store of its own, with a clock that a test moves.
type world struct {
	*Counter
	space *memory.Space
	now   *testclock.Clock
}

func open(t *testing.T, dir string) *world {
	t.Helper()
	w := &world{now: testclock.At(time.Date(2026, 5, 20, 10, 0, 0, 0, time.UTC))}
	w.space = testspace.Open(t, testspace.Options{Dir: dir, Clock: w.now.Now})
	w.Counter = New(Options{Space: w.space.As(memory.Caller{Rights: memory.FullRights()}), Namespace: "_", Clock: w.now.Now})
	return w
}

func (w *world) rows(t *testing.T, q Query) string {
	t.Helper()
	list, err := w.Usage(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, r := range list {
		fmt.Fprintf(&b, "%s %s %s %d/%d %s\n", r.Agent, r.Tool, r.Alias, r.Calls, r.Errors, r.Last.Format(time.DateOnly))
	}
	return b.String()
}

func TestCallsAreCountedByDayAgentAndTool(t *testing.T) {
	w := open(t, t.TempDir())
	w.Count("ann", "memory_store", "", false)
	w.Count("ann", "memory_store", "", true)
	w.Count("ann", "notes_list", "memory_observe", false)
	w.Count("", "memory_store", "", false)
	w.now.Set(w.now.Now().AddDate(0, 0, 29))
	w.Count("ann", "memory_store", "", false)
	const all = " memory_store  1/0 2026-05-20\nann memory_store  3/1 2026-06-18\nann notes_list memory_observe 1/0 2026-05-20\n"
	ann := "ann"
	for name, c := range map[string]struct {
		q    Query
		want string
	}{
		"thirty days":    {Query{Days: 30}, all},
		"today":          {Query{Days: 1}, "ann memory_store  1/0 2026-06-18\n"},
		"by a tool":      {Query{Days: 30, Tools: []string{"notes_list"}}, "ann notes_list memory_observe 1/0 2026-05-20\n"},
		"by an alias":    {Query{Days: 30, Tools: []string{"memory_observe"}}, "ann notes_list memory_observe 1/0 2026-05-20\n"},
		"of no tool":     {Query{Days: 30, Tools: []string{}}, ""},
		"of one agent":   {Query{Days: 2, Agent: &ann}, "ann memory_store  1/0 2026-06-18\n"},
		"asked for anew": {Query{Days: 30}, all},
	} {
		if got := w.rows(t, c.q); got != c.want {
			t.Errorf("%s: rows %s, want %s", name, got, c.want)
		}
	}
	for _, days := range []int{0, -1, Kept + 1} {
		if _, err := w.Usage(t.Context(), Query{Days: days}); err == nil {
			t.Errorf("%d days are counted", days)
		}
	}
	w.now.Set(w.now.Now().AddDate(0, 0, Kept+1))
	if got := w.rows(t, Query{Days: Kept}); got != "" {
		t.Errorf("after %d days there is %s", Kept, got)
	}
}

func TestCountsAreKeptWhenTheCounterStops(t *testing.T) {
	w := open(t, t.TempDir())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { w.Run(ctx); close(done) }()
	w.Count("ann", "memory_store", "", false)
	stop()
	<-done
	again := New(w.o)
	again.Count("ann", "memory_store", "", false)
	w.Counter = again
	if got := w.rows(t, Query{Days: 1}); got != "ann memory_store  2/0 2026-05-20\n" {
		t.Errorf("there is %s", got)
	}
}

func TestAClientThatInventsAgentsDoesNotGrowTheCounts(t *testing.T) {
	w := open(t, t.TempDir())
	for i := range 3 * mostRows {
		w.Count(fmt.Sprintf("agent %d %s", i, strings.Repeat("x", 500)), "memory_store", "", false)
		if i%1000 == 0 {
			if err := w.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	list, err := w.Usage(t.Context(), Query{Days: 1})
	if err != nil {
		t.Fatal(err)
	}
	calls := int64(0)
	for _, r := range list {
		calls += r.Calls
		if len(r.Agent) > longestName+3 {
			t.Errorf("an agent's name has %d bytes", len(r.Agent))
		}
	}
	if len(list) > mostRows+1 || calls != 3*mostRows || list[0].Agent != Others {
		t.Errorf("%d rows of %d calls, the first of %s", len(list), calls, list[0].Agent)
	}
}
