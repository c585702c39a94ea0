package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func stage(t testing.TB, s *Space, branch string) *Stage {
	t.Helper()
	st, err := s.Stage(t.Context(), branch, "guest")
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func stagePut(t testing.TB, st *Stage, key, text string) {
	t.Helper()
	if _, err := st.Put(t.Context(), "", []Item{{Key: key, Value: json.RawMessage(fmt.Sprintf("%q", text))}}); err != nil {
		t.Fatal(err)
	}
}

func stageText(t testing.TB, st *Stage, key string) string {
	t.Helper()
	got, err := st.Get(t.Context(), "", []string{key})
	if err != nil {
		t.Fatal(err)
	}
	if got[0] == nil {
		return ""
	}
	return strings.Trim(string(got[0].Value), `"`)
}

func stageCommit(t testing.TB, st *Stage, c Commit) Committed {
	t.Helper()
	done, err := st.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func stageKeys(t testing.TB, st *Stage, limit int) []string {
	t.Helper()
	var keys []string
	for after, first := "", true; first || after != ""; first = false {
		page, next, err := st.List(t.Context(), "", "", after, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range page {
			keys = append(keys, m.Key)
		}
		after = next
	}
	return keys
}

func TestAStageSeesWhatItChangedAndNobodyElseDoesBeforeItCommits(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "tea", "green")
	st := stage(t, s, "")
	stagePut(t, st, "tea", "black")
	stagePut(t, st, "milk", "oat")
	if got := stageText(t, st, "tea") + stageText(t, st, "milk"); got != "blackoat" {
		t.Errorf("the stage sees %q", got)
	}
	if got := text(t, s, "", "tea", AsOf{}); got != "green" {
		t.Errorf("others see %q before the commit", got)
	}
	done := stageCommit(t, st, Commit{})
	if done.Version == 0 || text(t, s, "", "tea", AsOf{}) != "black" || text(t, s, "", "milk", AsOf{}) != "oat" {
		t.Errorf("the commit %+v did not bring both", done)
	}
	found, err := s.Search(t.Context(), Search{Text: "oat"})
	if err != nil || len(found.Hits) != 1 {
		t.Errorf("what was committed is not searchable: %v, %v", found, err)
	}
}

func TestAStageReadsAtOneVersion(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "tea", "green")
	st := stage(t, s, "")
	put(t, s, "", "tea", "black")
	put(t, s, "", "coffee", "strong")
	if got := stageText(t, st, "tea") + stageText(t, st, "coffee"); got != "green" {
		t.Errorf("the stage sees %q", got)
	}
	if got := stageKeys(t, st, 10); !slices.Equal(got, []string{"tea"}) {
		t.Errorf("the stage lists %q", got)
	}
	found, err := st.Search(t.Context(), Search{Text: "strong green black"})
	if err != nil || len(found.Hits) != 1 || string(found.Hits[0].Value) != `"green"` {
		t.Errorf("the stage finds %v, %v", found.Hits, err)
	}
}

func TestACommitIsAConflictWhenWhatWasReadOrWrittenChangedMeanwhile(t *testing.T) {
	cases := map[string]func(st *Stage){
		"a memory that was read":    func(st *Stage) { stageText(t, st, "tea"); stagePut(t, st, "else", "x") },
		"a memory that was written": func(st *Stage) { stagePut(t, st, "tea", "white") },
		"a memory that was listed":  func(st *Stage) { stageKeys(t, st, 10); stagePut(t, st, "else", "x") },
	}
	for name, work := range cases {
		s := testSpace(t)
		put(t, s, "", "tea", "green")
		st := stage(t, s, "")
		work(st)
		put(t, s, "", "tea", "black")
		_, err := st.Commit(t.Context(), Commit{})
		var known *Error
		if !errors.As(err, &known) || known.Code != Conflict {
			t.Errorf("%s: Commit: %v, want a conflict", name, err)
		}
		if text(t, s, "", "else", AsOf{}) != "" {
			t.Errorf("%s: a part was written", name)
		}
	}
}

func TestACommitDoesNotMindWhatItNeverLookedAt(t *testing.T) {
	s := testSpace(t)
	st := stage(t, s, "")
	stagePut(t, st, "tea", "green")
	put(t, s, "", "coffee", "strong")
	if done := stageCommit(t, st, Commit{}); done.Version == 0 {
		t.Error("nothing was written")
	}
}

func TestListingsMergeWhatIsStagedPageByPage(t *testing.T) {
	s := testSpace(t)
	for _, key := range []string{"b", "d", "f", "h"} {
		put(t, s, "", key, "there")
	}
	st := stage(t, s, "")
	for _, key := range []string{"a", "c", "i", "j"} {
		stagePut(t, st, key, "staged")
	}
	if n, err := st.Delete(t.Context(), "", []string{"d", "c", "nothing"}); n != 2 || err != nil {
		t.Fatalf("deleted %d: %v", n, err)
	}
	want := []string{"a", "b", "f", "h", "i", "j"}
	for limit := 1; limit < 8; limit++ {
		if got := stageKeys(t, st, limit); !slices.Equal(got, want) {
			t.Errorf("pages of %d list %q", limit, got)
		}
	}
}

func TestAProposalIsABranchAndLeavesItsOwnAlone(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "tea", "green")
	st := stage(t, s, "")
	stageText(t, st, "tea")
	stagePut(t, st, "tea", "black")
	put(t, s, "", "tea", "white") // no conflict: the proposal stands on what was read
	done := stageCommit(t, st, Commit{Proposal: "proposals/tidy/1"})
	if done.Branch != "proposals/tidy/1" || text(t, s, "", "tea", AsOf{}) != "white" || text(t, s, done.Branch, "tea", AsOf{}) != "black" {
		t.Errorf("after %+v tea is %q, and %q in the proposal", done, text(t, s, "", "tea", AsOf{}), text(t, s, done.Branch, "tea", AsOf{}))
	}
	diff, err := s.Diff(t.Context(), DiffQuery{Source: done.Branch, Target: Default})
	if err != nil || diff.Clashes != 1 {
		t.Errorf("the difference is %+v, %v", diff, err)
	}
	if err := s.Delete(t.Context(), done.Branch, Write{}); err != nil {
		t.Errorf("dropping the proposal: %v", err)
	}
}

