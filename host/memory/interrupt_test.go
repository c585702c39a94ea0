package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

var errInterrupted = errors.New("interrupted by the test")

// interrupted is a space whose engine is interrupted at a step.
type interrupted struct {
	*Space
	dir    string
	engine *bolt.Engine
}

func openInterrupted(t *testing.T, dir string, steps func(bolt.Step) error) *interrupted {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{MapSize: 1 << 20, Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Engine: engine, Index: search.New(search.Options{}), CounterDelay: time.Hour})
	if err == nil {
		err = s.WaitIdle(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return &interrupted{s, dir, engine}
}

func (s *interrupted) close(t *testing.T) {
	t.Helper()
	if err := errors.Join(s.Close(context.Background()), s.engine.Close()); err != nil {
		t.Fatal(err)
	}
}

// look is what can be seen of the branches: memories, events, counters, and what a merge would still bring.
func (s *interrupted) look(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	branches, err := s.Branches(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range branches {
		place := Location{Branch: b.Name}
		list, errL := s.List(t.Context(), place, "", "", AsOf{}, 0)
		logged, errE := s.Events(t.Context(), place, AsOf{}, 1, 100)
		counted, errC := s.Counters(t.Context(), place, "read")
		found, errS := s.Search(t.Context(), Search{Branch: b.Name, Text: "word", K: 50})
		if err := errors.Join(errL, errE, errC, errS); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s: %d reads, %d events, %d found:", b.Name, counted.Accesses, len(logged), found.Total)
		for _, m := range list {
			fmt.Fprintf(&out, " %s=%s", m.Key, m.Value)
		}
		fmt.Fprintln(&out)
	}
	if len(branches) > 1 {
		result, err := s.Merge(t.Context(), Merge{Source: "side"}, Write{DryRun: true})
		fmt.Fprintln(&out, "still to merge:", len(result.Applied), result.Unresolved, err)
	}
	return out.String()
}

// fixture is a space with a branch that differs from the first one.
func mergeFixture(t *testing.T) string {
	s := openInterrupted(t, t.TempDir(), nil)
	for i := range 20 {
		put(t, s.Space, "", fmt.Sprint("k", i), "word")
	}
	put(t, s.Space, "", "read", "word")
	if _, err := s.Fork(t.Context(), "", "side", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		put(t, s.Space, "side", fmt.Sprint("k", i), "other word")
	}
	if _, err := s.Forget(t.Context(), Location{Branch: "side"}, []string{"k15"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if m, err := s.Recall(t.Context(), Location{Branch: "side"}, "read", AsOf{}); m == nil || err != nil {
		t.Fatal("read is not there", err)
	}
	s.close(t)
	return s.dir
}

func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// spaceWorks are operations that take more than one commit, or that write in several places at once.
func spaceWorks() map[string]func(ctx context.Context, s *interrupted) error {
	return map[string]func(context.Context, *interrupted) error{
		"merge": func(ctx context.Context, s *interrupted) error {
			_, err := s.Merge(ctx, Merge{Source: "side"}, Write{RequestID: "m"})
			return err
		},
		"delete and reclaim": func(ctx context.Context, s *interrupted) error {
			if err := s.Delete(ctx, "side", Write{RequestID: "d"}); err != nil {
				return err
			}
			return s.WaitIdle(ctx)
		},
		"fork": func(ctx context.Context, s *interrupted) error {
			_, err := s.Fork(ctx, "", "new", AsOf{}, Write{RequestID: "f"})
			return err
		},
		"store many": func(ctx context.Context, s *interrupted) error {
			items := make([]Item, 30)
			for i := range items {
				items[i] = Item{Key: fmt.Sprint("many", i), Value: json.RawMessage(`"word"`)}
			}
			_, err := s.Store(ctx, Location{}, items, Write{RequestID: "s"})
			return err
		},
	}
}

func TestAnInterruptedMergeDeleteForkOrStoreIsDoneOrNotAtAll(t *testing.T) {
	dir := mergeFixture(t)
	for name, do := range spaceWorks() {
		t.Run(name, func(t *testing.T) {
			before, after, steps := undisturbed(t, copied(t, dir), do)
			for i := range steps {
				check := func(how string, s *interrupted) {
					t.Helper()
					if got := s.look(t); got != before && got != after {
						t.Errorf("step %d, %s: it looks neither as before nor as after:\n%s", i+1, how, got)
					}
					if err := errors.Join(s.engine.Check(t.Context()), do(t.Context(), s), s.engine.Check(t.Context())); err != nil {
						t.Errorf("step %d, %s: done again: %v", i+1, how, err)
					}
					if got := s.look(t); got != after {
						t.Errorf("step %d, %s: done again, it looks like\n%snot like\n%s", i+1, how, got, after)
					}
					s.close(t)
				}
				image, s := interruptSpace(t, copied(t, dir), i, do)
				check("a failure", s)
				check("a crash", openInterrupted(t, image, nil))
			}
		})
	}
}

// undisturbed does the work, and tells how many steps it has.
func undisturbed(t *testing.T, dir string, do func(context.Context, *interrupted) error) (before, after string, steps int) {
	t.Helper()
	s := openInterrupted(t, dir, func(bolt.Step) error { steps++; return nil })
	before = s.look(t)
	if err := s.counters.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	steps = 0
	if err := do(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	count := steps
	after = s.look(t)
	if count == 0 || before == after {
		t.Fatalf("the work has %d steps and changes %t", count, before != after)
	}
	s.close(t)
	return before, after, count
}

// interruptSpace makes the work fail at a step, and gives what a crash there would have left.
func interruptSpace(t *testing.T, dir string, at int, do func(context.Context, *interrupted) error) (image string, s *interrupted) {
	t.Helper()
	n := -1 << 20
	s = openInterrupted(t, dir, func(bolt.Step) error {
		if n++; n != at+1 {
			return nil
		}
		image = copied(t, dir)
		return errInterrupted
	})
	n = 0
	if err := do(t.Context(), s); err != nil && !strings.Contains(err.Error(), errInterrupted.Error()) {
		t.Fatal(err)
	}
	if n = 1 << 20; image == "" {
		t.Fatalf("the work never came to step %d", at+1)
	}
	return image, s
}
