package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"
)

// mover is an operator whose commits have calls.
func mover(call string) Caller {
	c := undoer()
	c.Call = call
	return c
}

func move(t *testing.T, s *Space, call string, m Move, dry bool) Moved {
	t.Helper()
	done, err := s.As(mover(call)).Move(t.Context(), m, Write{DryRun: dry})
	if err != nil {
		t.Fatalf("Move(%+v): %v", m, err)
	}
	return done
}

func TestAMoveTakesMemoriesAsTheyAreOnEveryBranch(t *testing.T) {
	s := testSpace(t)
	a := s.As(Caller{Agent: "ann", Rights: FullRights()})
	born := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	importance := .7
	item := Item{Key: "k", Value: json.RawMessage(`"v"`), Tags: []string{"t"}, Type: "decision", Importance: &importance, Created: born,
		Metadata: map[string]json.RawMessage{"m": json.RawMessage(`1`)}, Links: []string{"project/a#other", "project/ab#other", "k2"}}
	if _, err := a.Store(t.Context(), Location{Namespace: "project/a"}, []Item{item, {Key: "old", Value: json.RawMessage(`1`), State: Archived}}, Write{}); err != nil {
		t.Fatal(err)
	}
	writes(t, s, "", "", "project/a", "gone", `1`)
	writes(t, s, "", "", "project/a", "gone", "")
	writes(t, s, "", "", "project/ab", "k", `"of another project"`)
	if _, err := a.Append(t.Context(), Location{Namespace: "project/a"}, "deployed", json.RawMessage(`1`), Write{}); err != nil {
		t.Fatal(err)
	}
	forkAs(t, s, "default", "idea") // which inherits the event
	writes(t, s, "", "idea", "project/a", "new", `"on the branch"`)

	would := move(t, s, "m", Move{From: "project/a", To: "project/b"}, true)
	if got, want := fmt.Sprintf("%d %d %s", would.Memories, would.Commits, holds(t, s, "", "project/a", "k")), `5 0 "v"`; got != want {
		t.Errorf("the preview: got %s, want %s", got, want)
	}
	done := move(t, s, "m", Move{From: "project/a", To: "project/b"}, false)
	if got, want := fmt.Sprint(done.Memories, done.Commits, done.Left), "5 2 map[events:1]"; got != want {
		t.Errorf("moved: got %s, want %s", got, want)
	}
	for _, branch := range []string{"default", "idea"} {
		m, err := a.Recall(t.Context(), Location{Branch: branch, Namespace: "project/b"}, "k", AsOf{})
		if err != nil || m == nil {
			t.Fatalf("on %s: got %v and %v, want the memory", branch, m, err)
		}
		got := fmt.Sprintf("%s %v %s %v %t %s %s %v", m.Value, m.Tags, m.Type, *m.Importance, m.Created.Equal(born), m.Agent, m.Metadata["m"], m.Links)
		if want := `"v" [t] decision 0.7 true ann 1 [project/b#other project/ab#other k2]`; got != want {
			t.Errorf("on %s: got %s, want %s", branch, got, want)
		}
		if got := holds(t, s, branch, "project/a", "k"); got != "" {
			t.Errorf("on %s: got %s under the former name, want nothing", branch, got)
		}
	}
	if got, want := holds(t, s, "idea", "project/b", "new"), `"on the branch"`; got != want {
		t.Errorf("what the branch alone has: got %s, want %s", got, want)
	}
	if got, want := holds(t, s, "", "project/ab", "k"), `"of another project"`; got != want {
		t.Errorf("a namespace that begins alike: got %s, want %s", got, want)
	}
	found, err := a.Search(t.Context(), Search{Order: ByKey, Namespaces: []string{"project/b"}, States: []State{Archived}})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("archived memories: got %d and %v, want 1", len(found.Hits), err)
	}
	history, _, err := a.History(t.Context(), Location{Namespace: "project/a"}, "k", AsOf{}, 10)
	if err != nil || len(history) != 2 {
		t.Errorf("the history under the former name: got %d versions and %v, want the memory and its end", len(history), err)
	}

	for n := done.Commits; n > 0; n-- {
		undo(t, s, Undo{Call: fmt.Sprintf("m.%d", n)}, false)
	}
	for branch, key := range map[string]string{"default": "k", "idea": "new"} {
		if got := holds(t, s, branch, "project/a", key); got == "" {
			t.Errorf("on %s, undone: got nothing under %s, want it back", branch, key)
		}
		if got := holds(t, s, branch, "project/b", key); got != "" {
			t.Errorf("on %s, undone: got %s, want nothing under %s", branch, got, key)
		}
	}
}