func TestRecordsOfASpaceAreTheSameOnEveryBranchAndOthersAreNot(t *testing.T) {
	s := testSpace(t)
	fork(t, s, "", "try")
	perSpace, perBranch := Collection{Name: "tidy/all", PerSpace: true}, Collection{Name: "tidy/own"}
	st := stage(t, s, "try")
	for _, c := range []Collection{perSpace, perBranch} {
		if err := st.PutRecord(t.Context(), c, "", "k", json.RawMessage(`{"a":1}`), nil); err != nil {
			t.Fatal(err)
		}
	}
	stageCommit(t, st, Commit{})
	for branch, want := range map[string][2]bool{"": {true, false}, "try": {true, true}} {
		st := stage(t, s, branch)
		for i, c := range []Collection{perSpace, perBranch} {
			got, err := st.Records(t.Context(), c, "", []string{"k"})
			if err != nil || (got[0] != nil) != want[i] {
				t.Errorf("on %q %s has %v, %v", branch, c.Name, got[0], err)
			}
		}
	}
	branches, err := s.Branches(t.Context())
	if err != nil || len(branches) != 2 {
		t.Errorf("the branches are %v, %v", branches, err)
	}
	if _, err := s.Fork(t.Context(), lineage.System, "mine", AsOf{}, Write{}); err == nil {
		t.Error("the branch for all branches could be forked")
	}
}

func TestRecordsAreAppendedUnderSequenceNumbers(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "tidy/list"}
	for want := uint64(1); want < 6; want += 2 {
		st := stage(t, s, "")
		for i := range uint64(2) {
			got, err := st.AppendRecord(t.Context(), c, "", json.RawMessage(`1`))
			if err != nil || got != want+i {
				t.Fatalf("appended as %d, not %d: %v", got, want+i, err)
			}
		}
		stageCommit(t, st, Commit{})
	}
	one, other := stage(t, s, ""), stage(t, s, "")
	for _, st := range []*Stage{one, other} {
		if _, err := st.AppendRecord(t.Context(), c, "", json.RawMessage(`2`)); err != nil {
			t.Fatal(err)
		}
	}
	stageCommit(t, one, Commit{})
	if _, err := other.Commit(t.Context(), Commit{}); err == nil {
		t.Error("two stages took the same sequence number")
	}
}

func TestRecordsAreFoundByTheFieldsThatAreSearched(t *testing.T) {
	s := testSpace(t)
	c := Collection{Name: "tidy/notes", Fields: []string{"text"}, PerSpace: true}
	st := stage(t, s, "")
	if err := st.PutRecord(t.Context(), c, "", "n", json.RawMessage(`{"text":"the green boat","secret":"anchor"}`), nil); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	for query, want := range map[string]int{"boats": 1, "anchor": 0} {
		hits, _, err := stage(t, s, "").SearchRecords(t.Context(), c, Search{Text: query})
		if err != nil || len(hits) != want {
			t.Errorf("%s finds %v, %v", query, hits, err)
		}
	}
	if found, err := s.Search(t.Context(), Search{Text: "boat"}); err != nil || len(found.Hits) != 0 {
		t.Errorf("a search for memories finds records: %v, %v", found.Hits, err)
	}
}

