package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/threeway"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func openSpace(t testing.TB, dir string, now func() time.Time) (*Space, func()) {
	t.Helper()
	return openSpaceWith(t, dir, now, search.New(search.Options{}))
}

func openSpaceWith(t testing.TB, dir string, now func() time.Time, index Index) (*Space, func()) {
	t.Helper()
	return openSpaceOn(t, dir, now, index, asItIs)
}

func openSpaceOn(t testing.TB, dir string, now func() time.Time, index Index, wrap func(store.Engine) store.Engine) (*Space, func()) {
	t.Helper()
	engine, err := bolt.Open(t.Context(), dir, bolt.Options{Now: now, NoSync: true}) // no test here turns the power off
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), Options{Engine: wrap(engine), Index: index, Clock: now})
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		if err := errors.Join(s.Close(context.Background()), engine.Close()); err != nil {
			t.Fatal(err)
		}
	}
}

// SetHooks sets the hooks, as Options.Hooks, while nobody else uses the space.
func (s *Space) SetHooks(h Hooks) { s.hooks = func() Hooks { return h } }

func testSpace(t testing.TB) *Space { return testSpaceOn(t, asItIs) }

func asItIs(e store.Engine) store.Engine { return e }

func testSpaceOn(t testing.TB, wrap func(store.Engine) store.Engine) *Space {
	s, closeSpace := openSpaceOn(t, t.TempDir(), time.Now, search.New(search.Options{}), wrap)
	t.Cleanup(closeSpace)
	t.Cleanup(func() {
		if err := s.engine.Check(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func put(t testing.TB, s *Space, branch, key, text string) Stored {
	t.Helper()
	value, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := s.Store(t.Context(), Location{Branch: branch}, []Item{{Key: key, Value: value}}, Write{})
	if err != nil {
		t.Fatal(err)
	}
	return stored[0]
}

func text(t testing.TB, s *Space, branch, key string, at AsOf) string {
	t.Helper()
	m, err := s.Recall(t.Context(), Location{Branch: branch}, key, at)
	if err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return ""
	}
	return strings.Trim(string(m.Value), `"`)
}

func fork(t testing.TB, s *Space, from, name string) {
	t.Helper()
	if _, err := s.Fork(t.Context(), from, name, AsOf{}, Write{}); err != nil {
		t.Fatal(err)
	}
}

func TestAMemoryIsRecalledAsItWasAtAnyVersion(t *testing.T) {
	s := testSpace(t)
	first := put(t, s, "", "tea", "green")
	second := put(t, s, "", "tea", "black")
	if got := text(t, s, "", "tea", AsOf{}); got != "black" {
		t.Errorf("now: %q", got)
	}
	if got := text(t, s, "", "tea", AsOf{Version: first.Version}); got != "green" {
		t.Errorf("at the first version: %q", got)
	}
	if got := text(t, s, "", "tea", AsOf{Time: second.Timestamp.Add(-time.Microsecond)}); got != "green" {
		t.Errorf("just before the second: %q", got)
	}
}

func TestAForkSeesNothingOfWhatItsParentDoesLater(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "tea", "green")
	fork(t, s, "", "try")
	put(t, s, "", "tea", "black")
	put(t, s, "try", "coffee", "none")
	if got := text(t, s, "try", "tea", AsOf{}); got != "green" {
		t.Errorf("on the fork: %q", got)
	}
	if got := text(t, s, "", "coffee", AsOf{}); got != "" {
		t.Errorf("on the parent: %q", got)
	}
}

func TestAQuestionInPlainWordsFindsItsAnswer(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "a", "Anna prefers green tea in the afternoon")
	put(t, s, "", "b", "The deploy script needs the staging key")
	found, err := s.Search(t.Context(), Search{Text: "What does Anna like to drink in the afternoons?", Explain: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Hits) != 1 || found.Hits[0].Key != "a" || !strings.Contains(found.Hits[0].Snippet(), "green tea") {
		t.Fatalf("found %+v", found)
	}
	sum := 0.0
	for _, term := range found.Hits[0].Why.Terms {
		sum += term.Score
	}
	if sum != found.Hits[0].Score {
		t.Errorf("the explanation adds up to %v of %v", sum, found.Hits[0].Score)
	}
}

func TestStoringTheSameAgainChangesNothing(t *testing.T) {
	s := testSpace(t)
	items := []Item{{Value: json.RawMessage(`{"b":1,"a":12345678901234567890}`)}}
	once, err := s.Store(t.Context(), Location{}, items, Write{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Store(t.Context(), Location{}, items, Write{})
	once[0].Replaces = once[0].Version // there is nothing to write, and the version stays
	if err != nil || again[0] != once[0] {
		t.Fatalf("%v, then %v (%v)", once, again, err)
	}
	m, err := s.Recall(t.Context(), Location{}, once[0].Key, AsOf{})
	if err != nil || string(m.Value) != `{"b":1,"a":12345678901234567890}` {
		t.Fatalf("recalled %s (%v)", m.Value, err)
	}
}

func TestARepeatedRequestIsDoneOnce(t *testing.T) {
	s := testSpace(t)
	w := Write{Agent: "a", RequestID: "r1"}
	first, err := s.Append(t.Context(), Location{}, "met", json.RawMessage(`"Anna"`), w)
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Append(t.Context(), Location{}, "met", json.RawMessage(`"Anna"`), w)
	if err != nil || again.Sequence != first.Sequence || again.Hash != first.Hash {
		t.Fatalf("%+v, then %+v (%v)", first, again, err)
	}
	_, err = s.Append(t.Context(), Location{}, "met", json.RawMessage(`"Ben"`), w)
	var e *Error
	if !errors.As(err, &e) || e.Code != Conflict {
		t.Fatalf("another request with the same id: %v", err)
	}
}

func TestALogsChainIsContinuedByForksAndChecked(t *testing.T) {
	s := testSpace(t)
	for i := range 3 {
		if _, err := s.Append(t.Context(), Location{}, "step", json.RawMessage(fmt.Sprint(i)), Write{}); err != nil {
			t.Fatal(err)
		}
	}
	fork(t, s, "", "try")
	if _, err := s.Append(t.Context(), Location{}, "step", json.RawMessage(`"later"`), Write{}); err != nil {
		t.Fatal(err)
	}
	e, err := s.Append(t.Context(), Location{Branch: "try"}, "step", json.RawMessage(`"aside"`), Write{})
	if err != nil || e.Sequence != 4 {
		t.Fatalf("the fork's first event is %+v (%v)", e, err)
	}
	for _, branch := range []string{"default", "try"} {
		if n, err := s.VerifyLog(t.Context(), Location{Branch: branch}); n != 4 || err != nil {
			t.Errorf("%s: %d events checked, %v", branch, n, err)
		}
	}
}

func TestAMergeBringsChangesAndStopsAtClashes(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "same", "old")
	put(t, s, "", "mine", "old")
	fork(t, s, "", "try")
	put(t, s, "try", "mine", "theirs")
	put(t, s, "try", "new", "added")
	put(t, s, "try", "same", "left")
	put(t, s, "", "same", "right")
	m, err := s.Merge(t.Context(), Merge{Source: "try"}, Write{})
	if err != nil || m.Merged || m.Unresolved != 1 || m.Clashes[0].Clash != threeway.EditEdit {
		t.Fatalf("strict: %+v (%v)", m, err)
	}
	if got := text(t, s, "", "new", AsOf{}); got != "" {
		t.Fatalf("a stopped merge wrote %q", got)
	}
	m, err = s.Merge(t.Context(), Merge{Source: "try", Strategy: Source}, Write{DryRun: true})
	if err != nil || len(m.Applied) != 3 || m.Merged {
		t.Fatalf("preview: %+v (%v)", m, err)
	}
	m, err = s.Merge(t.Context(), Merge{Source: "try", Resolutions: []Resolution{{Key: "same", Take: "value", Value: json.RawMessage(`"both"`)}}}, Write{})
	if err != nil || !m.Merged || len(m.Applied) != 3 {
		t.Fatalf("resolved: %+v (%v)", m, err)
	}
	for key, want := range map[string]string{"same": "both", "mine": "theirs", "new": "added"} {
		if got := text(t, s, "", key, AsOf{}); got != want {
			t.Errorf("%s is %q, not %q", key, got, want)
		}
	}
	if m, err = s.Merge(t.Context(), Merge{Source: "try"}, Write{}); err != nil || len(m.Applied)+len(m.Clashes) != 0 {
		t.Errorf("merging again: %+v (%v)", m, err)
	}
	events, err := s.Events(t.Context(), Location{}, AsOf{}, 0, 10)
	if err != nil || len(events) != 1 || events[0].Event != "merge" {
		t.Errorf("the log has %+v (%v)", events, err)
	}
}

func TestFieldsOfAnObjectAreMergedOneByOne(t *testing.T) {
	s := testSpace(t)
	set := func(branch, value string) {
		t.Helper()
		if _, err := s.Store(t.Context(), Location{Branch: branch}, []Item{{Key: "p", Value: json.RawMessage(value)}}, Write{}); err != nil {
			t.Fatal(err)
		}
	}
	set("", `{"name":"Anna","city":"Graz","deep":{"x":1}}`)
	fork(t, s, "", "try")
	set("try", `{"name":"Anna","city":"Linz","deep":{"x":1,"y":2}}`)
	set("", `{"name":"Anne","city":"Graz","deep":{"x":1}}`)
	m, err := s.Merge(t.Context(), Merge{Source: "try", Strategy: Fields}, Write{})
	if err != nil || !m.Merged {
		t.Fatalf("Merge = %+v (%v), want it merged", m, err)
	}
	got, err := s.Recall(t.Context(), Location{}, "p", AsOf{})
	if err != nil || string(got.Value) != `{"city":"Linz","deep":{"x":1,"y":2},"name":"Anne"}` {
		t.Errorf("merged into %s (%v)", got.Value, err)
	}
}

func TestCountersAreInheritedByForksAndAddedByMerges(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "v")
	read := func(branch string, times int) {
		for range times {
			text(t, s, branch, "k", AsOf{})
		}
	}
	accesses := func(branch string) int64 {
		c, err := s.Counters(t.Context(), Location{Branch: branch}, "k")
		if err != nil {
			t.Fatal(err)
		}
		return c.Accesses
	}
	read("", 3)
	fork(t, s, "", "try")
	read("try", 2)
	read("", 1)
	if accesses("") != 4 || accesses("try") != 5 {
		t.Fatalf("parent %d, fork %d", accesses(""), accesses("try"))
	}
	if _, err := s.Merge(t.Context(), Merge{Source: "try"}, Write{}); err != nil {
		t.Fatal(err)
	}
	if got := accesses(""); got != 6 {
		t.Errorf("after the merge: %d", got)
	}
}

func TestADeletedBranchFreesItsNameAndLeavesItsForksWhole(t *testing.T) {
	s := testSpace(t)
	fork(t, s, "", "a")
	put(t, s, "a", "k", "kept")
	fork(t, s, "a", "b")
	if err := s.Delete(t.Context(), "a", Write{}); err != nil {
		t.Fatal(err)
	}
	fork(t, s, "", "a")
	if got := text(t, s, "a", "k", AsOf{}); got != "" {
		t.Errorf("the new branch has %q", got)
	}
	if got := text(t, s, "b", "k", AsOf{}); got != "kept" {
		t.Errorf("the fork has %q", got)
	}
	if err := s.Delete(t.Context(), "b", Write{}); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(s.catalogue.Kept()); n != 3 { // with that for what is the same on all
		t.Errorf("%d branches are kept", n)
	}
}

func TestAskingForAPastThatIsNotKeptIsAnErrorThatSaysSo(t *testing.T) {
	s := testSpace(t)
	old := put(t, s, "", "k", "one")
	put(t, s, "", "k", "two")
	kept := put(t, s, "", "k", "three")
	if _, err := s.Trim(t.Context(), "", AsOf{Version: kept.Version}); err != nil {
		t.Fatal(err)
	}
	_, err := s.Recall(t.Context(), Location{}, "k", AsOf{Version: old.Version})
	var e *Error
	if !errors.As(err, &e) || e.Code != InvalidArgument || !strings.Contains(e.Message, "further back than is kept") {
		t.Fatalf("recall: %v", err)
	}
	extent, err := s.Extent(t.Context(), "")
	if err != nil || extent.OldestVersion != kept.Version {
		t.Errorf("the past begins at %+v (%v), not v%d", extent, err, kept.Version)
	}
}

func TestMomentsAreReadAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"2026-03-01T10:00:00Z":      "2026-03-01T10:00:00.000000Z",
		"2026-03-01T10:00:00+02:00": "2026-03-01T08:00:00.000000Z",
		"2026-03-01":                "2026-03-01T23:59:59.999999Z",
		"1h ago":                    "2026-03-10T11:00:00.000000Z",
		"1 hour ago":                "2026-03-10T11:00:00.000000Z",
		"2 days ago":                "2026-03-08T12:00:00.000000Z",
		"1h30m ago":                 "2026-03-10T10:30:00.000000Z",
		"an hour ago":               "2026-03-10T11:00:00.000000Z",
		"3 months ago":              "2025-12-10T12:00:00.000000Z",
		"yesterday":                 "2026-03-09T12:00:00.000000Z",
		"1772362800":                "2026-03-01T11:00:00.000000Z",
		"1772362800000":             "2026-03-01T11:00:00.000000Z",
		"1772362800000000":          "2026-03-01T11:00:00.000000Z",
	} {
		at, err := ParseAsOf(text, now)
		if err != nil || FormatTime(at.Time) != want {
			t.Errorf("%q is %s (%v), not %s", text, FormatTime(at.Time), err, want)
		}
	}
	if at, err := ParseAsOf("v12", now); err != nil || at.Version != 12 {
		t.Errorf("v12 is %+v (%v)", at, err)
	}
	for _, text := range []string{"soon", "v", "v0", "-5", "ago", "5 fortnights ago", "99999999999999999999", "2026-13-01"} {
		if at, err := ParseAsOf(text, now); err == nil {
			t.Errorf("%q is taken for %+v", text, at)
		}
	}
}

