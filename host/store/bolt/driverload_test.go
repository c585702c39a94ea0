package bolt_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// loadOf loads one entry.
func loadOf(steps func(bolt.Step) error, verify func(context.Context, string) error) func(context.Context, string) error {
	load := store.Load{Verify: verify, Read: func(l store.Loader, _ string) error {
		at := store.Point{Version: 1, Time: time.Unix(1_700_000_000, 0).UTC()}
		return errors.Join(
			l.Add(store.Piece{Branches: []store.BranchID{1}}), l.Add(store.Piece{Point: &at}), l.Add(store.Piece{Branch: &store.BranchState{ID: 1}}),
			l.Add(store.Piece{Entry: &store.Entry{Key: stageKey("k"), Point: at, Branch: 1, Value: []byte("v")}}))
	}}
	return func(ctx context.Context, dir string) error { return bolt.Driver{Steps: steps}.Load(ctx, dir, load) }
}

// verifyStore opens a store, checks it, and leaves a file beside it, as what is made from the data does.
func verifyStore(ctx context.Context, dir string) error {
	e, err := bolt.Open(ctx, dir, bolt.Options{})
	if err != nil {
		return err
	}
	return errors.Join(e.Check(ctx), e.Close(), os.WriteFile(filepath.Join(dir, "blobs", "beside"), nil, 0o600))
}

func hasStore(t *testing.T, dir string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join(dir, "alcove.db"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

func TestNoInterruptionLeavesAStoreThatWasNotVerified(t *testing.T) {
	dir, verified, images := filepath.Join(t.TempDir(), "data"), false, map[bolt.Step]string{}
	verify := func(ctx context.Context, dir string) error {
		verified = true
		return verifyStore(ctx, dir)
	}
	err := loadOf(func(step bolt.Step) error {
		if hasStore(t, dir) && !verified {
			t.Errorf("when %s, there is a store that was not verified", step)
		}
		images[step] = filepath.Join(t.TempDir(), "data")
		return os.CopyFS(images[step], os.DirFS(dir))
	}, verify)(t.Context(), dir)
	if err != nil || !hasStore(t, dir) || len(images) != 4 {
		t.Fatalf("%d steps, a store: %t (%v)", len(images), hasStore(t, dir), err)
	}
	for step, left := range images {
		if hasStore(t, left) != (step == bolt.LoadAppeared) {
			t.Errorf("a crash when %s leaves a store: %t", step, hasStore(t, left))
		}
		if !hasStore(t, left) {
			if err := loadOf(nil, verifyStore)(t.Context(), left); err != nil {
				t.Errorf("after a crash when %s: %v", step, err)
			}
		}
		e, err := bolt.Open(t.Context(), left, bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(left, "loading")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after a crash when %s, opening leaves the folder of the load (%v)", step, err)
		}
		found, err := e.GetAt(t.Context(), store.Lineage{{Branch: 1, At: store.Latest}}, []store.Key{stageKey("k")})
		if err := errors.Join(err, e.Check(t.Context()), e.Close()); err != nil || string(found[0].Value) != "v" {
			t.Errorf("after a crash when %s: %q (%v)", step, found[0].Value, err)
		}
	}
}

func TestALoadThatFailsAtAnyStepLeavesNothing(t *testing.T) {
	for _, at := range []bolt.Step{bolt.LoadWhole, bolt.LoadVerified, bolt.LoadMoved} {
		dir := t.TempDir()
		steps := func(step bolt.Step) error {
			if step == at {
				return errInterrupted
			}
			return nil
		}
		if err := loadOf(steps, verifyStore)(t.Context(), dir); !errors.Is(err, errInterrupted) || hasStore(t, dir) {
			t.Errorf("when %s: %v", at, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "loading")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("when %s, its folder is left", at)
		}
	}
	wrong := errors.New("it is wrong")
	dir := t.TempDir()
	if err := loadOf(nil, func(context.Context, string) error { return wrong })(t.Context(), dir); !errors.Is(err, wrong) || hasStore(t, dir) {
		t.Errorf("what does not verify: %v", err)
	}
}

func TestALoadDoesNotReplaceAStore(t *testing.T) {
	s := newStage(t)
	if err := loadOf(nil, nil)(t.Context(), s.dir); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("load: %v, want %v", err, store.ErrNotEmpty)
	}
}
