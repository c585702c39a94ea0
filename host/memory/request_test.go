package memory

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// lingering is an engine whose commits of requests have taken effect for a while before they return.
type lingering struct {
	store.Engine
	committed chan struct{} // receives after each
	proceed   chan struct{}
}

func (e *lingering) Commit(ctx context.Context, b store.Batch) (store.Committed, error) {
	done, err := e.Engine.Commit(ctx, b)
	if b.Request.ID != "" && !done.Replayed {
		e.committed <- struct{}{}
		<-e.proceed
	}
	return done, err
}

// openLingering opens a space with the branches draft, which has a change, and gone, which is deleted.
func openLingering(t *testing.T, e *lingering) *Access {
	t.Helper()
	s := testSpaceOn(t, func(engine store.Engine) store.Engine {
		e.Engine = engine
		return e
	})
	a := s.owner("")
	for _, name := range []string{"draft", "gone"} {
		if _, err := a.Fork(t.Context(), Default, name, AsOf{}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	putMany(t, s, "draft", 1, "theirs")
	if err := a.Delete(t.Context(), Deletion{Branch: "gone"}, Write{}); err != nil {
		t.Fatal(err)
	}
	return a
}

// A client that lost its connection repeats a request whose first attempt is still being committed.
func TestARepetitionWaitsForTheAttemptBeforeIt(t *testing.T) {
	w := Write{RequestID: "r1"}
	for name, do := range map[string]func(context.Context, *Access) error{
		"store": func(ctx context.Context, a *Access) error {
			_, err := a.Store(ctx, Location{}, []Item{{Key: "k", Value: json.RawMessage(`"v"`), IfVersion: new(uint64)}}, w)
			return err
		},
		"fork": func(ctx context.Context, a *Access) error {
			_, err := a.Fork(ctx, Default, "idea", AsOf{}, w)
			return err
		},
		"create": func(ctx context.Context, a *Access) error {
			_, err := a.Create(ctx, "empty", w)
			return err
		},
		"delete": func(ctx context.Context, a *Access) error {
			return a.Delete(ctx, Deletion{Branch: "draft", Force: true}, w)
		},
		"restore": func(ctx context.Context, a *Access) error { _, err := a.Restore(ctx, "gone", "", w); return err },
		"merge": func(ctx context.Context, a *Access) error {
			_, err := a.Merge(ctx, Merge{Source: "draft", Target: Default}, w)
			return err
		},
		"stage": func(ctx context.Context, a *Access) error {
			s, err := a.Stage(ctx, "")
			if err != nil {
				return err
			}
			if _, err := s.Put(ctx, "", []Item{{Key: "k", Value: json.RawMessage(`"v"`)}}); err != nil {
				return err
			}
			_, err = s.Commit(ctx, Commit{Write: w, Operation: "tool"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := &lingering{committed: make(chan struct{}, 1), proceed: make(chan struct{})}
			a := openLingering(t, e)
			first, second := make(chan error, 1), make(chan error, 1)
			go func() { first <- do(t.Context(), a) }()
			<-e.committed
			brief, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			if err := do(brief, a); err == nil {
				t.Error("a repetition was acknowledged before the first attempt ended, want an error of its context")
			}
			go func() { second <- do(t.Context(), a) }()
			close(e.proceed)
			for _, attempt := range []chan error{first, second} {
				if err := <-attempt; err != nil {
					t.Errorf("an attempt failed: %v, want both to succeed", err)
				}
			}
		})
	}
}