func TestARecordThatExpiresIsGone(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	c := Collection{Name: "tidy/short", Expires: time.Hour}
	st := stage(t, s, "")
	if err := st.PutRecord(t.Context(), c, "", "k", json.RawMessage(`1`), nil); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	now.Add(2 * time.Hour)
	if got, err := stage(t, s, "").Records(t.Context(), c, "", []string{"k"}); err != nil || got[0] != nil {
		t.Errorf("after its time there is %v, %v", got[0], err)
	}
}

func TestAPatchChangesOnlyWhatItNames(t *testing.T) {
	s := testSpace(t)
	half := 0.5
	item := Item{Key: "k", Value: json.RawMessage(`"v"`), Tags: []string{"a", "b"}, Type: "fact", Importance: &half,
		Metadata: map[string]json.RawMessage{"x": json.RawMessage(`1`), "y": json.RawMessage(`2`)}}
	if _, err := s.Store(t.Context(), Location{}, []Item{item}, Write{Agent: "owner"}); err != nil {
		t.Fatal(err)
	}
	st := stage(t, s, "")
	missing, err := st.Patch(t.Context(), "", []Patch{
		{Key: "k", AddTags: []string{"c", "a"}, RemoveTags: []string{"b"}, Metadata: map[string]json.RawMessage{"y": json.RawMessage(`null`), "z": json.RawMessage(`3`)}, State: Archived},
		{Key: "nothing", AddTags: []string{"c"}},
	})
	if err != nil || !slices.Equal(missing, []string{"nothing"}) {
		t.Fatalf("missing %q, %v", missing, err)
	}
	stageCommit(t, st, Commit{})
	m, err := s.Recall(t.Context(), Location{}, "k", AsOf{})
	if err != nil {
		t.Fatal(err)
	}
	if string(m.Value) != `"v"` || !slices.Equal(m.Tags, []string{"a", "c"}) || m.Type != "fact" || *m.Importance != half ||
		m.Metadata["y"] != nil || string(m.Metadata["z"]) != "3" || m.State != Archived || m.Agent != "guest" {
		t.Errorf("the memory became %+v", m)
	}
}

func TestARepeatedStageIsAnsweredAsTheFirstTime(t *testing.T) {
	s := testSpace(t)
	c := Commit{Write: Write{Agent: "guest", RequestID: "r1"}, Operation: "tool", Content: json.RawMessage(`{}`), Answer: json.RawMessage(`{"n":1}`)}
	if _, version, err := s.Answered(t.Context(), c); version != 0 || err != nil {
		t.Fatalf("it was answered before it was asked: %v", err)
	}
	st := stage(t, s, "")
	stagePut(t, st, "tea", "green")
	first := stageCommit(t, st, c)
	answer, version, err := s.Answered(t.Context(), c)
	if version != first.Version || string(answer) != `{"n":1}` || err != nil {
		t.Errorf("it was answered with %s, %d, %v", answer, version, err)
	}
	again := stage(t, s, "")
	stagePut(t, again, "coffee", "strong")
	if done := stageCommit(t, again, c); !done.Replayed || text(t, s, "", "coffee", AsOf{}) != "" {
		t.Errorf("the repetition wrote: %+v", done)
	}
}

func TestAStagesEventsContinueTheChainOfTheLog(t *testing.T) {
	s := testSpace(t)
	if _, err := s.Append(t.Context(), Location{}, "first", json.RawMessage(`1`), Write{}); err != nil {
		t.Fatal(err)
	}
	for _, proposal := range []string{"", "proposals/p"} {
		st := stage(t, s, "")
		if err := st.Log("", "second", json.RawMessage(`2`)); err != nil {
			t.Fatal(err)
		}
		done := stageCommit(t, st, Commit{Proposal: proposal})
		if n, err := s.VerifyLog(t.Context(), Location{Branch: done.Branch}); err != nil || n < 2 {
			t.Errorf("the log of %s has %d events: %v", done.Branch, n, err)
		}
	}
}

// hooks are Hooks made of functions.
type hooks struct {
	storing func(Storing) (Decision, error)
	asks    []Change
	depth   int
	rank    Ranker
}

func (h hooks) Storing(_ context.Context, s Storing) (Decision, error) {
	if h.storing == nil {
		return Decision{Items: s.Items}, nil
	}
	return h.storing(s)
}
func (h hooks) Asks(c Change, _ string) bool                  { return slices.Contains(h.asks, c) }
func (h hooks) Ranker(context.Context, Ranking) (Ranker, int) { return h.rank, h.depth }

