package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/must"
)

// dailySpace is a space whose clock each call of day puts a day on.
func dailySpace(t testing.TB) (s *Space, day func()) {
	t.Helper()
	var clock atomic.Int64
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	now := func() time.Time { return time.UnixMicro(clock.Load()).UTC() }
	s, closeSpace := openSpaceWith(t, t.TempDir(), now, search.New(search.Options{}))
	t.Cleanup(closeSpace)
	return s, func() { clock.Add(int64(24 * time.Hour / time.Microsecond)) }
}

// changed tells what changed in a period, a line each.
func changed(t testing.TB, a *Access, q ChangedQuery) string {
	t.Helper()
	var said []string
	for {
		list, next, err := a.Changed(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range list {
			said = append(said, fmt.Sprintf("%s %s→%s by %s", c.Key, valueIn(c.Before), valueIn(c.After), c.By.Agent))
		}
		if q.After = next; next == "" {
			return strings.Join(said, "; ")
		}
	}
}

func valueIn(m *Memory) string {
	if m == nil {
		return "-"
	}
	return strings.Trim(string(m.Value), `"`)
}

func TestWhatChangedBetweenTwoMomentsIsTheDifferenceOfTheirStates(t *testing.T) {
	s, day := dailySpace(t)
	a := s.As(ann)
	store := func(key, value string) Stored {
		t.Helper()
		return must.Get(a.Store(t.Context(), Location{}, []Item{{Key: key, Value: json.RawMessage(`"` + value + `"`)}}, Write{}))[0]
	}
	store("kept", "same")
	store("gone", "old")
	store("back", "first")
	start := store("new", "one")
	day()
	store("back", "second")
	store("back", "first") // as it was
	store("passing", "here")
	store("kept", "other")
	must.Get(a.Forget(t.Context(), Location{}, []string{"gone", "passing"}, Write{}))
	store("fresh", "one")
	middle := store("new", "two")
	day()
	store("new", "three")
	const both = "new one→two by ann; fresh -→one by ann; gone old→- by ann; kept same→other by ann"
	for _, c := range []struct {
		since, until AsOf
		want         string
	}{
		{AsOf{Version: start.Version}, AsOf{Version: middle.Version}, both},
		{AsOf{Version: middle.Version}, AsOf{}, "new two→three by ann"},
		{AsOf{Time: start.Timestamp.Add(time.Hour)}, AsOf{Time: middle.Timestamp.Add(time.Hour)}, both},
		{AsOf{}, AsOf{Version: start.Version}, "new -→one by ann; back -→first by ann; gone -→old by ann; kept -→same by ann"},
	} {
		for _, limit := range []int{0, 1, 3} {
			q := ChangedQuery{Period: Period{Since: c.since, Until: c.until}, Limit: limit}
			if got := changed(t, a, q); got != c.want {
				t.Errorf("%d a page, from %+v to %+v: %s\nwant %s", limit, c.since, c.until, got, c.want)
			}
		}
	}
}

func TestWhatChangedOnAForkHasTheChangesOfItsParentBeforeIt(t *testing.T) {
	s, day := dailySpace(t)
	first := put(t, s, "", "a", "one")
	day()
	put(t, s, "", "b", "parent")
	fork(t, s, "", "try")
	put(t, s, "", "c", "later")
	put(t, s, "try", "d", "own")
	q := ChangedQuery{Period: Period{Branch: "try", Since: AsOf{Version: first.Version}}}
	if got, want := changed(t, s.As(ann), q), "d -→own by ; b -→parent by "; got != want {
		t.Errorf("on the fork changed %q, want %q", got, want)
	}
}

func TestWhatChangedOutsideACallersNamespacesIsNeitherListedNorCounted(t *testing.T) {
	w := openWorld(t, true)
	list, _, err := w.As(clerk).Changed(t.Context(), ChangedQuery{})
	if err != nil || len(list) == 0 {
		t.Fatalf("the clerk's list is %+v (%v), want some", list, err)
	}
	for _, c := range list {
		if c.Namespace != "desk/work" && c.Namespace != "shelf/library" {
			t.Errorf("the clerk sees %s/%s", c.Namespace, c.Key)
		}
	}
	mine := must.Get(w.As(clerk).Timeline(t.Context(), TimelineQuery{Buckets: 1}))
	all := must.Get(w.As(ann).Timeline(t.Context(), TimelineQuery{Buckets: 1}))
	if mine.Changes == 0 || mine.Changes >= all.Changes {
		t.Errorf("the clerk counts %d changes, and ann %d", mine.Changes, all.Changes)
	}
}

func TestATimelineCountsChangesInEqualSpansAndTellsTheNeighbours(t *testing.T) {
	s, day := dailySpace(t)
	var at []Stored
	for i := range 11 {
		at = append(at, put(t, s, "", fmt.Sprint("k", i), "v"))
		if i == 10 {
			at = append(at, put(t, s, "", "last", "v"))
		}
		day()
	}
	fork(t, s, "", "try") // no change of the default branch
	line := must.Get(s.As(ann).Timeline(t.Context(), TimelineQuery{Buckets: 11, At: AsOf{Version: at[4].Version}}))
	var counts []int
	for _, b := range line.Buckets {
		counts = append(counts, b.Changes)
	}
	// A span has its end, and the first also its beginning. The change called last is a microsecond after the end of the tenth.
	if got, want := fmt.Sprint(counts), "[2 1 1 1 1 1 1 1 1 1 1]"; got != want || line.Changes != 12 {
		t.Errorf("the buckets have %s of %d changes, want %s of 12", got, line.Changes, want)
	}
	if line.Previous.Version != at[3].Version || line.Next.Version != at[5].Version || !line.Next.Time.Equal(at[5].Timestamp) {
		t.Errorf("beside v%d are %+v and %+v, want v%d and v%d", at[4].Version, line.Previous, line.Next, at[3].Version, at[5].Version)
	}
	if line.At.Version != at[4].Version || !line.At.Time.Equal(at[4].Timestamp) {
		t.Errorf("v%d is told as %+v", at[4].Version, line.At)
	}
	if !line.Buckets[0].From.Equal(at[0].Timestamp) || !line.Buckets[10].Until.Equal(line.Until.Time) {
		t.Errorf("the buckets go from %s to %s, want from %s to %s",
			line.Buckets[0].From, line.Buckets[10].Until, at[0].Timestamp, line.Until.Time)
	}
	now := must.Get(s.As(ann).Timeline(t.Context(), TimelineQuery{Buckets: 1}))
	if now.Next.Version != 0 || now.Previous.Version != at[10].Version {
		t.Errorf("beside now are %+v and %+v, want v%d and none", now.Previous, now.Next, at[10].Version)
	}
	fork := must.Get(s.As(ann).Timeline(t.Context(), TimelineQuery{Buckets: 2, Period: Period{Branch: "try"}}))
	if fork.Changes != 12 {
		t.Errorf("the fork's timeline has %d changes, want the 12 that it inherited", fork.Changes)
	}
}

func TestAPeriodThatRetentionTrimmedBeginsWhereItIsKept(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "a", "one")
	floor := put(t, s, "", "b", "one")
	put(t, s, "", "a", "two")
	b := must.Get(s.branch(""))
	must.Do(t, s.engine.Trim(t.Context(), b.ID, floor.Version, nil))
	if got, want := changed(t, s.As(ann), ChangedQuery{}), "a one→two by "; got != want {
		t.Errorf("after the floor changed %q, want %q", got, want)
	}
	if line := must.Get(s.As(ann).Timeline(t.Context(), TimelineQuery{Buckets: 4})); line.Changes != 1 || line.Since.Version != floor.Version {
		t.Errorf("the timeline has %d changes since v%d, want 1 since v%d", line.Changes, line.Since.Version, floor.Version)
	}
	_, _, err := s.As(ann).Changed(t.Context(), ChangedQuery{Period: Period{Since: AsOf{Version: floor.Version - 1}}})
	if !errors.Is(err, store.ErrTrimmed) {
		t.Errorf("a period from before the floor is answered with %v, want %v", err, store.ErrTrimmed)
	}
}

