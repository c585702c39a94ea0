package memory

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

var tidyForAnn = Gatherer{Family: "tidy", Agent: "ann"}

// gathering are the proposals of one family for one caller, in a space.
type gathering struct {
	t *testing.T
	*Space
	by Gatherer
	n  int
}

func gather(t *testing.T, by Gatherer) *gathering {
	t.Helper()
	return &gathering{t: t, Space: filled(t), by: by}
}

// begin begins a call that may only propose.
func (g *gathering) begin() *Stage {
	g.t.Helper()
	st, err := g.As(Caller{Agent: g.by.Agent, Family: g.by.Family, Call: "c" + string(rune('1'+g.n)), Rights: FullRights()}).Stage(g.t.Context(), "")
	if err == nil {
		err = st.Continue(g.t.Context(), g.by)
	}
	if err != nil {
		g.t.Fatal(err)
	}
	return st
}

// end commits a call, and returns the branch that it proposed on.
func (g *gathering) end(st *Stage) (string, error) {
	g.t.Helper()
	g.n++
	name := st.Continues()
	if name == "" {
		name = Proposals + "tidy/" + string(rune('0'+g.n))
	}
	done, err := st.Commit(g.t.Context(), Commit{Proposal: name, Gathers: g.by})
	return done.Branch, err
}

// propose is a call that stores a value under a key.
func (g *gathering) propose(key, value string) string {
	g.t.Helper()
	st := g.begin()
	stagePut(g.t, st, key, value)
	branch, err := g.end(st)
	if err != nil {
		g.t.Fatal(err)
	}
	return branch
}

// reopen has the space read what is stored.
func (g *gathering) reopen() {
	g.t.Helper()
	again, err := Open(g.t.Context(), Options{Engine: g.engine, Index: search.New(search.Options{})})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() {
		if err := again.Close(context.Background()); err != nil {
			g.t.Error(err)
		}
	})
	g.Space = again
}

func (g *gathering) seen(branch string) uint64 {
	g.t.Helper()
	d, err := g.As(ann).Diff(g.t.Context(), DiffQuery{Source: branch, Target: Default})
	if err != nil {
		g.t.Fatal(err)
	}
	return d.Seen
}

func (g *gathering) merge(m Merge) error {
	_, err := g.As(ann).Merge(g.t.Context(), m, Write{})
	return err
}

// conflicts fails unless an error is a conflict that says something.
func (g *gathering) conflicts(what string, err error, says string) {
	g.t.Helper()
	if codeOf(err) != Conflict || !strings.Contains(err.Error(), says) {
		g.t.Errorf("%s: %v, want a conflict with %q", what, err, says)
	}
}

func TestProposalsOfOneFamilyGatherOnOneBranch(t *testing.T) {
	g := gather(t, tidyForAnn)
	first := g.propose("x", "1")
	put(t, g.Space, "", "later", "new")
	st := g.begin()
	if m, err := st.Get(t.Context(), "", []string{"x", "later"}); err != nil || m[0] == nil || m[1] == nil {
		t.Errorf("the next call reads %v, %v, want what is proposed and what was stored since", m, err)
	}
	stagePut(t, st, "later", "changed")
	second, err := g.end(st)
	if err != nil || second != first {
		t.Fatalf("the next call proposed on %q, %v, want %q", second, err, first)
	}
	if got := text(t, g.Space, "", "later", AsOf{}); got != "new" {
		t.Errorf("later is %q where nothing is merged, want new", got)
	}
	if err := g.merge(Merge{Source: first, Seen: g.seen(first)}); err != nil {
		t.Fatal(err)
	}
	if x, later := text(t, g.Space, "", "x", AsOf{}), text(t, g.Space, "", "later", AsOf{}); x != "1" || later != "changed" {
		t.Errorf("after the merge x is %q and later %q, want 1 and changed", x, later)
	}
	if third := g.propose("x", "2"); third == first {
		t.Errorf("after the merge a call proposed on %q again, want a new branch", third)
	}
}

func TestAMergeBringsWhatItsCallerHasSeen(t *testing.T) {
	g := gather(t, tidyForAnn)
	branch := g.propose("x", "1")
	shown := g.seen(branch)
	g.propose("y", "2")
	g.conflicts("without what was seen", g.merge(Merge{Source: branch}), "what 2 calls propose")
	g.conflicts("as it was seen before the second call", g.merge(Merge{Source: branch, Seen: shown}), "is not as it was")
	g.conflicts("with a version that is not there yet", g.merge(Merge{Source: branch, Seen: ^uint64(0)}), "is not as it was")
	if result, err := g.As(ann).Merge(t.Context(), Merge{Source: branch}, Write{DryRun: true}); err != nil || result.Seen != g.seen(branch) {
		t.Errorf("a preview says %d, %v, want %d", result.Seen, err, g.seen(branch))
	}
	if err := g.merge(Merge{Source: branch, Seen: g.seen(branch)}); err != nil {
		t.Error(err)
	}
}

