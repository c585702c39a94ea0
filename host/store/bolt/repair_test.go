package bolt_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// small is a stage of a few pages of everything, closed and compact.
func small(t testing.TB) *stage {
	t.Helper()
	return fixtures.small.copy(t, (*stage).fillSmall)
}

func (s *stage) fillSmall() {
	now := time.Now().Add(-time.Hour)
	e := s.open(s.dir, bolt.Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
	for i := range 60 {
		name := "k" + string(rune('a'+i%20))
		s.commit(e, store.Batch{
			Writes:   []store.Write{{Branch: store.BranchID(1 + i%3), Key: stageKey(name), Value: bytes.Repeat([]byte{byte('A' + i%26)}, 50+i*40)}},
			Counters: []store.CounterWrite{{Branch: 1, Key: stageKey(name), Version: uint64(i), Value: fmt.Append(nil, i)}},
			Request:  store.Request{Caller: "c", ID: fmt.Sprint("r", i), Digest: [32]byte{1}},
			Note:     bytes.Repeat(fmt.Appendf(nil, "note %d ", i), i%4),
		})
	}
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 2, Key: stageKey("kb"), Delete: true}}})
	l := store.Lineage{{Branch: 3, At: 61}}
	for i := range 18 {
		l = l.At(s.head(e)).Fork(store.BranchID(10 + i))
		s.commit(e, store.Batch{Writes: []store.Write{{Branch: l[0].Branch, Key: stageKey(fmt.Sprint("deep", i)), Value: []byte("v")}}})
	}
	s.ok(e.Consolidate(s.t.Context(), l))
	s.ok(e.Trim(s.t.Context(), 2, 30, []uint64{9}))
	_, err := e.Purge(s.t.Context(), stageKey("kc"), func(was store.Entry) ([]byte, bool) { return []byte("gone"), was.Branch == 3 })
	s.ok(err)
	_, err = e.PutBlob(s.t.Context(), "b", strings.NewReader("blob"))
	s.ok(err)
	_, err = e.Compact(s.t.Context())
	s.ok(err)
	s.ok(e.Close())
}

func TestAWholeFileHasNoFaults(t *testing.T) {
	for _, s := range []*stage{small(t), newStage(t)} {
		if faults, err := driver.Examine(s.dir); err != nil || len(faults) > 0 {
			t.Errorf("Examine = %v (%v), want no faults", faults, err)
		}
		r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()})
		if err != nil || r.Folder != "" {
			t.Errorf("a repair of what is whole: %+v (%v)", r, err)
		}
	}
}

func TestARepairKeepsWhatWasPurgedAndWhichRequestsWereMade(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	request := store.Request{Caller: "c", ID: "kept", Digest: [32]byte{7}}
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("ka"), Value: []byte("a marked value")}}, Request: request})
	_, err := e.Purge(t.Context(), stageKey("kd"), func(store.Entry) ([]byte, bool) { return []byte("gone"), true })
	s.ok(err)
	s.ok(e.Close())
	path := filepath.Join(s.dir, "alcove.db")
	data, err := os.ReadFile(path)
	s.ok(err)
	s.ok(os.WriteFile(path, bytes.ReplaceAll(data, []byte("a marked value"), []byte("a merked value")), 0o600))
	r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now(), Keep: func(blob string) bool { return blob == "b" }})
	if err != nil || len(r.Aside) != 1 || !strings.Contains(r.Aside[0].Key, "ka") {
		t.Fatalf("Repair = %+v (%v), want the entry ka set aside", r, err)
	}
	e = s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Check(t.Context()))
	if done, err := e.Commit(t.Context(), store.Batch{Request: request}); err != nil || !done.Replayed {
		t.Errorf("the request that was made before is done again: %+v (%v)", done, err)
	}
	if got := s.blob(e, "b"); !strings.HasPrefix(got, "blob") {
		t.Errorf("the blob that was to be kept reads %q", got)
	}
	increment, _ := pieces(t, e, s.head(e))
	if !slices.ContainsFunc(increment, func(p store.Piece) bool { return p.Entry != nil && string(p.Entry.Value) == "gone" }) {
		t.Error("the next increment does not carry what was purged")
	}
}

func TestAFileWithoutAWholeStartIsNotRepaired(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "alcove.db"), make([]byte, 65536), 0o600); err != nil {
		t.Fatal(err)
	}
	if faults, err := driver.Examine(dir); err != nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), "restore a backup") {
		t.Errorf("Examine = %v (%v), want the one fault to restore a backup", faults, err)
	}
	if _, err := driver.Repair(t.Context(), dir, store.Repair{Now: time.Now()}); err == nil || !strings.Contains(err.Error(), "restore a backup") {
		t.Errorf("repair: %v", err)
	}
}

