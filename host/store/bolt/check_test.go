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