// A call that began before its proposal was merged cannot add to it any more.
func TestACallNeitherAddsToWhatWasMergedNorToWhatWasDeleted(t *testing.T) {
	for what, decide := range map[string]func(g *gathering, branch string) error{
		"merged": func(g *gathering, branch string) error { return g.merge(Merge{Source: branch}) },
		"deleted": func(g *gathering, branch string) error {
			return g.As(ann).Delete(t.Context(), Deletion{Branch: branch, Force: true}, Write{})
		},
		"forked": func(g *gathering, branch string) error {
			_, err := g.As(ann).Fork(t.Context(), branch, "copy", AsOf{}, Write{})
			return err
		},
	} {
		g := gather(t, tidyForAnn)
		branch := g.propose("x", "1")
		st := g.begin()
		stagePut(t, st, "y", "2")
		if err := decide(g, branch); err != nil {
			t.Fatal(err)
		}
		_, err := g.end(st)
		g.conflicts(what, err, "merged, deleted or overtaken")
		if again := g.propose("y", "2"); again == branch {
			t.Errorf("%s: the repeated call proposed on %q, want a new branch", what, again)
		}
	}
}

func TestAMergeIsOvertakenByACallThatProposesMeanwhile(t *testing.T) {
	g := gather(t, tidyForAnn)
	branch := g.propose("x", "1")
	g.propose("y", "2")
	m := Merge{Source: branch, Target: Default, Strategy: Strict, Seen: g.seen(branch)}
	w := g.As(ann).sign(Write{})
	plan, err := g.planMerge(t.Context(), m, w, &resolutions{access: g.As(ann)})
	if err != nil {
		t.Fatal(err)
	}
	g.propose("z", "3")
	if _, err := plan.commit(t.Context(), store.Request{}); !errors.Is(err, store.ErrConflict) {
		t.Errorf("the commit of a plan from before: %v, want a conflict", err)
	}
	_, err = plan.try(t.Context(), w, store.Request{}, false)
	g.conflicts("the plan made again", err, "is not as it was")
}

func TestCallsAtOnceAddToOneProposal(t *testing.T) {
	g := gather(t, tidyForAnn)
	one, two := g.begin(), g.begin() // there is none yet
	stagePut(t, one, "x", "1")
	stagePut(t, two, "y", "2")
	first, err1 := g.end(one)
	second, err2 := g.end(two)
	if err1 != nil || err2 != nil || first != second {
		t.Fatalf("two first calls proposed on %q and %q (%v, %v), want one branch", first, second, err1, err2)
	}
	one, two = g.begin(), g.begin()
	stagePut(t, one, "v", "3")
	stagePut(t, two, "w", "4")
	put(t, g.Space, "", "between", "5")
	third, err1 := g.end(one)
	fourth, err2 := g.end(two)
	if err1 != nil || err2 != nil || third != first || fourth != first {
		t.Errorf("two later calls proposed on %q and %q (%v, %v), want %q", third, fourth, err1, err2, first)
	}
	one, two = g.begin(), g.begin()
	stagePut(t, one, "v", "6")
	stagePut(t, two, "v", "7")
	if _, err := g.end(one); err != nil {
		t.Error(err)
	}
	if _, err := g.end(two); codeOf(err) != Conflict {
		t.Errorf("two calls change the same memory: %v, want a conflict", err)
	}
}

func TestAProposalWhoseMemoriesWereChangedSinceIsLeftToItsClash(t *testing.T) {
	g := gather(t, tidyForAnn)
	first := g.propose("a", "proposed")
	put(t, g.Space, "", "a", "meanwhile")
	st := g.begin()
	if got, err := st.Get(t.Context(), "", []string{"a"}); err != nil || string(got[0].Value) != `"meanwhile"` {
		t.Errorf("the next call reads %v, %v, want what is in force", got, err)
	}
	stagePut(t, st, "b", "proposed")
	if second, err := g.end(st); err != nil || second == first {
		t.Errorf("it proposed on %q, %v, want a new branch", second, err)
	}
	if result, err := g.As(ann).Merge(t.Context(), Merge{Source: first}, Write{}); err != nil || result.Unresolved != 1 {
		t.Errorf("the first is merged with %d clashes (%v), want 1", result.Unresolved, err)
	}
}

