package memory

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// kept are the branches that the engine has.
func kept(t *testing.T, s *interrupted) (ids []store.BranchID) {
	t.Helper()
	head, err := s.engine.Head(t.Context())
	if err == nil {
		err = s.engine.Dump(t.Context(), 0, head.Version, func(p store.Piece) error {
			ids = p.Branches
			return errInterrupted
		})
	}
	if !errors.Is(err, errInterrupted) {
		t.Fatalf("Dump: %v, want %v", err, errInterrupted)
	}
	return ids
}

func TestBranchesCanBeMadeAndDeletedDuringABackupAndAreErasedAfterIt(t *testing.T) {
	s := openInterrupted(t, t.TempDir(), func(bolt.Step) error { return nil })
	defer s.close(t)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Fork(t.Context(), "", "side", AsOf{}, Write{})
	ok(err)
	_, err = s.Store(t.Context(), Location{Branch: "side"}, []Item{{Key: "k", Value: []byte("1")}}, Write{})
	ok(err)
	side := slices.Max(kept(t, s))
	release, err := s.engine.HoldVersions(t.Context())
	ok(err)
	ok(s.Delete(t.Context(), "side", Write{}))
	ok(s.WaitIdle(t.Context()))
	_, err = s.Fork(t.Context(), "", "other", AsOf{}, Write{})
	ok(err)
	if !slices.Contains(kept(t, s), side) {
		t.Error("a branch was erased during a backup")
	}
	trimmed := make(chan error, 1)
	go func() {
		_, err := s.Trim(context.WithoutCancel(t.Context()), "other", AsOf{})
		trimmed <- err
	}()
	_, err = s.Fork(t.Context(), "", "third", AsOf{}, Write{})
	ok(err)
	release()
	ok(<-trimmed)
	await.That(t, "the branch is erased after the backup", func() bool { return !slices.Contains(kept(t, s), side) })
}
