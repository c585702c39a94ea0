package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testclock"
)

// aged makes a log that keeps entries for a day, a file every three hours, over some days.
func aged(t *testing.T, days int) (dir string, heads []Head) {
	t.Helper()
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	dir = t.TempDir()
	l := openLog(t, Options{Dir: dir, Keep: 24 * time.Hour, Clock: clock.Now})
	for range days * 24 {
		l.Add(Entry{Kind: Called, Family: "notes"})
		h, err := l.Head()
		if err != nil {
			t.Fatal(err)
		}
		heads = append(heads, h)
		clock.Add(time.Hour)
	}
	closed(t, l)
	return dir, heads
}

func TestEntriesThatAreTooOldMakeRoomAndTheLogGoesOnFromTheirHead(t *testing.T) {
	dir, heads := aged(t, 5)
	r := verified(t, dir, heads...)
	if len(r.Problems) > 0 || r.First == 1 || r.Removed == nil || r.Removed.Seq != r.First-1 {
		t.Fatalf("the log gives %+v, want no problem, and the head of what made room", r)
	}
	all := list(t, dir)
	if age := all[len(all)-1].Time.Sub(all[0].Time); age < 24*time.Hour || age > 31*time.Hour {
		t.Errorf("the oldest entry is %s older than the newest, want a day and at most two files more", age)
	}
	known := map[uint64]string{}
	for _, h := range heads {
		known[h.Seq] = h.Hash
	}
	if known[r.Removed.Seq] != r.Removed.Hash {
		t.Errorf("the log keeps the head %+v, want the one that was kept elsewhere, %s", r.Removed, known[r.Removed.Seq])
	}
	if r := verified(t, dir, Head{Seq: r.Removed.Seq, Hash: strings.Repeat("0", 64)}); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "was deleted") {
		t.Errorf("with another head of what made room the log gives %q", r.Problems)
	}
}

func TestAFileThatWasRemovedByHandIsNotTakenForOneThatMadeRoom(t *testing.T) {
	dir, _ := aged(t, 5)
	names, err := files(dir)
	if err != nil || len(names) < 3 {
		t.Fatalf("files of the log %q, %v, want 3 or more", names, err)
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, dir); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "no entry records the deletion of those before") {
		t.Errorf("problems %q, want that files were removed", r.Problems)
	}
}

func TestNothingIsDeletedBeforeTheEntryThatSaysSoIsWritten(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Keep: 24 * time.Hour, Clock: clock.Now})
	for range 40 {
		l.Add(Entry{Kind: Called, Family: "notes"})
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
		clock.Add(time.Hour)
	}
	l.writing.Lock()
	l.looked = time.Time{}
	clock.Add(24 * time.Hour)
	if err := l.makeRoomByAge(); err != nil {
		t.Fatal(err)
	}
	l.writing.Unlock()
	names, err := files(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(names[0]); err != nil || l.surplus.entry == 0 {
		t.Errorf("the oldest file is gone (%v) before the log says so", err)
	}
	closed(t, l)
	if _, err := os.Stat(names[0]); err == nil {
		t.Errorf("the oldest file %s is still there", filepath.Base(names[0]))
	}
	if r := verified(t, dir); len(r.Problems) > 0 || r.Removed == nil {
		t.Errorf("the log gives %+v, want no problem", r)
	}
}

func TestALogThatWasRestoredWithItsFilesAgreesWithHeadsOfBefore(t *testing.T) {
	clock := testclock.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	add := func(l *Log) Head {
		clock.Add(time.Second)
		l.Add(Entry{Kind: Called, Family: "notes"})
		h, err := l.Head()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	l := openLog(t, Options{Dir: t.TempDir(), Clock: clock.Now})
	before := []Head{add(l), add(l), add(l)}
	head, parts, err := l.Snapshot()
	if err != nil || len(parts) != 1 || !IsPart(parts[0].Name) {
		t.Fatalf("Snapshot = %+v, %v, want one file", parts, err)
	}
	lost := add(l)
	data := make([]byte, parts[0].Bytes)
	if _, err := parts[0].File.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	if err := CloseParts(parts); err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	dir := filepath.Join(t.TempDir(), Folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), parts[0].Name), data, 0o600); err != nil {
		t.Fatal(err)
	}
	clock.Add(time.Hour)
	again := openLog(t, Options{Dir: dir, Clock: clock.Now, Former: &FormerLog{Head: head}})
	after := add(again)
	closed(t, again)
	if r := verified(t, dir, append(before, after)...); len(r.Problems) > 0 || r.Checked != 4 || r.Restored == nil || !r.Restored.Here {
		t.Errorf("with heads of before the backup and after the restore: %+v, want agreement with 4", r)
	}
	if r := verified(t, dir, append(before, lost)...); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "add --restored") {
		t.Errorf("with a head of an entry that was lost: %q, want that it is in the former log", r.Problems)
	}
	r, err := VerifyRestored(dir, append(before, lost))
	if err != nil || len(r.Problems) > 0 || r.Restored.Last != lost.Seq || r.Restored.Heads != 1 {
		t.Errorf("told that it was restored: %+v, %v, want the lost entry %d named", r, err, lost.Seq)
	}
	if text := fmt.Sprint(list(t, dir)); !strings.Contains(text, "the log up to there is restored, too") {
		t.Errorf("the log does not say that it was restored: %s", text)
	}
}