func TestWhatAnotherCallerOrHookProposesStaysApart(t *testing.T) {
	g := gather(t, tidyForAnn)
	first := g.propose("x", "1")
	for _, by := range []Gatherer{{Family: "tidy", Agent: "bob"}, {Family: "tidy", Agent: "ann", Key: "k1"}, {Family: "sort", Agent: "ann"}} {
		other := &gathering{t: t, Space: g.Space, by: by, n: g.n}
		if st := other.begin(); st.Continues() != "" {
			t.Errorf("%+v goes on with %q, want its own branch", by, st.Continues())
		}
		if branch := other.propose("y", "2"); branch == first {
			t.Errorf("%+v proposed on %q, want its own branch", by, branch)
		}
		g.n = other.n
	}
	watched(g.Space, nil, propose)
	st := g.begin()
	stagePut(t, st, "z", "3")
	branch, err := g.end(st)
	if err != nil || branch != "proposals/x/1" {
		t.Fatalf("what a hook proposes is on %q, %v, want the hook's branch", branch, err)
	}
	g.SetHooks(nil)
	if err := g.merge(Merge{Source: branch}); err != nil || text(t, g.Space, "", "z", AsOf{}) != "3" {
		t.Errorf("the hook's proposal merged: %v", err)
	}
	if m, err := g.As(ann).Recall(t.Context(), Location{}, "x", AsOf{}); m != nil || err != nil {
		t.Errorf("it brought x, %v, %v, which gathers elsewhere", m, err)
	}
}

func TestAProposalGathersOnAfterARestart(t *testing.T) {
	g := gather(t, tidyForAnn)
	first := g.propose("x", "1")
	put(t, g.Space, "", "later", "new")
	g.propose("later", "2")
	shown := g.seen(first)
	g.reopen()
	if got := g.seen(first); got != shown {
		t.Errorf("after a restart the branch is at v%d, want v%d", got, shown)
	}
	if branch := g.propose("y", "3"); branch != first {
		t.Errorf("after a restart a call proposed on %q, want %q", branch, first)
	}
	if err := g.merge(Merge{Source: first, Seen: g.seen(first)}); err != nil || text(t, g.Space, "", "later", AsOf{}) != "2" {
		t.Errorf("merged: %v", err)
	}
	g.reopen()
	if branch := g.propose("y", "4"); branch == first {
		t.Errorf("after the merge and a restart a call proposed on %q again", branch)
	}
}

func TestAnUndoTakesOneCallOutOfAProposal(t *testing.T) {
	g := gather(t, tidyForAnn)
	branch := g.propose("a", "first") // call c1
	g.propose("x", "second")          // call c2
	shown := g.seen(branch)
	undo := func(call string) Undone {
		t.Helper()
		done, err := g.As(Caller{Operator: true, Rights: FullRights()}).Undo(t.Context(), Undo{Call: call}, Write{})
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	if done := undo("c1"); len(done.Reverted) != 1 || done.Reverted[0].Branch != branch {
		t.Errorf("reverted %+v, want a on %s", done.Reverted, branch)
	}
	g.conflicts("as it was seen before the undo", g.merge(Merge{Source: branch, Seen: shown}), "is not as it was")
	st := g.begin()
	if st.Continues() != branch {
		t.Errorf("the next call goes on with %q, want %q", st.Continues(), branch)
	}
	if got, err := st.Get(t.Context(), "", []string{"x"}); err != nil || got[0] == nil {
		t.Errorf("it reads %v, %v, want x of the other call", got, err)
	}
	if done := undo("c2"); !strings.Contains(strings.Join(done.Left, "\n"), "proposed nothing else and was deleted") {
		t.Errorf("left %q, want that the branch is deleted", done.Left)
	}
	if again := g.propose("x", "third"); again == branch {
		t.Errorf("after all is undone a call proposed on %q again", again)
	}
}

// What a call keeps for itself needs no proposal, unless it stands on one.
func TestRecordsAreKeptAtOnceUnlessTheyStandOnAProposal(t *testing.T) {
	g := gather(t, tidyForAnn)
	kept := Collection{Name: "tidy/notes"}
	keep := func(st *Stage, key, value string) error {
		return st.Keep(t.Context(), kept, "", RecordItem{Key: key, Value: json.RawMessage(value)})
	}
	st := g.begin()
	stagePut(t, st, "x", "1")
	if err := keep(st, "proposed", `1`); err != nil {
		t.Fatal(err)
	}
	branch, err := g.end(st)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"other": Default, "proposed": branch} {
		st := g.begin()
		if err := keep(st, key, `2`); err != nil {
			t.Fatal(err)
		}
		done, err := st.Commit(t.Context(), Commit{})
		if err != nil || done.Branch != want {
			t.Errorf("record %s is kept on %q, %v, want %q", key, done.Branch, err, want)
		}
	}
}