func FuzzParseAsOf(f *testing.F) {
	for _, seed := range []string{"1h ago", "2026-03-01", "v12", "yesterday", "1772362800", "an hour and 2 minutes ago", "0001-01-01T00:00:00Z", "0000-01-01", "in 2h", "99999999999999999999", "-1", "v18446744073709551615"} {
		f.Add(seed)
	}
	now := time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		at, err := ParseAsOf(text, now)
		if err == nil && at.Version == 0 && !at.Time.IsZero() && (at.Time.Year() < 1 || at.Time.Year() > 9999) {
			t.Errorf("%q is the year %d", text, at.Time.Year())
		}
		if now := strings.TrimSpace(text) == "" || strings.EqualFold(strings.TrimSpace(text), "now"); err == nil && at.IsNow() != now {
			t.Errorf("%q is now: %t", text, at.IsNow())
		}
		for name, read := range map[string]func(string, time.Time) (time.Time, error){"time": ParseTime, "expiry": ParseExpiry} {
			if moment, err := read(text, now); err == nil && (moment.IsZero() || moment.Year() > 9999) {
				t.Errorf("%q is the %s %s", text, name, moment)
			}
		}
	})
}

// indexAsOfBefore answers with what it found before a write that comes in between.
type indexAsOfBefore struct {
	Index
	between atomic.Pointer[func()] // nil: nothing comes
}

