package bolt_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// newestHead is where the newer one of a file's two first pages begins.
func newestHead(data []byte) int {
	if binary.LittleEndian.Uint64(data[16+48:]) > binary.LittleEndian.Uint64(data[4096+16+48:]) {
		return 0
	}
	return 4096
}

// damage changes a closed store's file.
func (s *stage) damage(how func(data []byte)) {
	s.t.Helper()
	path := filepath.Join(s.dir, "alcove.db")
	data, err := os.ReadFile(path)
	s.ok(err)
	how(data)
	s.ok(os.WriteFile(path, data, 0o600))
}

// last is a store whose newest commit is known.
func last(t *testing.T) *stage {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("last"), Value: []byte("of the newest commit")}}})
	s.ok(bolt.Abandon(e))
	return s
}

func TestAFirstPageThatIsDamagedIsNamedAndMendedWithoutLoss(t *testing.T) {
	t.Parallel()
	for name, how := range map[string]func(head []byte){
		"a byte":             func(head []byte) { head[16+50] ^= 0x80 },
		"a byte of the root": func(head []byte) { head[16+16] ^= 3 },
		"all of it":          func(head []byte) { clear(head) },
		"half of it":         func(head []byte) { copy(head[40:], "something else that was not here before") },
	} {
		s := last(t)
		s.damage(func(data []byte) { how(data[newestHead(data):][:4096]) })
		faults, err := driver.Examine(s.dir)
		if err != nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), "two first pages is damaged") && !strings.Contains(faults[0].Error(), "two first pages") {
			t.Errorf("%s: Examine = %v (%v), want one fault that names the two first pages", name, faults, err)
		}
		repaired := s.copyOf(s.dir)
		e := s.open(s.dir, bolt.Options{})
		if got := s.get(e, store.Lineage{{Branch: 1, At: store.Latest}}, "last"); got != "of the newest commit" {
			t.Errorf("%s: the newest commit reads %q", name, got)
		}
		s.ok(e.Check(t.Context()))
		s.ok(e.Close())
		r, err := driver.Repair(t.Context(), repaired.dir, store.Repair{Now: time.Now()})
		if err != nil || len(r.Faults) != 1 || len(r.Aside) != 0 {
			t.Errorf("%s: repair: %+v (%v)", name, r, err)
		}
		e = repaired.open(repaired.dir, bolt.Options{})
		if got := repaired.get(e, store.Lineage{{Branch: 1, At: store.Latest}}, "last"); got != "of the newest commit" {
			t.Errorf("%s: after the repair the newest commit reads %q", name, got)
		}
		s.ok(e.Close())
	}
}

// TestACommitThatNothingLeadsToAnyMoreIsNotGivenAway loses the newest first page, and a page of what it led to.
func TestACommitThatNothingLeadsToAnyMoreIsNotGivenAway(t *testing.T) {
	s := last(t)
	s.damage(func(data []byte) {
		head := newestHead(data)
		root := binary.LittleEndian.Uint64(data[head+16+16:])
		clear(data[head:][:4096])
		clear(data[root*4096:][:4096])
	})
	if _, err := bolt.Open(t.Context(), s.dir, bolt.Options{}); !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "alcove repair") {
		t.Errorf("it is opened: %v", err)
	}
	r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()})
	if err != nil || len(r.Aside) != 1 || !strings.Contains(r.Aside[0].Key, `"last"`) || !strings.Contains(r.Aside[0].Why, "only the damaged first page knew") {
		t.Errorf("the repair does not tell what is lost: %+v (%v)", r, err)
	}
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Check(t.Context()))
	h, err := e.History(t.Context())
	if err != nil || len(h) != 3 || h[1].From != s.head(e) || h[2].From != s.head(e) { // of the copy that the test works on, and of the repair
		t.Errorf("backups from before may be gone on from: the history is %v (%v), want three incarnations", h, err)
	}
}

func TestAnOlderFirstPageThatIsDamagedHindersNothing(t *testing.T) {
	s := last(t)
	s.damage(func(data []byte) { clear(data[4096-newestHead(data):][:4096]) })
	if faults, err := driver.Examine(s.dir); err != nil || len(faults) != 1 {
		t.Errorf("Examine = %v (%v), want one fault", faults, err)
	}
	e := s.open(s.dir, bolt.Options{})
	s.note(e)
	s.ok(e.Close())
	if faults, err := driver.Examine(s.dir); err != nil || len(faults) != 0 {
		t.Errorf("the next commit did not write it again: %v (%v)", faults, err)
	}
}