func TestHooksChangeOrRefuseWhatIsStored(t *testing.T) {
	s := testSpace(t)
	s.SetHooks(hooks{storing: func(h Storing) (Decision, error) {
		if strings.Contains(string(h.Items[0].Value), "secret") {
			return Decision{}, &Error{Code: Denied, Message: "no secrets"}
		}
		items := slices.Clone(h.Items)
		items[0].Tags = append(items[0].Tags, "seen")
		return Decision{Items: items, Notes: []string{"tagged"}}, nil
	}})
	var notes []string
	stored, err := s.Store(t.Context(), Location{}, []Item{{Value: json.RawMessage(`"tea"`)}}, Write{Note: func(n string) { notes = append(notes, n) }})
	if err != nil || !slices.Equal(notes, []string{"tagged"}) {
		t.Fatalf("stored with the notes %q: %v", notes, err)
	}
	m, err := s.Recall(t.Context(), Location{}, stored[0].Key, AsOf{})
	if err != nil || !slices.Equal(m.Tags, []string{"seen"}) {
		t.Errorf("stored %+v, %v", m, err)
	}
	_, err = s.Store(t.Context(), Location{}, []Item{{Key: "s", Value: json.RawMessage(`"secret"`)}}, Write{})
	var known *Error
	if !errors.As(err, &known) || known.Code != Denied || text(t, s, "", "s", AsOf{}) != "" {
		t.Errorf("a refused memory: %v", err)
	}
	st := stage(t, s, "")
	stagePut(t, st, "s", "secret")
	if _, err := st.Commit(t.Context(), Commit{}); !errors.As(err, &known) || known.Code != Denied {
		t.Errorf("a refused memory of a stage: %v", err)
	}
}

func TestHooksOrderTheBestHitsAndPagesFitTogether(t *testing.T) {
	s := testSpace(t)
	for i := range 30 {
		importance := float64(i) / 100
		item := Item{Key: fmt.Sprintf("k%02d", i), Value: json.RawMessage(`"green tea"`), Importance: &importance, Type: "fact"}
		if _, err := s.Store(t.Context(), Location{}, []Item{item}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	s.SetHooks(hooks{depth: 20, rank: func(_ context.Context, r Ranking) ([]float32, bool, error) {
		if r.Hits != 20 || r.Types[0] != "fact" || r.Column("nonsense") != nil || r.Column("lexical")[0] != 1 || r.Column("age")[0] < 0 {
			t.Errorf("asked to rank %+v", r)
		}
		return r.Column("importance"), true, nil
	}})
	var keys []string
	for offset := 0; offset < 30; offset += 7 {
		found, err := s.Search(t.Context(), Search{Text: "green tea", K: 7, Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range found.Hits {
			keys = append(keys, h.Key)
		}
	}
	if len(keys) != 30 || keys[0] != "k19" || keys[19] != "k00" || keys[20] != "k20" {
		t.Errorf("the hits are %q", keys)
	}
	slices.Sort(keys)
	if len(slices.Compact(keys)) != 30 {
		t.Errorf("some hits came twice: %q", keys)
	}
}

func TestARankingThatFailsIsANoteAndTheOrderStays(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "tea", "green")
	s.SetHooks(hooks{depth: 20, rank: func(context.Context, Ranking) ([]float32, bool, error) { return nil, false, errors.New("it crashed") }})
	found, err := s.Search(t.Context(), Search{Text: "green"})
	if err != nil || len(found.Hits) != 1 || len(found.Notes) != 1 || !strings.Contains(found.Notes[0], "it crashed") {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestOldAnswersAndTheSystemsPastAreDropped(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s, closeSpace := openSpace(t, t.TempDir(), now.Now)
	defer closeSpace()
	for i := range 3 {
		st := stage(t, s, "")
		stagePut(t, st, fmt.Sprint(i), "x")
		stageCommit(t, st, Commit{Write: Write{RequestID: fmt.Sprint(i)}, Answer: json.RawMessage(`1`)})
		now.Add(20 * time.Hour)
	}
	if _, err := s.Retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i := range 3 {
		answer, _, err := s.Answered(t.Context(), Commit{Write: Write{Agent: "guest", RequestID: fmt.Sprint(i)}})
		if err != nil {
			t.Fatal(err)
		}
		if answer != nil {
			kept++
		}
	}
	if kept != 1 {
		t.Errorf("%d answers are kept, not that of the last day alone", kept)
	}
}