func TestKeysThatClashAreDecidedByTheStrategy(t *testing.T) {
	for strategy, want := range map[Strategy][2]string{Source: {`"a1"`, `"a2"`}, Target: {`"b1"`, `"b2"`}, Newest: {`"b1"`, `"a2"`}} {
		s := testSpace(t)
		writes(t, s, "", "", "project/b", "two", `"b2"`)
		writes(t, s, "", "", "project/a", "one", `"a1"`)
		writes(t, s, "", "", "project/a", "two", `"a2"`)
		writes(t, s, "", "", "project/b", "one", `"b1"`)
		writes(t, s, "", "", "project/a", "same", `"s"`)
		writes(t, s, "", "", "project/b", "same", `"s"`)

		done, err := s.As(mover("m")).Move(t.Context(), Move{From: "project/a", To: "project/b"}, Write{})
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != Conflict || done.Clashes != 2 || len(done.Clashing) != 2 || holds(t, s, "", "project/a", "same") == "" {
			t.Errorf("strict: got %+v and %v, want a conflict, and nothing moved", done, err)
		}
		done = move(t, s, "m", Move{From: "project/a", To: "project/b", Strategy: strategy}, false)
		if done.Clashes != 2 || done.Same != 1 || done.Memories != 0 {
			t.Errorf("%s: got %+v, want two clashes and one that is the same", strategy, done)
		}
		for i, key := range []string{"one", "two"} {
			if got := holds(t, s, "", "project/b", key); got != want[i] {
				t.Errorf("%s of %s: got %s, want %s", strategy, key, got, want[i])
			}
			if got := holds(t, s, "", "project/a", key); got != "" {
				t.Errorf("%s of %s: got %s under the former name, want nothing", strategy, key, got)
			}
		}
		undo(t, s, Undo{Call: "m.1"}, false)
		for id, want := range map[[2]string]string{{"project/a", "one"}: `"a1"`, {"project/b", "one"}: `"b1"`,
			{"project/a", "two"}: `"a2"`, {"project/b", "two"}: `"b2"`, {"project/a", "same"}: `"s"`, {"project/b", "same"}: `"s"`} {
			if got := holds(t, s, "", id[0], id[1]); got != want {
				t.Errorf("%s, undone, %v: got %s, want %s", strategy, id, got, want)
			}
		}
	}
}

func TestAMoveThatIsInterruptedLosesNothingAndIsCompletedByTheNext(t *testing.T) {
	s := testSpace(t)
	a := s.As(Caller{Agent: "ann", Rights: FullRights()})
	const all = 3*mostMoved + 10
	for from := 0; from < all; from += 1000 {
		var items []Item
		for i := from; i < min(from+1000, all); i++ {
			items = append(items, Item{Key: fmt.Sprintf("k%05d", i), Value: json.RawMessage(fmt.Sprint(i))})
		}
		if _, err := a.Store(t.Context(), Location{Namespace: "project/a"}, items, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	commits := s.Watch(ctx)
	go func() {
		for range commits { // the first that it tells of may be an older one
			if n := len(keysIn(t, s, "project/b")); n > 0 {
				cancel()
				return
			}
		}
	}()
	_, err := s.As(mover("m")).Move(ctx, Move{From: "project/a", To: "project/b"}, Write{})
	cancel()
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	here, there := keysIn(t, s, "project/a"), keysIn(t, s, "project/b")
	for key := range here {
		if there[key] {
			t.Errorf("%s: got it in both, want it in one", key)
		}
	}
	if got := len(here) + len(there); got != all {
		t.Errorf("interrupted: got %d memories in both, want %d", got, all)
	}
	move(t, s, "m", Move{From: "project/a", To: "project/b"}, false)
	if got, left := len(keysIn(t, s, "project/b")), len(keysIn(t, s, "project/a")); got != all || left != 0 {
		t.Errorf("completed: got %d moved and %d left, want %d and none", got, left, all)
	}
}

// keysIn are the keys of a namespace.
func keysIn(t *testing.T, s *Space, namespace string) map[string]bool {
	keys := map[string]bool{}
	for after := ""; ; {
		page, next, err := s.As(undoer()).List(context.Background(), Location{Namespace: namespace}, "", after, AsOf{}, 1000)
		if err != nil {
			t.Error(err)
			return keys
		}
		for _, m := range page {
			keys[m.Key] = true
		}
		if after = next; next == "" {
			return keys
		}
	}
}

func TestAMoveNeedsTheRightsToBothNamespaces(t *testing.T) {
	s := testSpace(t)
	writes(t, s, "", "", "project/a", "k", `1`)
	for _, rights := range []Rights{RightsTo([]string{"project/a"}, []string{"project/a"}),
		RightsTo([]string{"project/b"}, []string{"project/b"}), RightsTo([]string{"*"}, nil)} {
		for _, dry := range []bool{true, false} {
			done, err := s.As(Caller{Agent: "eve", Call: "m", Rights: rights}).Move(t.Context(), Move{From: "project/a", To: "project/b"}, Write{DryRun: dry})
			var refused *Error
			if !errors.As(err, &refused) || refused.Code != Denied || done.Memories != 0 {
				t.Errorf("got %+v and %v, want it denied", done, err)
			}
		}
	}
	for _, m := range []Move{{From: "project/a", To: "project/a"}, {From: "project/a", To: "*"}, {From: "a b", To: "project/b"},
		{From: "project/a", To: "project/b", Strategy: "fields"}} {
		if done, err := s.As(mover("m")).Move(t.Context(), m, Write{}); err == nil {
			t.Errorf("%+v: got %+v, want an error", m, done)
		}
	}
}
