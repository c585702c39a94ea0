package bolt_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

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
	for chance := range 10 { // a machine that is busy may hold up a single commit for as long as a check takes
		commits := commitsBesideACheck(s, e, fmt.Sprint("chance", chance))
		looks, _ := bolt.Looks(e)
		t.Logf("%d commits beside a check in %d looks", commits, looks)
		if looks < 20 {
			t.Fatalf("it is done in %d looks, and not a moment at a time", looks)
		}
		if commits > 1 {
			return
		}
	}
	t.Error("commits wait for all of a check")
}

// commitsBesideACheck commits for as long as a check takes, and counts the commits that ended.
func commitsBesideACheck(s *stage, e *bolt.Engine, name string) (commits int) {
	s.t.Helper()
	checked := make(chan error)
	go func() { checked <- e.Check(s.t.Context()) }()
	for {
		select {
		case err := <-checked:
			s.ok(err)
			return commits
		default:
			s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey(fmt.Sprint(name, commits)), Value: make([]byte, 100_000)}}})
			commits++
		}
	}
}