func TestAPeriodThatEndsBeforeItBeginsIsRefused(t *testing.T) {
	s, day := dailySpace(t)
	first := put(t, s, "", "a", "one")
	day()
	second := put(t, s, "", "a", "two")
	backwards := Period{Since: AsOf{Version: second.Version}, Until: AsOf{Version: first.Version}}
	_, _, err := s.As(ann).Changed(t.Context(), ChangedQuery{Period: backwards})
	if err == nil || !strings.Contains(err.Error(), "exchange since and until") {
		t.Errorf("a period backwards is answered with %v", err)
	}
	for _, after := range []string{"x", "1", "1.x", "1.-2"} {
		_, _, err := s.As(ann).Changed(t.Context(), ChangedQuery{After: after})
		if err == nil || !strings.Contains(err.Error(), "continues no list") {
			t.Errorf("after %q is answered with %v", after, err)
		}
	}
}

// changesCounted is how many changes of a branch a timeline has.
func changesCounted(t testing.TB, s *Space, branch string) int {
	t.Helper()
	return must.Get(s.As(ann).Timeline(t.Context(), TimelineQuery{Buckets: 3, Period: Period{Branch: branch}})).Changes
}

func TestATimelineFollowsLaterChangesForksAndRetention(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "a", "one")
	middle := put(t, s, "", "b", "one")
	if got := changesCounted(t, s, ""); got != 2 {
		t.Fatalf("the first timeline has %d changes, want 2", got)
	}
	fork(t, s, "", "try")
	put(t, s, "", "c", "one")
	put(t, s, "try", "d", "one")
	put(t, s, "try", "e", "one")
	if got := [2]int{changesCounted(t, s, ""), changesCounted(t, s, "try")}; got != [2]int{3, 4} {
		t.Errorf("the branch and its fork have %v changes, want 3 and 4", got)
	}
	past := TimelineQuery{Buckets: 2, Period: Period{Until: AsOf{Version: middle.Version}}}
	if line := must.Get(s.As(ann).Timeline(t.Context(), past)); line.Changes != 2 {
		t.Errorf("up to v%d it has %d changes, want 2", middle.Version, line.Changes)
	}
	must.Do(t, s.trim(t.Context(), must.Get(s.branch("")), middle.Version, nil))
	if got := changesCounted(t, s, ""); got != 1 {
		t.Errorf("after retention it has %d changes, want 1", got)
	}
}

