package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/memory/purge"
	"github.com/alcove-memory/alcove/host/testing/testclock"
)

// byRequest is a quota.Raiser.
type byRequest struct{}

func (byRequest) Raise(quota string) string { return "ask for more " + quota }

// notes is a collection of the family notes, with a quota.
func notes(records, bytes int64) Collection {
	return Collection{Name: "notes/list", Quota: Quota{Records: records, Bytes: bytes, Raiser: byRequest{}}}
}

// keepRecord puts a record with a value of so many bytes, and commits.
func keepRecord(t testing.TB, s *Space, branch string, c Collection, key string, size int) error {
	t.Helper()
	st := stage(t, s, branch)
	if err := st.PutRecord(t.Context(), c, "", key, jsonOf(size), nil); err != nil {
		return err
	}
	_, err := st.Commit(t.Context(), Commit{})
	return err
}

// jsonOf is a JSON text of so many bytes, quotes included.
func jsonOf(size int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`)
}

func dropRecord(t testing.TB, s *Space, branch string, c Collection, key string) {
	t.Helper()
	st := stage(t, s, branch)
	if _, err := st.DeleteRecords(t.Context(), c, "", []string{key}); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
}

func useOf(t testing.TB, s *Space, family string) Use {
	t.Helper()
	use, err := s.UseOf(t.Context(), family)
	if err != nil {
		t.Fatal(err)
	}
	return use
}

// recounted is what a count of everything finds.
func recounted(t testing.TB, s *Space, family string) Use {
	t.Helper()
	if err := s.countAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return useOf(t, s, family)
}

func TestWhatAFamilyKeepsIsCountedOnceOnAllBranches(t *testing.T) {
	s := testSpace(t)
	c, shared := notes(0, 0), Collection{Name: "notes/all", PerSpace: true}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, records, bytes int64) {
		t.Helper()
		if got := useOf(t, s, "notes"); got != (Use{Records: records, Bytes: bytes}) {
			t.Errorf("%s: use %+v, want %d records of %d bytes", what, got, records, bytes)
		}
		if got := recounted(t, s, "notes"); got != (Use{Records: records, Bytes: bytes}) {
			t.Errorf("%s, counted anew: %+v", what, got)
		}
	}
	must(keepRecord(t, s, "", c, "k1", 98))
	must(keepRecord(t, s, "", c, "k2", 98))
	must(keepRecord(t, s, "", shared, "s1", 48))
	expect("three records", 3, 250)
	must(keepRecord(t, s, "", Collection{Name: "other/list"}, "k1", 98))
	must(keepRecord(t, s, "", c, "k1", 198))
	expect("one of them larger", 3, 350)
	fork(t, s, "", "f")
	expect("a fork", 3, 350)
	must(keepRecord(t, s, "f", c, "k1", 48))
	must(keepRecord(t, s, "f", shared, "s1", 58))
	expect("one of them otherwise on the fork", 4, 410)
	dropRecord(t, s, "f", c, "k2")
	expect("one of them dropped on the fork alone", 4, 410)
	if _, err := s.Merge(t.Context(), Merge{Source: "f", Target: Default, Strategy: Source}, Write{}); err != nil {
		t.Fatal(err)
	}
	expect("the fork merged", 3, 160)
	st := stage(t, s, "")
	must(st.PutRecord(t.Context(), c, "", "p1", jsonOf(18), nil))
	stageCommit(t, st, Commit{Proposal: "proposed"})
	expect("a proposal", 4, 180)
	fork(t, s, "f", "child")
	must(s.Delete(t.Context(), "proposed", Write{}))
	must(s.Delete(t.Context(), "f", Write{}))
	must(s.WaitIdle(t.Context()))
	expect("the proposal deleted, and a branch that another needs", 3, 160)
	must(s.Delete(t.Context(), "child", Write{}))
	must(s.WaitIdle(t.Context()))
	expect("and that other one", 2, 110)
	dropRecord(t, s, "", c, "k1")
	dropRecord(t, s, "", shared, "s1")
	expect("everything dropped", 0, 0)
}

func TestAQuotaEndsWhatAFamilyKeeps(t *testing.T) {
	s := testSpace(t)
	c := notes(3, 1000)
	for i := range 3 {
		if err := keepRecord(t, s, "", c, fmt.Sprint(i), 100); err != nil {
			t.Fatal(err)
		}
	}
	err := keepRecord(t, s, "", c, "3", 100)
	var full *Error
	if !errors.As(err, &full) || full.Code != Exhausted || full.Details["quota"] != "records" || full.Details["limit"] != int64(3) || full.Details["used"] != int64(3) ||
		!strings.Contains(full.Message, "; or ask for more records") {
		t.Errorf("a fourth record: %v", err)
	}
	if err := keepRecord(t, s, "", c, "0", 900); !errors.As(err, &full) || full.Details["quota"] != "record_bytes" || full.Details["used"] != int64(303) {
		t.Errorf("a larger one: %v", err)
	}
	fork(t, s, "", "f")
	if err := keepRecord(t, s, "f", c, "0", 100); err != nil {
		t.Errorf("what a fork has already, word for word: %v", err)
	}
	if err := keepRecord(t, s, "f", c, "0", 101); !errors.As(err, &full) || full.Details["quota"] != "records" {
		t.Errorf("another version on a fork: %v", err)
	}
	st := stage(t, s, "")
	if _, err := st.DeleteRecords(t.Context(), c, "", []string{"0"}); err != nil {
		t.Fatal(err)
	}
	if err := st.PutRecord(t.Context(), c, "", "3", jsonOf(100), nil); err != nil {
		t.Errorf("in the place of one that is dropped: %v", err)
	}
	before := st.Save()
	if err := st.PutRecord(t.Context(), c, "", "4", jsonOf(100), nil); err == nil {
		t.Error("there was room for one more")
	}
	st.Restore(before)
	stageCommit(t, st, Commit{})
	lowered := notes(1, 10)
	if err := keepRecord(t, s, "", lowered, "3", 50); err != nil {
		t.Errorf("a smaller one, under a quota that was lowered: %v", err)
	}
	dropRecord(t, s, "", lowered, "1")
	if got := useOf(t, s, "notes"); got != (Use{Records: 2, Bytes: 152}) {
		t.Errorf("it keeps %+v", got)
	}
}

func TestTheLastRoomIsTakenOnce(t *testing.T) {
	s := testSpace(t)
	c := notes(20, 0)
	var kept atomic.Int64
	var writing sync.WaitGroup
	for i := range 60 {
		writing.Go(func() {
			if err := keepRecord(t, s, "", c, fmt.Sprint(i), 20); err == nil {
				kept.Add(1)
			}
		})
	}
	writing.Wait()
	if use := useOf(t, s, "notes"); kept.Load() != 20 || use.Records != 20 {
		t.Errorf("%d of 60 were kept, and %+v counted", kept.Load(), use)
	}
	dropRecord(t, s, "", c, firstRecord(t, s, c))
	if err := keepRecord(t, s, "", c, "one more", 20); err != nil {
		t.Errorf("in the room that was freed: %v", err)
	}
}

func firstRecord(t testing.TB, s *Space, c Collection) string {
	t.Helper()
	list, _, err := stage(t, s, "").ListRecords(t.Context(), c, "", "", "", 1)
	if err != nil || len(list) == 0 {
		t.Fatalf("there is no record: %v", err)
	}
	return list[0].Key
}

func TestAStageThatIsDroppedOrLosesKeepsNoRoom(t *testing.T) {
	s := testSpace(t)
	c := notes(1, 0)
	st, other := stage(t, s, ""), stage(t, s, "")
	for _, each := range []*Stage{st, other} {
		if err := each.PutRecord(t.Context(), c, "", "k", jsonOf(20), nil); err != nil {
			t.Fatal(err)
		}
	}
	stageCommit(t, other, Commit{})
	if _, err := st.Commit(t.Context(), Commit{}); err == nil {
		t.Fatal("both were committed")
	}
	dropRecord(t, s, "", c, "k")
	if err := keepRecord(t, s, "", c, "k2", 20); err != nil || useOf(t, s, "notes").Records != 1 {
		t.Errorf("%v; it keeps %+v", err, useOf(t, s, "notes"))
	}
}

func TestRecordsThatExpiredAreNotCounted(t *testing.T) {
	now := testclock.At(time.Date(2026, 1, 1, 0, 30, 0, 0, time.UTC))
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, now.Now)
	c := notes(2, 0)
	c.Expires = time.Hour
	for _, key := range []string{"a", "b"} {
		if err := keepRecord(t, s, "", c, key, 20); err != nil {
			t.Fatal(err)
		}
	}
	if err := keepRecord(t, s, "", c, "c", 20); err == nil {
		t.Error("there was room")
	}
	now.Add(2 * time.Hour)
	if use := useOf(t, s, "notes"); use != (Use{}) {
		t.Errorf("after they expired: %+v", use)
	}
	for _, key := range []string{"a", "c"} { // one of them in the place of one that expired
		if err := keepRecord(t, s, "", c, key, 20); err != nil {
			t.Errorf("keep %s: %v", key, err)
		}
	}
	closeSpace()
	s, closeSpace = openSpace(t, dir, now.Now)
	defer closeSpace()
	if use := useOf(t, s, "notes"); use.Records != 2 {
		t.Errorf("after a restart: %+v", use)
	}
}

func TestAPurgedRecordIsNotCounted(t *testing.T) {
	s := testSpace(t)
	put(t, s, "", "k", "hunter2-hunter2")
	st := stage(t, s, "")
	if err := st.PutRecord(t.Context(), notes(0, 0), "", "copy", json.RawMessage(`"hunter2-hunter2"`), nil); err != nil {
		t.Fatal(err)
	}
	stageCommit(t, st, Commit{})
	if _, err := s.Purge(t.Context(), purge.Request{Key: "k"}); err != nil {
		t.Fatal(err)
	}
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if use := useOf(t, s, "notes"); use != (Use{}) {
		t.Errorf("it keeps %+v", use)
	}
}

// Whatever is done, the counts are those that a count of everything finds, at once and after a restart.
func TestCountsOfWhatFamiliesKeepAgreeWithTheStore(t *testing.T) {
	dir := t.TempDir()
	s, closeSpace := openSpace(t, dir, time.Now)
	random := rand.New(rand.NewPCG(1, 2))
	branches := []string{Default}
	families := []string{"notes", "tags"}
	for range 300 {
		branch := branches[random.IntN(len(branches))]
		st := stage(t, s, branch)
		for range 1 + random.IntN(4) {
			c := Collection{Name: families[random.IntN(2)] + "/list", PerSpace: random.IntN(4) == 0}
			key := fmt.Sprint(random.IntN(12))
			if random.IntN(3) == 0 {
				if _, err := st.DeleteRecords(t.Context(), c, "", []string{key}); err != nil {
					t.Fatal(err)
				}
			} else if err := st.PutRecord(t.Context(), c, "", key, jsonOf(2+random.IntN(50)), nil); err != nil {
				t.Fatal(err)
			}
		}
		name := fmt.Sprint("b", random.IntN(6))
		switch random.IntN(8) {
		case 0:
			if _, err := s.Fork(t.Context(), branch, name, AsOf{}, Write{}); err == nil {
				branches = append(branches, name)
			}
		case 1:
			if done, err := st.Commit(t.Context(), Commit{Proposal: name}); err == nil && done.Version != 0 {
				branches = append(branches, name)
			}
			continue
		case 2:
			if _, err := s.Merge(t.Context(), Merge{Source: branch, Target: branches[random.IntN(len(branches))], Strategy: Newest}, Write{}); err != nil && branch != Default {
				t.Log(err) // with itself, or nothing in common
			}
		case 3:
			if last := branches[len(branches)-1]; last != Default && last != branch {
				if err := s.Delete(t.Context(), last, Write{}); err != nil {
					t.Fatal(err)
				}
				branches = branches[:len(branches)-1]
			}
		}
		if _, err := st.Commit(t.Context(), Commit{}); err != nil && random.IntN(2) == 0 {
			t.Log(err)
		}
	}
	if err := s.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	was := map[string]Use{}
	for _, family := range families {
		was[family] = useOf(t, s, family)
		if got := recounted(t, s, family); got != was[family] || got.Records == 0 {
			t.Errorf("%s keeps %+v, and %+v counted anew", family, was[family], got)
		}
	}
	closeSpace()
	s, closeSpace = openSpace(t, dir, time.Now)
	defer closeSpace()
	for _, family := range families {
		if got := useOf(t, s, family); got != was[family] {
			t.Errorf("%s keeps %+v after a restart, %+v before", family, got, was[family])
		}
	}
}

// Counting begins while others write.
func TestWhatIsWrittenWhileItIsCountedIsCountedOnce(t *testing.T) {
	s := testSpace(t)
	c := notes(0, 0)
	var writing sync.WaitGroup
	for w := range 4 {
		writing.Go(func() {
			for i := range 50 {
				if err := keepRecord(t, s, "", c, fmt.Sprint(w, "-", i), 20); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		if err := s.countAll(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	writing.Wait()
	if use := useOf(t, s, "notes"); use.Records != 200 || use != recounted(t, s, "notes") {
		t.Errorf("it keeps %+v", use)
	}
}

func BenchmarkARecordIsPut(b *testing.B) {
	s := testSpace(b)
	c := notes(1<<40, 1<<40)
	st := stage(b, s, "")
	value := jsonOf(200)
	for i := 0; b.Loop(); i++ {
		if i%10_000 == 0 {
			st = stage(b, s, "")
		}
		if err := st.PutRecord(b.Context(), c, "", fmt.Sprint(i), value, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkARecordIsPutAndCommitted(b *testing.B) {
	s := testSpace(b)
	c := notes(1<<40, 1<<40)
	for i := 0; b.Loop(); i++ {
		if err := keepRecord(b, s, "", c, fmt.Sprint(i), 200); err != nil {
			b.Fatal(err)
		}
	}
}