// FuzzRepair gives the reader of pages anything: nothing panics, it ends, and what was repaired is whole.
func FuzzRepair(f *testing.F) {
	s := small(f)
	whole, err := os.ReadFile(filepath.Join(s.dir, "alcove.db"))
	if err != nil {
		f.Fatal(err)
	}
	whole = whole[:used(whole)]
	f.Add([]byte{}, uint32(0), byte(0), uint32(0))
	f.Add([]byte("alcove"), uint32(4096), byte(255), uint32(70000))
	f.Add(bytes.Repeat([]byte{0}, 4096), uint32(40960), byte(1), uint32(4100))
	f.Add(whole[8192:20000], uint32(100000), byte(2), uint32(16))
	f.Fuzz(func(t *testing.T, over []byte, at uint32, flip byte, where uint32) {
		dir := t.TempDir()
		if err := os.CopyFS(filepath.Join(dir, "blobs"), os.DirFS(filepath.Join(s.dir, "blobs"))); err != nil {
			t.Fatal(err)
		}
		damaged := bytes.Clone(whole)
		copy(damaged[int(at)%len(damaged):], over)
		damaged[int(where)%len(damaged)] ^= flip
		if err := os.WriteFile(filepath.Join(dir, "alcove.db"), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		faults, err := driver.Examine(dir)
		if err != nil {
			t.Fatal(err)
		}
		r, err := driver.Repair(t.Context(), dir, store.Repair{Now: time.Now()})
		if err != nil {
			return // it says why
		}
		if len(faults) > 0 && len(r.Faults) == 0 {
			t.Errorf("the repair found nothing, and before there was %v", faults)
		}
		if faults, err := driver.Examine(dir); err != nil || len(faults) > 0 {
			t.Errorf("after the repair of %q there is %v (%v)", r.Faults, faults, err)
		}
		e, err := bolt.Open(t.Context(), dir, bolt.Options{MapSize: 1 << 20, NoSync: true})
		if err != nil {
			t.Fatalf("after the repair: %v", err)
		}
		if err := e.Check(t.Context()); err != nil {
			t.Errorf("after the repair of %q: %v", r.Faults, err)
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

var driver bolt.Driver

// TestARepairThatLostTheVersionsBehindAFloorKnowsThemAgain loses all records behind a branch's floor. Dumps refused such a file: they
// found its floor above its newest version.
func TestARepairThatLostTheVersionsBehindAFloorKnowsThemAgain(t *testing.T) {
	t.Parallel()
	s := worn(t)
	const left, floor = 90, 100
	s.loseAfter(left)
	if _, err := bolt.Open(t.Context(), s.dir, bolt.Options{}); !errors.Is(err, store.ErrDamaged) {
		t.Fatalf("it is opened: %v", err)
	}
	r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()})
	if err != nil || len(r.Faults) == 0 {
		t.Fatalf("Repair = %+v (%v), want faults", r, err)
	}
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Check(t.Context()))
	if head := s.head(e); head != floor {
		t.Errorf("the newest version is %d, and a branch has the floor %d", head, floor)
	}
	s.contents(e)
}

// loseAfter rewrites a closed file without the points and entries after a version, and leaves no trace of them.
func (s *stage) loseAfter(version uint64) {
	s.t.Helper()
	from, err := bbolt.Open(layout.Database(s.dir), 0o600, nil)
	s.ok(err)
	drop := func(b *bbolt.Bucket, later func(key, value []byte) bool) {
		var keys [][]byte
		s.ok(b.ForEach(func(key, value []byte) error {
			if later(key, value) {
				keys = append(keys, bytes.Clone(key))
			}
			return nil
		}))
		for _, key := range keys {
			s.ok(b.Delete(key))
		}
	}
	s.ok(from.Update(func(tx *bbolt.Tx) error {
		drop(tx.Bucket(layout.KindPoints.Bucket()), func(key, _ []byte) bool { return layout.FromU64(key) > version })
		drop(tx.Bucket(layout.KindTime.Bucket()), func(_, value []byte) bool { return layout.FromU64(value[:8]) > version })
		return layout.Branches(tx).ForEachBucket(func(id []byte) error {
			branch := layout.Branches(tx).Bucket(id)
			for _, k := range []layout.Kind{layout.KindEntries, layout.KindValues} {
				drop(branch.Bucket(k.Bucket()), func(key, _ []byte) bool {
					_, at, err := keycode.SplitVersion(key)
					return err == nil && at > version
				})
			}
			drop(branch.Bucket(layout.KindLog.Bucket()), func(key, _ []byte) bool { return layout.ChangeVersion(key) > version })
			return nil
		})
	}))
	to, err := bbolt.Open(filepath.Join(s.dir, "copy"), 0o600, &bbolt.Options{NoFreelistSync: true})
	s.ok(err)
	s.ok(bbolt.Compact(to, from, 1<<20))
	s.ok(errors.Join(to.Close(), from.Close(), os.Rename(filepath.Join(s.dir, "copy"), layout.Database(s.dir))))
}