func TestMoreChangesThanStayInMemoryAreCountedEachTime(t *testing.T) {
	s := testSpace(t)
	for i := range 5 {
		put(t, s, "", fmt.Sprint("k", i), "v")
	}
	b := must.Get(s.branch(""))
	s.tallies.of(b.ID).large = true
	if got := changesCounted(t, s, ""); got != 5 {
		t.Errorf("a large branch has %d changes, want 5", got)
	}
	var few changeTally
	if must.Do(t, few.add(t.Context(), s, span{b.ID, 0, must.Get(s.Newest(t.Context()))}, 4)); !few.large || len(few.versions) > 0 {
		t.Errorf("a tally of at most 4 changes has %d", len(few.versions))
	}
}

func BenchmarkTimeline(b *testing.B) {
	s := fillListed(b, benchMemories(b))
	for _, n := range []int{100, 400} {
		b.Run(fmt.Sprint(n, " buckets"), func(b *testing.B) {
			for b.Loop() {
				must.Get(s.As(ann).Timeline(context.Background(), TimelineQuery{Buckets: n}))
			}
		})
	}
}

func BenchmarkChanged(b *testing.B) {
	s := fillListed(b, benchMemories(b))
	for _, limit := range []int{20, 50} {
		b.Run(fmt.Sprint(limit, " a page"), func(b *testing.B) {
			for b.Loop() {
				if list, _, err := s.As(ann).Changed(context.Background(), ChangedQuery{Limit: limit}); err != nil || len(list) != limit {
					b.Fatalf("%d changes (%v)", len(list), err)
				}
			}
		})
	}
}
