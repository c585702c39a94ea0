package backup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// churn makes, trims and erases branches until ctx ends, and tells how many it erased.
func churn(ctx context.Context, e *bolt.Engine) (erased int, err error) {
	for id := store.BranchID(2); ctx.Err() == nil; id++ {
		for _, value := range []string{"1", "2"} {
			write := store.Write{Branch: id, Key: store.Key{Namespace: "n", Collection: "c", Name: "k"}, Value: []byte(value)}
			at, err := e.Commit(context.WithoutCancel(ctx), store.Batch{Writes: []store.Write{write}})
			if err != nil {
				return erased, err
			}
			for _, drop := range []func() error{
				func() error { return e.Trim(ctx, 1, at.Version, nil) },
				func() error { return e.Reclaim(ctx, id-1) },
			} {
				if err := drop(); err != nil && !errors.Is(err, store.ErrHeld) && ctx.Err() == nil {
					return erased, err
				} else if err == nil {
					erased++
				}
			}
		}
	}
	return erased, nil
}

func TestABackupOfABusyDirectoryComesToItsEnd(t *testing.T) {
	e, dir := open(t, t.TempDir()), t.TempDir()
	for i := range 20 {
		put(t, e, fmt.Sprint("k", i), strings.Repeat("x", 200_000))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	erased := 0
	go func() {
		var err error
		erased, err = churn(ctx, e)
		done <- err
	}()
	for i := range 6 {
		do := backup.Increment
		if i%3 == 0 {
			do = backup.Full
		}
		if _, err := do(t.Context(), dir, source(e), time.Now()); err != nil {
			t.Errorf("backup %d: %v", i+1, err)
		}
		put(t, e, fmt.Sprint("more", i), "x")
	}
	cancel()
	if err := <-done; err != nil || erased == 0 {
		t.Errorf("%d times something was dropped (%v)", erased, err)
	}
	if got, err := restored(t, dir); err != nil || !strings.Contains(got, "more4=x") {
		t.Errorf("restored %.100q (%v)", got, err)
	}
}