// TestDamageThatHappensWhileItIsOpenEndsInErrors overwrites the pages of an open store one by one. Whatever is read then is an
// answer that is true, or an error; the process lives.
func TestDamageThatHappensWhileItIsOpenEndsInErrors(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be written there")
	}
	s := small(t)
	whole, err := os.ReadFile(filepath.Join(s.dir, "alcove.db"))
	s.ok(err)
	whole = whole[:used(whole)]
	e := s.open(s.dir, bolt.Options{})
	want := s.contents(e)
	s.ok(e.Close())
	failed := 0
	for page := 2; page < len(whole)/4096; page += pace() {
		for _, filling := range []byte{0, 255, 2} {
			failed += s.read(whole, page, filling, want)
		}
	}
	if failed == 0 {
		t.Error("no read ever failed")
	}
}

// read opens a store, damages a page of it, and counts the reads that fail.
func (s *stage) read(whole []byte, page int, filling byte, want map[string]bool) (failed int) {
	s.t.Helper()
	path := filepath.Join(s.dir, "alcove.db")
	s.ok(os.WriteFile(path, whole, 0o600))
	e, err := bolt.Open(s.t.Context(), s.dir, bolt.Options{MapSize: 1 << 20, NoSync: true})
	s.ok(err)
	defer e.Close()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	s.ok(err)
	defer f.Close()
	_, err = f.WriteAt(bytes.Repeat([]byte{filling}, 4096), int64(page)*4096)
	s.ok(err)
	for b := range store.BranchID(28) {
		list, _, err := e.Versions(s.t.Context(), store.Lineage{{Branch: b, At: store.Latest}}, store.Range{}, "", 1<<20)
		if err != nil {
			failed++
		}
		for _, v := range list {
			if line := fmt.Sprintf("entry %d %s at version %d %t %s", v.Branch, v.Key, v.Version, v.Deleted, v.Value); !want[line] {
				s.t.Errorf("page %d: it says %.100q", page, line)
			}
		}
	}
	_ = e.Check(s.t.Context())
	_, _ = e.Commit(s.t.Context(), store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("more"), Value: []byte("v")}}})
	return failed
}

// TestExaminingNeedsAFewPagesOfMemory compares what is allocated for a small file with what is for one that is far larger.
func TestExaminingAndRepairingNeedLittleMemory(t *testing.T) {
	s := &stage{t: t, dir: t.TempDir()}
	e := s.open(s.dir, bolt.Options{NoSync: true})
	for i := range 40 {
		var b store.Batch
		for k := range 100 {
			b.Writes = append(b.Writes, store.Write{Branch: 1, Key: stageKey(fmt.Sprintf("k%d.%d", i, k)), Value: bytes.Repeat([]byte{byte(i)}, 8000)})
		}
		s.commit(e, b)
	}
	s.ok(e.Close())
	const enough = 8 << 20
	if got := peak(func() {
		if faults, err := driver.Examine(s.dir); err != nil || len(faults) > 0 {
			t.Errorf("Examine = %v (%v), want no faults", faults, err)
		}
	}); got > enough {
		t.Errorf("to examine 32 MB needs %d bytes of memory at a time", got)
	}
	s.damage(func(data []byte) { data[bytes.Index(data, bytes.Repeat([]byte{7}, 5000))+10] ^= 1 })
	if got := peak(func() {
		if r, err := driver.Repair(t.Context(), s.dir, store.Repair{Now: time.Now()}); err != nil || r.Entries != 3999 {
			t.Errorf("Repair = %d entries, faults %v (%v), want 3999 entries", r.Entries, r.Faults, err)
		}
	}); got > 48<<20 { // a few times a transaction
		t.Errorf("to repair 32 MB needs %d bytes of memory at a time", got)
	}
}

// peak is about how much more memory is in use at a time while something is done.
func peak(do func()) uint64 {
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				runtime.GC()
				runtime.ReadMemStats(&now)
				most = max(most, now.HeapAlloc-min(before.HeapAlloc, now.HeapAlloc))
			}
		}
	}()
	do()
	close(stop)
	<-done
	return most
}

// BenchmarkExamine examines a file of about 100 MB of memories of a few hundred bytes.
func BenchmarkExamine(b *testing.B) {
	dir := b.TempDir()
	e, err := bolt.Open(b.Context(), dir, bolt.Options{NoSync: true})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, e, 1, 250_000)
	if _, err := e.Compact(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := e.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "alcove.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	for b.Loop() {
		if faults, err := driver.Examine(dir); err != nil || len(faults) > 0 {
			b.Fatalf("Examine = %v (%v), want no faults", faults, err)
		}
	}
}
