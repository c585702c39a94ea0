package memory

import (
	"fmt"
	"sync"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// TestManyMergesIntoABusyBranchAllEnd merges into a branch that is written all the time, so that merges lose their races
// and hold writers up; each must end.
func TestManyMergesIntoABusyBranchAllEnd(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "word")
	ctx := t.Context()
	stop := make(chan struct{})
	var writers, mergers sync.WaitGroup
	for i := range 4 {
		writers.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprint("busy", i)
				if _, err := s.Store(ctx, Location{}, []Item{{Key: key, Value: fmt.Appendf(nil, "%d", n)}}, Write{}); err != nil {
					t.Error(err)
					return
				}
				if _, err := s.Recall(ctx, Location{}, key, AsOf{}); err != nil { // so that there is something to count
					t.Error(err)
					return
				}
			}
		})
		mergers.Go(func() {
			for n := range 15 {
				name := fmt.Sprintf("b%d-%d", i, n)
				if _, err := s.Fork(ctx, "", name, AsOf{}, Write{}); err != nil {
					t.Error(err)
					return
				}
				_, err := s.Store(ctx, Location{Branch: name}, []Item{{Key: name, Value: []byte("1")}}, Write{})
				if err == nil {
					_, err = s.Recall(ctx, Location{Branch: name}, name, AsOf{})
				}
				if err == nil {
					_, err = s.Merge(ctx, Merge{Source: name}, Write{})
				}
				if err == nil {
					err = s.Delete(ctx, name, Write{})
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	ended := make(chan struct{})
	go func() { mergers.Wait(); close(ended) }()
	await.Value(t, "the merges end", ended)
	close(stop)
	writers.Wait()
	if list, err := s.List(ctx, Location{}, "b", "", AsOf{}, 0); err != nil || len(list) != 4*15+4 {
		t.Errorf("%d memories are there (%v)", len(list), err)
	}
	if err := s.WaitIdle(ctx); err != nil {
		t.Fatal(err)
	}
	// the first branch and that for what is the same on all stay
	if kept := s.catalogue.Kept(); len(kept) != 2 || s.catalogue.Merged() != 0 {
		t.Errorf("of the merged and deleted branches %d, and %d merges, are remembered", len(kept)-2, s.catalogue.Merged())
	}
}
