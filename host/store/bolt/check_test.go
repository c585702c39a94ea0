package bolt_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestAWholeStoreChecksWhileItIsWritten(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()
	for w := range 2 {
		writers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				_, _ = e.Commit(ctx, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey(fmt.Sprint("w", w, i%50)), Value: []byte("value")}}})
			}
		})
	}
	for range 20 {
		if err := e.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCommitsDoNotWaitForACheck commits while a store is checked that takes far longer to read than a commit may wait. Its file
// grows beyond what is mapped, again and again, for which commits must wait until nobody reads.
func TestCommitsDoNotWaitForACheck(t *testing.T) {
	s := &stage{t: t, dir: t.TempDir()}
	e, err := bolt.Open(t.Context(), s.dir, bolt.Options{MapSize: 1 << 16, NoSync: true})
	s.ok(err)
	defer e.Close()
	for i := range 60 {
		var b store.Batch
		for k := range 1000 {
			b.Writes = append(b.Writes, store.Write{Branch: 1, Key: stageKey(fmt.Sprintf("k%d.%d", i, k)), Value: []byte("a value of some length")})
		}
		s.commit(e, b)
	}
	began, checked := time.Now(), make(chan error)
	go func() { checked <- e.Check(t.Context()) }()
	slowest, commits := time.Duration(0), 0
	for {
		select {
		case err := <-checked:
			s.ok(err)
			looks, longest := bolt.Looks(e)
			t.Logf("the check took %s, in %d looks of at most %s; %d commits beside it, the slowest in %s", time.Since(began), looks, longest, commits, slowest)
			if took := time.Since(began); slowest > took/2 || longest > took/2 || looks < 20 {
				t.Error("it is not done a moment at a time, or commits wait for all of it")
			}
			return
		default:
			before := time.Now()
			s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey(fmt.Sprint("w", commits)), Value: make([]byte, 100_000)}}})
			slowest = max(slowest, time.Since(before))
			commits++
		}
	}
}
