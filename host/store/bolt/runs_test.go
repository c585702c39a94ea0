package bolt_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestRunsHoldThePiecesOfADump(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	variety(s, e)
	since := s.head(e)
	for i := range 40 { // small and large values, one behind another
		for _, size := range []int{10, 100_000, 5000} {
			s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey(fmt.Sprint("r", i, "-", size)), Value: make([]byte, size)}}})
		}
	}
	for _, from := range []uint64{0, since} {
		_, want := pieces(t, e, from)
		got, runs, count := "", 0, 0
		err := e.DumpRuns(t.Context(), from, s.head(e), func() ([]byte, error) { return []byte("begun"), nil }, func(run []byte, pieces int) error {
			runs, count = runs+1, count+pieces
			return store.ReadRun(bytes.TrimPrefix(run, []byte("begun")), func(p store.Piece) error {
				count--
				got += pieceText(p)
				return nil
			})
		})
		if err != nil || got != want || runs < 4 || count != 0 {
			t.Errorf("since %d there are %d runs, with %d pieces too few, whose text is that of the dump: %t (%v)", from, runs, count, got == want, err)
		}
	}
}

func TestWhoeverWritesToTheDiskLetsACommitGoFirstButNotForEver(t *testing.T) {
	begun, stop := make(chan struct{}), make(chan struct{})
	steps := func(step bolt.Step) error {
		if step == bolt.BatchApplied {
			close(begun)
			<-stop
		}
		return nil
	}
	e, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	committed := make(chan error, 1)
	go func() {
		_, err := e.Commit(context.WithoutCancel(t.Context()), store.Batch{})
		committed <- err
	}()
	<-begun
	began := time.Now()
	e.YieldToCommits(t.Context())
	if waited := time.Since(began); waited < bolt.CommitWait {
		t.Errorf("it waits %s for a commit that takes longer than %s", waited, bolt.CommitWait)
	}
	close(stop)
	if err := <-committed; err != nil {
		t.Error(err)
	}
}
