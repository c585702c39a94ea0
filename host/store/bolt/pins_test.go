package bolt_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// drops are both kinds of work that drop old versions.
func drops(s *stage, e *bolt.Engine) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"a trim":    func(ctx context.Context) error { return e.Trim(ctx, 1, s.floor, []uint64{s.pin}) },
		"a reclaim": func(ctx context.Context) error { return e.Reclaim(ctx, s.lineage[0].Branch) },
	}
}

func TestNothingIsDroppedWhileADumpHoldsItAndCommitsGoOn(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	before, text := pieces(t, e, 0)
	for name, drop := range drops(s, e) {
		first, err := e.HoldVersions(t.Context())
		s.ok(err)
		second, err := e.HoldVersions(t.Context())
		s.ok(err)
		var held *store.HeldError
		if err := drop(t.Context()); !errors.As(err, &held) || !errors.Is(err, store.ErrHeld) {
			t.Fatalf("%s is not held: %v", name, err)
		}
		s.commit(e, store.Batch{})
		first()
		first()
		select {
		case <-held.Released:
			t.Errorf("%s is told to try again, and one still holds", name)
		default:
		}
		if err := drop(t.Context()); !errors.Is(err, store.ErrHeld) {
			t.Errorf("%s is not held by the second: %v", name, err)
		}
		if _, now := pieces(t, e, 0); name == "a trim" && len(now) < len(text) {
			t.Errorf("%s dropped something of %d pieces", name, len(before))
		}
		second()
		await.Value(t, name+" is told to try again", held.Released)
		if err := drop(t.Context()); err != nil {
			t.Errorf("%s after all: %v", name, err)
		}
	}
}

func TestADumpThatTakesTooLongHoldsNothingAnyMore(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{Held: time.Millisecond})
	defer e.Close()
	err := e.Dump(t.Context(), 0, s.head(e), func(store.Piece) error { return nil })
	s.ok(err)
	release, err := e.HoldVersions(t.Context())
	s.ok(err)
	defer release()
	dropped := false
	err = e.Dump(t.Context(), 0, s.head(e), func(store.Piece) error {
		if dropped {
			return nil
		}
		for _, drop := range drops(s, e) {
			var held *store.HeldError
			for err := drop(t.Context()); err != nil; err = drop(t.Context()) {
				if !errors.As(err, &held) {
					return err
				}
				<-held.Released
			}
		}
		dropped = true
		return nil
	})
	if !errors.Is(err, store.ErrChanged) {
		t.Errorf("old versions were dropped, and the dump does not say so: %v", err)
	}
}

func TestADumpWaitsForADropThatRuns(t *testing.T) {
	s := newStage(t)
	begun, stop, armed := make(chan struct{}), make(chan struct{}), false
	e := s.open(s.dir, bolt.Options{Steps: func(step bolt.Step) error {
		if armed && step == bolt.BranchForgotten {
			close(begun)
			<-stop
		}
		return nil
	}})
	defer e.Close()
	armed = true
	reclaimed := make(chan error, 1)
	go func() { reclaimed <- e.Reclaim(context.WithoutCancel(t.Context()), s.lineage[0].Branch) }()
	<-begun
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := e.HoldVersions(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it does not wait: %v", err)
	}
	close(stop)
	release, err := e.HoldVersions(t.Context())
	s.ok(err)
	release()
	s.ok(<-reclaimed)
}

func TestADumpAtAVersionBelowAFloorIsRefused(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Trim(t.Context(), 1, s.floor, []uint64{s.pin}))
	err := e.Dump(t.Context(), 0, s.floor-1, func(store.Piece) error { return nil })
	if !errors.Is(err, store.ErrChanged) {
		t.Errorf("a past that is gone is dumped: %v", err)
	}
}
