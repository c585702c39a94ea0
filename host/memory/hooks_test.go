package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// watched are hooks that note what they are asked about, and answer with a decision.
func watched(s *Space, asks []Change, decide func(Storing) (Decision, error)) *[]string {
	var seen []string
	s.SetHooks(hooks{asks: asks, storing: func(h Storing) (Decision, error) {
		for _, it := range h.Items {
			seen = append(seen, strings.TrimSpace(fmt.Sprintf("%s %s=%s %s", h.Change, it.Key, it.Value, it.State)))
		}
		return decide(h)
	}})
	return &seen
}

func allow(h Storing) (Decision, error) { return Decision{Items: h.Items}, nil }

func deny(h Storing) (Decision, error) {
	return Decision{}, &Error{Code: Denied, Message: "it says no to a " + string(h.Change)}
}

func propose(h Storing) (Decision, error) {
	return Decision{Items: h.Items, Proposal: "proposals/x/1"}, nil
}

// filled is a space with the memories a and b.
func filled(t *testing.T) *Space {
	s := testSpace(t)
	if _, err := s.As(ann).Store(t.Context(), Location{}, []Item{{Key: "a", Value: json.RawMessage(`1`)}, {Key: "b", Value: json.RawMessage(`2`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestHooksAreAskedAboutDeletionsAndStatesOnlyWhereTheyWantToBe(t *testing.T) {
	for name, c := range map[string]struct {
		asks []Change
		want []string
	}{
		"none":   {nil, nil},
		"delete": {[]Change{ChangeDelete}, []string{"delete b=2"}},
		"both":   {[]Change{ChangeDelete, ChangeState}, []string{"state a=1 archived", "delete b=2"}},
	} {
		s := filled(t)
		seen := watched(s, c.asks, allow)
		if keys, err := s.As(ann).SetState(t.Context(), Location{}, []string{"a", "absent"}, Archived, Write{}); err != nil || !slices.Equal(keys, []string{"a"}) {
			t.Errorf("%s: SetState = %q, %v, want a", name, keys, err)
		}
		if keys, err := s.As(ann).Forget(t.Context(), Location{}, []string{"b", "absent"}, Write{}); err != nil || !slices.Equal(keys, []string{"b"}) {
			t.Errorf("%s: Forget = %q, %v, want b", name, keys, err)
		}
		if !slices.Equal(*seen, c.want) {
			t.Errorf("%s: asked about %q", name, *seen)
		}
	}
}

func TestHooksRefuseADeletionAndAState(t *testing.T) {
	s := filled(t)
	watched(s, []Change{ChangeDelete, ChangeState}, deny)
	a := s.As(ann)
	if _, err := a.Forget(t.Context(), Location{}, []string{"a"}, Write{}); codeOf(err) != Denied || !strings.Contains(err.Error(), "no to a delete") {
		t.Errorf("Forget: %v, want it denied with no to a delete", err)
	}
	if _, err := a.SetState(t.Context(), Location{}, []string{"a"}, Archived, Write{}); codeOf(err) != Denied || !strings.Contains(err.Error(), "no to a state") {
		t.Errorf("SetState: %v, want it denied with no to a state", err)
	}
	if _, err := a.Forget(t.Context(), Location{}, []string{"a"}, Write{DryRun: true}); codeOf(err) != Denied {
		t.Errorf("a dry run says %v", err)
	}
	if m, err := a.Recall(t.Context(), Location{}, "a", AsOf{}); err != nil || m == nil || m.State != Active {
		t.Errorf("Recall(a) = %+v, %v, want it active", m, err)
	}
}

func TestAStageAsksHooksAboutItsDeletionsAndStates(t *testing.T) {
	s := filled(t)
	seen := watched(s, []Change{ChangeDelete, ChangeState}, allow)
	stage, err := s.As(ann).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	archived, text := Archived, "note"
	if _, err := stage.Patch(t.Context(), "", []Patch{{Key: "a", State: archived}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Delete(t.Context(), "", []string{"b"}); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Put(t.Context(), "", []Item{{Key: "c", Value: json.RawMessage(`3`), State: archived, Type: text}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(t.Context(), Commit{}); err != nil || !slices.Equal(*seen, []string{"state a=1 archived", "delete b=2", "store c=3 archived"}) {
		t.Errorf("asked about %q, %v", *seen, err)
	}
}

func TestWhatAHookProposesGoesToABranchOfItsOwn(t *testing.T) {
	for name, do := range map[string]func(a *Access, w Write) error{
		"store": func(a *Access, w Write) error {
			_, err := a.Store(t.Context(), Location{}, []Item{{Key: "a", Value: json.RawMessage(`9`)}}, w)
			return err
		},
		"forget": func(a *Access, w Write) error {
			_, err := a.Forget(t.Context(), Location{}, []string{"a"}, w)
			return err
		},
		"state": func(a *Access, w Write) error {
			_, err := a.SetState(t.Context(), Location{}, []string{"a"}, Archived, w)
			return err
		},
		"stage": func(a *Access, w Write) error {
			stage, err := a.Stage(t.Context(), "")
			if err != nil {
				return err
			}
			if _, err := stage.Delete(t.Context(), "", []string{"a"}); err != nil {
				return err
			}
			done, err := stage.Commit(t.Context(), Commit{Write: w})
			if err == nil && !w.DryRun && done.Branch != "proposals/x/1" {
				return fmt.Errorf("it is on branch %s", done.Branch)
			}
			return err
		},
	} {
		s := filled(t)
		watched(s, []Change{ChangeDelete, ChangeState}, propose)
		var notes []string
		write := Write{RequestID: "r", Note: func(note string) { notes = append(notes, note) }}
		dry := write
		dry.DryRun = true
		if err := do(s.As(ann), dry); err != nil {
			t.Errorf("%s in a dry run: %v", name, err)
		}
		if list, err := s.As(ann).Branches(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%s: a dry run leaves %+v, %v", name, list, err)
		}
		if err := do(s.As(ann), write); err != nil {
			t.Errorf("%s: the write: %v", name, err)
			continue
		}
		if name != "stage" && (len(notes) != 2 || !strings.Contains(notes[0], "would be proposed") || !strings.Contains(notes[1], "proposed on branch proposals/x/1")) {
			t.Errorf("%s notes %q", name, notes)
		}
		if m, err := s.As(ann).Recall(t.Context(), Location{}, "a", AsOf{}); err != nil || m == nil || string(m.Value) != "1" || m.State != Active {
			t.Errorf("%s changed %+v, %v", name, m, err)
		}
		if err := do(s.As(ann), write); err != nil { // the same request
			t.Errorf("%s again: %v", name, err)
		}
		if name != "stage" && (len(notes) != 3 || !strings.Contains(notes[2], "carried out before, and nothing was changed here")) {
			t.Errorf("%s again notes %q", name, notes)
		}
		if list, err := s.As(ann).Branches(t.Context()); err != nil || len(list) != 2 {
			t.Errorf("%s: branches %+v, %v, want 2", name, list, err)
		}
		if done, err := s.As(ann).Merge(t.Context(), Merge{Source: "proposals/x/1"}, Write{}); err != nil || len(done.Applied) != 1 {
			t.Errorf("%s merges %+v, %v", name, done.Applied, err)
		}
	}
}

// said lists written entries as texts.
func said(list []WrittenEntry) (texts []string) {
	for _, e := range list {
		text := fmt.Sprintf("%s/%s/%s=%s by %q in %q, generation %d", e.Collection, e.Namespace, e.Key, e.Value, e.Agent, e.By.Family, e.By.Generation)
		if e.Deleted {
			text += ", deleted"
		}
		texts = append(texts, text)
	}
	return texts
}

func TestWrittenTellsWhoWroteWhatAndInWhichGeneration(t *testing.T) {
	s := testSpace(t)
	answering := Caller{Family: "x", Generation: 3, Rights: FullRights()}
	if _, err := s.As(ann).Store(t.Context(), Location{}, []Item{{Key: "a", Value: json.RawMessage(`1`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	stage, err := s.As(answering).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	shared := Collection{Name: "x/all", PerSpace: true}
	for _, c := range []Collection{{Name: "x/notes"}, {Name: "x/others"}, shared} {
		if err := stage.PutRecord(t.Context(), c, "", "r", json.RawMessage(`2`), nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stage.Commit(t.Context(), Commit{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(ann).Forget(t.Context(), Location{}, []string{"a"}, Write{}); err != nil {
		t.Fatal(err)
	}
	q := WrittenQuery{Memories: true, Collections: []string{"x/notes"}}
	page, err := s.As(ann).Written(t.Context(), q)
	want := []string{`/default/a=1 by "ann" in "", generation 0`, `x/notes/default/r=2 by "family:x" in "x", generation 3`, `/default/a= by "" in "", generation 0, deleted`}
	if err != nil || !slices.Equal(said(page.Entries), want) || page.More {
		t.Errorf("Written = %q, %v, want %q", said(page.Entries), err, want)
	}
	if again, err := s.As(ann).Written(t.Context(), WrittenQuery{Memories: true, After: page.Upto}); err != nil || len(again.Entries) != 0 || again.Upto != page.Upto {
		t.Errorf("Written after %v = %+v, %v, want nothing more", page.Upto, again, err)
	}
	page, err = s.As(ann).Written(t.Context(), WrittenQuery{PerSpace: true, Collections: []string{"x/all"}})
	if err != nil || !slices.Equal(said(page.Entries), []string{`x/all/default/r=2 by "family:x" in "x", generation 3`}) {
		t.Errorf("of the space: %q, %v", said(page.Entries), err)
	}
	page, err = s.As(Caller{Rights: RightsTo([]string{"elsewhere"}, nil)}).Written(t.Context(), q)
	if err != nil || len(page.Entries) != 0 {
		t.Errorf("without the right to the namespace: %q, %v", said(page.Entries), err)
	}
}

func TestWrittenTellsOfMerges(t *testing.T) {
	s := filled(t)
	if _, err := s.As(ann).Fork(t.Context(), "", "draft", AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
	head, err := s.engine.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(ann).Store(t.Context(), Location{Branch: "draft"}, []Item{{Key: "a", Value: json.RawMessage(`9`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.As(ann).Forget(t.Context(), Location{Branch: "draft"}, []string{"b"}, Write{}); err != nil {
		t.Fatal(err)
	}
	draft := s.catalogue.Named("draft")
	done, err := s.As(Caller{Agent: "bob", Family: "x", Generation: 1, Rights: FullRights()}).Merge(t.Context(), Merge{Source: "draft"}, Write{})
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.As(ann).Written(t.Context(), WrittenQuery{Merges: true, After: head.Version})
	if err != nil || len(page.Merges) != 1 || len(page.Entries) != 0 {
		t.Fatalf("Written of merges = %+v, %v, want one merge and no entries", page, err)
	}
	m := page.Merges[0]
	if m.Source != "draft" || m.Version != done.Version || m.Count != 2 || m.By.Agent != "bob" || m.By.Generation != 1 || fmt.Sprint(m.Keys) != "[{default a false} {default b true}]" {
		t.Errorf("the merge is %+v, want that of draft by bob with both keys", m)
	}
	if err := s.As(ann).Delete(t.Context(), Deletion{Branch: "draft", Force: true, Final: true}, Write{}); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"deleted", "erased"} {
		page, err = s.As(ann).Written(t.Context(), WrittenQuery{Merges: true, After: head.Version})
		if err != nil || len(page.Merges) != 1 || page.Merges[0].Source != "draft" {
			t.Errorf("of a branch that is %s: %+v, %v", when, page, err)
		}
		await.That(t, "the branch is erased", func() bool { return s.catalogue.ByID(draft.ID) == nil })
	}
	page, err = s.As(Caller{Rights: RightsTo([]string{"elsewhere"}, nil)}).Written(t.Context(), WrittenQuery{Merges: true, After: head.Version})
	if err != nil || len(page.Merges) != 1 || page.Merges[0].Count != 0 || page.Merges[0].Keys != nil {
		t.Errorf("without the right to the namespace: %+v, %v", page, err)
	}
}

// recordHooks are asked about records alone.
type recordHooks struct {
	hooks
	groups []int // entries of each question
}

func (h *recordHooks) Asks(_ Change, collection string) bool { return collection != "" }

func (h *recordHooks) Storing(ctx context.Context, s Storing) (Decision, error) {
	h.groups = append(h.groups, len(s.Items))
	return h.hooks.Storing(ctx, s)
}

func TestWhatAHookMakesOfARecordIsIndexedWeighedAndExpiresAsTheRecordDid(t *testing.T) {
	s := testSpace(t)
	c := tasksCollection()
	c.Expires = time.Hour
	s.DeclareIndexes(c)
	value := json.RawMessage(`{"owner":"hidden"}`)
	s.SetHooks(&recordHooks{hooks: hooks{storing: func(h Storing) (Decision, error) {
		if h.Collection != c.Name || h.Change != ChangeStore || !h.Staged || h.Caller.Agent != "ann" {
			t.Errorf("asked about %+v", h)
		}
		return Decision{Items: []Item{{Key: h.Items[0].Key, Value: value}}}, nil
	}}})
	keep := func(key string, c Collection) error {
		st, err := s.As(ann).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Keep(t.Context(), c, "", RecordItem{Key: key, Value: json.RawMessage(`{"owner":"secret"}`)}); err != nil {
			t.Fatal(err)
		}
		_, err = st.Commit(t.Context(), Commit{})
		return err
	}
	if err := keep("a", c); err != nil {
		t.Fatal(err)
	}
	st := stage(t, s, "")
	if got := queried(t, st, c, byOwner("hidden")) + "," + queried(t, st, c, byOwner("secret")); got != "a," {
		t.Errorf("the index finds %q", got)
	}
	found, err := st.Records(t.Context(), c, "default", []string{"a"})
	if err != nil || string(found[0].Value) != string(value) || found[0].ExpiresAt.IsZero() {
		t.Errorf("the record is %+v, %v, want the hook's value %s, with an expiry", found[0], err, value)
	}
	value = json.RawMessage(`{"owner":"` + strings.Repeat("long", 1000) + `"}`)
	if err := keep("b", c); codeOf(err) != InvalidArgument {
		t.Errorf("a value that the index cannot have: %v", err)
	}
	value = json.RawMessage(`{"owner":"x","text":"` + strings.Repeat("long", 1000) + `"}`)
	c.Quota = Quota{Records: 10, Bytes: 1000}
	if err := keep("c", c); codeOf(err) != Exhausted {
		t.Errorf("a value beyond the quota: %v", err)
	}
}

func TestHooksAreAskedAboutManyRecordsInParts(t *testing.T) {
	s := testSpace(t)
	asked := &recordHooks{}
	s.SetHooks(asked)
	st := stage(t, s, "")
	for i := range askedItems + 1 {
		keepIn(t, st, Collection{Name: "fam/small"}, fmt.Sprint(i), `1`)
	}
	for i := range 3 {
		keepIn(t, st, Collection{Name: "fam/large"}, fmt.Sprint(i), `"`+strings.Repeat("x", askedBytes*2/5)+`"`)
	}
	stageCommit(t, st, Commit{})
	if !slices.Equal(asked.groups, []int{askedItems, 1, 2, 1}) {
		t.Errorf("asked about %v at a time", asked.groups)
	}
}
