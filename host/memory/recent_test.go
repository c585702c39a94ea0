package memory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/must"
)

// writeAnything writes, changes and deletes memories in commits of any size, in two namespaces of two branches. Some are older than their
// commit, some expire, some are archived.
func writeAnything(t *testing.T, s *Space, random *rand.Rand, now func() time.Time, branch string) {
	if random.IntN(8) == 0 {
		if _, err := s.Forget(t.Context(), Location{Branch: branch}, []string{fmt.Sprint("k", random.IntN(60)), fmt.Sprint("k", random.IntN(60))}, Write{}); err != nil {
			t.Fatal(err)
		}
		return
	}
	var items []Item
	for range 1 + random.IntN(1+random.IntN(40)) {
		it := Item{Key: fmt.Sprint("k", random.IntN(60)), Value: fmt.Appendf(nil, `"text %d"`, random.IntN(1000))}
		switch random.IntN(8) {
		case 0:
			it.Created = now().Add(-time.Duration(random.IntN(100)) * time.Minute)
		case 1:
			it.ExpiresAt = now().Add(time.Duration(1+random.IntN(100)) * time.Second)
		case 2:
			it.State = Archived
		}
		items = append(items, it)
	}
	at := Location{Branch: branch}
	if random.IntN(4) == 0 {
		at.Namespace = "other"
	}
	if _, err := s.Store(t.Context(), at, items, Write{}); err != nil {
		t.Fatal(err)
	}
}

func TestAListByTimeThatCommitsCompleteIsThatOfAFullScan(t *testing.T) {
	random, clock := rand.New(rand.NewPCG(5, 6)), atomic.Int64{}
	clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	now := func() time.Time { return time.UnixMicro(clock.Add(1000)).UTC() }
	s, closeSpace := openSpace(t, t.TempDir(), now)
	t.Cleanup(closeSpace)
	branches, byCommits, pages := []string{Default}, map[Order]int{}, 0
	for round := range 150 {
		if round == 40 || round == 80 {
			name := fmt.Sprint("fork", round)
			fork(t, s, branches[len(branches)-1], name)
			branches = append(branches, name)
		}
		branch := branches[random.IntN(len(branches))]
		writeAnything(t, s, random, now, branch)
		clock.Add(int64(random.IntN(3)) * int64(time.Minute/time.Microsecond))
		branch = branches[random.IntN(len(branches))]
		for _, order := range []Order{ByNewest, ByUpdate} {
			l := Listing{Order: order, Limit: 1 + random.IntN(10), Filter: Filter{States: []State{Active}}}
			st := stage(t, s, branch)
			for page := 0; page < 3; page++ {
				q := must.Get(st.listing(t.Context(), l))
				all := scanned(t, st, l)
				done := false
				err := q.collect(t.Context(), func(ctx context.Context) (err error) {
					done, err = q.fromCommits(ctx)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				if pages++; done {
					byCommits[order]++
					if got, _, err := q.page(t.Context()); err != nil || !reflect.DeepEqual(got, all) {
						t.Fatalf("round %d, page %d by %s of %s: %v\n%v\nand not\n%v", round, page, order, branch, err, keysOf(got.Memories), keysOf(all.Memories))
					}
				}
				if page == 0 {
					sameAsSearch(t, s, branch, l, all)
				}
				if l.After = all.Next; l.After == "" {
					break
				}
			}
		}
	}
	for _, order := range []Order{ByNewest, ByUpdate} {
		if n := byCommits[order]; n < pages/10 {
			t.Errorf("by %s, commits completed %d of %d pages of all orders", order, n, pages)
		}
	}
}

func keysOf(list []Memory) (keys []string) {
	for _, m := range list {
		keys = append(keys, m.Key)
	}
	return keys
}

// sameAsSearch compares a page with that of a search without a query.
func sameAsSearch(t *testing.T, s *Space, branch string, l Listing, want Listed) {
	t.Helper()
	found, err := s.Search(t.Context(), Search{Branch: branch, Namespaces: []string{Default}, Order: l.Order, K: l.Limit})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, h := range found.Hits {
		keys = append(keys, h.Key)
	}
	if !reflect.DeepEqual(keys, keysOf(want.Memories)) {
		t.Fatalf("a search by %s finds %v and not %v", l.Order, keys, keysOf(want.Memories))
	}
}

// TestAListByTimeGivesUpOnCommits lists where the newest commits have little of what is listed.
func TestAListByTimeGivesUpOnCommits(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "listed", "text")
	for i := range 100 {
		at := Location{Namespace: "other"}
		if i%2 == 0 {
			at.Namespace = Default
		}
		if _, err := s.Store(t.Context(), at, []Item{{Key: "same", Value: fmt.Appendf(nil, `%d`, i)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	q := must.Get(stage(t, s, "").listing(t.Context(), Listing{Order: ByUpdate, Limit: 1}))
	if done, err := q.fromCommits(t.Context()); done || err != nil || len(q.top.list) > 0 {
		t.Errorf("the commits complete a page: %t, %v, %v", done, err, q.top.list)
	}
	page, err := stage(t, s, "").Select(t.Context(), Listing{Order: ByUpdate, Limit: 2})
	if err != nil || !reflect.DeepEqual(keysOf(page.Memories), []string{"same", "listed"}) {
		t.Errorf("the page is %v, %v", keysOf(page.Memories), err)
	}
}