func (x *indexAsOfBefore) Search(ctx context.Context, v search.View, q search.Query) (search.Result, error) {
	r, err := x.Index.Search(ctx, v, q)
	if between := x.between.Load(); between != nil {
		(*between)()
	}
	return r, err
}

func TestASearchIsAnsweredWhenWhatItFoundIsOverwrittenAndItsPastTrimmed(t *testing.T) {
	for name, overwrite := range map[string]func(s *Space) error{
		"overwritten": func(s *Space) error { put(t, s, "", "k", "word again"); return nil },
		"forgotten": func(s *Space) error {
			_, err := s.Forget(t.Context(), Location{}, []string{"k"}, Write{})
			return err
		},
		"never there": func(*Space) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			index := &indexAsOfBefore{Index: search.New(search.Options{})}
			s, closeSpace := openSpaceWith(t, t.TempDir(), time.Now, index)
			defer closeSpace()
			put(t, s, "", "k", "word")
			put(t, s, "", "other", "nothing")
			if _, err := s.Trim(t.Context(), "", AsOf{}); err != nil {
				t.Fatal(err)
			}
			between := func() {
				if err := overwrite(s); err != nil {
					t.Fatal(err)
				}
			}
			index.between.Store(&between)
			found, err := s.Search(t.Context(), Search{Text: "word"})
			if err != nil || len(found.Hits) > 1 || len(found.Hits) == 1 && found.Hits[0].Key != "k" {
				t.Errorf("found %+v, %v", found, err)
			}
		})
	}
}
