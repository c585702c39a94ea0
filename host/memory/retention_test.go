package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/retention"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

const oneDay = 24 * time.Hour

// hookedEngine is an engine whose calls can be made to fail, or to be preceded by something.
type hookedEngine struct {
	*bolt.Engine
	versionAt func(t time.Time) error // nil: nothing
	trim      func(b store.BranchID) error
}

func (e *hookedEngine) VersionAt(ctx context.Context, t time.Time) (store.Point, error) {
	if e.versionAt != nil {
		if err := e.versionAt(t); err != nil {
			return store.Point{}, err
		}
	}
	return e.Engine.VersionAt(ctx, t)
}

func (e *hookedEngine) Trim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep ...store.Keep) error {
	if e.trim != nil {
		if err := e.trim(b); err != nil {
			return err
		}
	}
	return e.Engine.Trim(ctx, b, floor, pins, keep...)
}

// retained is a space with ten days of history on default and f, the branch of which began on the first day.
func retained(t *testing.T) (s *Space, engine *hookedEngine, now *testclock.Clock, logged *bytes.Buffer) {
	t.Helper()
	now, logged = testclock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), &bytes.Buffer{}
	opened, err := bolt.Open(t.Context(), t.TempDir(), bolt.Options{Now: now.Now, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	engine = &hookedEngine{Engine: opened}
	s, err = Open(t.Context(), Options{Engine: engine, Index: search.New(search.Options{}), Clock: now.Now, Logger: slog.New(slog.NewTextHandler(logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(opened.Check(context.Background()), s.Close(context.Background()), opened.Close()); err != nil {
			t.Error(err)
		}
	})
	fork(t, s, "", "f")
	for range 10 {
		put(t, s, "", "k", "on default "+now.Now().String())
		put(t, s, "f", "k", "on f "+now.Now().String())
		now.Add(oneDay)
	}
	return s, engine, now, logged
}

func setRetention(t *testing.T, s *Space, r retention.Policy) {
	t.Helper()
	if err := s.SetRetention(t.Context(), r); err != nil {
		t.Fatal(err)
	}
}

func retain(t *testing.T, s *Space) Retained {
	t.Helper()
	done, err := s.Retain(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return done
}

func versionsOf(t *testing.T, s *Space, branch string) int {
	t.Helper()
	versions, _, err := s.History(t.Context(), Location{Branch: branch}, "k", AsOf{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	return len(versions)
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

func TestARuleThatReachesBeforeTheFirstVersionKeepsEverythingAndStopsNoOther(t *testing.T) {
	s, _, now, _ := retained(t)
	setRetention(t, s, retention.Policy{Keep: seconds(90 * oneDay), Branches: map[string]int64{"f": seconds(5 * oneDay), "nosuch": 60},
		Namespaces: map[string]retention.Namespace{"old": {Keep: seconds(900 * oneDay)}}})
	done := retain(t, s)
	if len(done.Failed) != 0 || !slices.Equal(done.Kept, []string{"default"}) || len(done.Trimmed) != 1 {
		t.Errorf("retained %+v, want default kept, one branch trimmed, and no failure", done)
	}
	if from := done.Trimmed["f"]; from.After(now.Now().Add(-5*oneDay)) || from.Before(now.Now().Add(-6*oneDay)) {
		t.Errorf("f can be read from %v on", from)
	}
	if here, there := versionsOf(t, s, ""), versionsOf(t, s, "f"); here != 10 || there != 6 { // the rule's five days, and what was there then
		t.Errorf("default has %d versions, f %d", here, there)
	}
	if again := retain(t, s); len(again.Trimmed) != 0 || !slices.Equal(again.Kept, []string{"default", "f"}) {
		t.Errorf("again: %+v", again)
	}
	setRetention(t, s, retention.Policy{Keep: seconds(8 * oneDay)}) // less than what is gone of f
	if longer := retain(t, s); len(longer.Trimmed) != 1 || longer.Trimmed["default"].IsZero() || !slices.Equal(longer.Kept, []string{"f"}) {
		t.Errorf("with a longer rule: %+v", longer)
	}
}

func TestAnEmptySpaceCanBeRetained(t *testing.T) {
	s := testSpace(t)
	setRetention(t, s, retention.Policy{Keep: seconds(90 * oneDay)})
	if done := retain(t, s); len(done.Failed)+len(done.Trimmed) != 0 || len(done.Kept) != 1 {
		t.Errorf("retained %+v, want one branch kept", done)
	}
	if floor, err := s.Trim(t.Context(), "", AsOf{Time: time.Unix(1, 0)}); err != nil || floor != (store.Point{}) {
		t.Errorf("trimmed to %v (%v)", floor, err)
	}
}

func TestARuleThatFailsIsReportedWhileTheOthersAreApplied(t *testing.T) {
	s, engine, now, logged := retained(t)
	setRetention(t, s, retention.Policy{Keep: seconds(5 * oneDay), Namespaces: map[string]retention.Namespace{"torn": {Keep: seconds(7 * oneDay)}}})
	if _, err := s.Store(t.Context(), Location{Namespace: "torn"}, []Item{{Key: "k", Value: json.RawMessage(`1`)}}, Write{}); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("a page is torn")
	engine.trim = func(b store.BranchID) error {
		if s.catalogue.NameOf(b) == Default {
			return broken
		}
		return nil
	}
	engine.versionAt = func(at time.Time) error {
		if at.Equal(now.Now().Add(-7 * oneDay)) {
			return broken
		}
		return nil
	}
	done := retain(t, s)
	want := []RetentionFailure{{Namespace: "torn"}, {Branch: "default"}}
	if len(done.Failed) != 2 || done.Failed[0].Namespace != want[0].Namespace || done.Failed[1].Branch != want[1].Branch || !strings.Contains(done.Failed[1].Error, "torn") {
		t.Errorf("failed: %+v", done.Failed)
	}
	if len(done.Trimmed) != 1 || versionsOf(t, s, "f") != 6 || versionsOf(t, s, "") != 10 {
		t.Errorf("%+v: f has %d versions, default %d", done, versionsOf(t, s, "f"), versionsOf(t, s, ""))
	}
	s.retainAndLog(t.Context())
	if text := logged.String(); strings.Count(text, "could not be applied") != 2 || !strings.Contains(text, "branch=default") || !strings.Contains(text, "namespace=torn") {
		t.Errorf("logged:\n%s", text)
	}
	engine.trim, engine.versionAt = nil, nil
	if done := retain(t, s); len(done.Failed) != 0 || len(done.Trimmed) != 1 {
		t.Errorf("afterwards: %+v", done)
	}
}

func TestABranchThatIsDeletedWhileItIsRetainedIsNoFailureAndStaysGone(t *testing.T) {
	s, engine, now, _ := retained(t)
	setRetention(t, s, retention.Policy{Branches: map[string]int64{"f": seconds(5 * oneDay), "default": seconds(3 * oneDay)}})
	engine.versionAt = func(at time.Time) error {
		if !at.Equal(now.Now().Add(-5 * oneDay)) {
			return nil
		}
		if err := s.Delete(t.Context(), "f", Write{}); err != nil {
			return err
		}
		return s.WaitIdle(t.Context())
	}
	if done := retain(t, s); len(done.Failed) != 0 || len(done.Trimmed) != 1 || done.Trimmed["default"].IsZero() {
		t.Errorf("retained %+v, want default trimmed and no failure", done)
	}
	head, err := s.engine.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var there []store.BranchID
	err = engine.Dump(t.Context(), 0, head.Version, func(p store.Piece) error {
		there = append(there, p.Branches...)
		return nil
	})
	if err != nil || slices.Contains(there, 3) { // 1 is the first branch, 2 that for what is the same on all
		t.Errorf("the store has the branches %v (%v)", there, err)
	}
}

func TestTheTimeBeforeTheFirstVersionIsEmpty(t *testing.T) {
	s, _, _, _ := retained(t)
	before := AsOf{Time: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	if got := text(t, s, "", "k", before); got != "" {
		t.Errorf("recalled %q", got)
	}
	list, err := s.List(t.Context(), Location{}, "", "", before, 10)
	if err != nil || len(list) != 0 {
		t.Errorf("listed %v (%v)", list, err)
	}
	found, err := s.Search(t.Context(), Search{Text: "default", AsOf: before})
	if err != nil || found.Total != 0 {
		t.Errorf("found %d (%v)", found.Total, err)
	}
	versions, more, err := s.History(t.Context(), Location{}, "k", before, 10)
	if err != nil || len(versions) != 0 || more != 0 {
		t.Errorf("history %v (%v)", versions, err)
	}
	log, err := s.Events(t.Context(), Location{}, before, 0, 10)
	if err != nil || len(log) != 0 {
		t.Errorf("log %v (%v)", log, err)
	}
	if _, err := s.Fork(t.Context(), "", "early", before, Write{}); err != nil {
		t.Fatal(err)
	}
	put(t, s, "early", "k", "written later")
	if got := text(t, s, "early", "k", AsOf{}); got != "written later" {
		t.Errorf("on a fork of then: %q", got)
	}
	setRetention(t, s, retention.Policy{Keep: seconds(2 * oneDay)})
	if done := retain(t, s); len(done.Failed) != 0 {
		t.Errorf("retained %+v, want no failure", done)
	}
	if got := text(t, s, "early", "k", AsOf{}); got != "written later" {
		t.Errorf("after retention: %q", got)
	}
	if _, err := s.Recall(t.Context(), Location{}, "k", AsOf{Time: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)}); err == nil || !strings.Contains(err.Error(), "further back than is kept") {
		t.Errorf("a past that is not kept: %v", err)
	}
}

func TestWrittenIsCompleteWhileTheClockIsAhead(t *testing.T) {
	s, _, now, _ := retained(t)
	last := put(t, s, "", "last", "word")
	now.Add(10 * oneDay)
	page, err := s.Feed(t.Context(), "", nil, last.Version-1, 10)
	if err != nil || !page.Expired || len(page.Notices) != 0 {
		t.Errorf("the feed: %+v (%v)", page, err)
	}
	written := func(after uint64) Written {
		t.Helper()
		w, err := s.owner("").Written(t.Context(), WrittenQuery{Memories: true, After: after, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	if whole := written(last.Version - 1); len(whole.Entries) != 1 || whole.Entries[0].Key != "last" {
		t.Errorf("written: %+v", whole)
	}
	setRetention(t, s, retention.Policy{Keep: seconds(oneDay)})
	put(t, s, "", "newer", "word")
	if done := retain(t, s); len(done.Trimmed) == 0 {
		t.Fatalf("retained %+v, want a branch trimmed", done)
	}
	if whole := written(1); len(whole.Entries) != 1 || whole.Entries[0].Key != "newer" {
		t.Errorf("after retention: %+v", whole)
	}
}
