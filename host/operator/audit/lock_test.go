package audit

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheNewestFileSaysWhichLockFileIsInForce(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Bytes: 2000})
	for _, lock := range []string{"one", "two"} {
		if err := l.Accept([]byte(lock), lock == "two", Entry{Kind: Changed}, []string{"+ " + lock}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 100 {
		l.Add(Entry{Kind: Called, Family: "notes", Call: fmt.Sprint(i)})
	}
	closed(t, l)
	names, err := files(dir)
	if err != nil || len(names) < 3 {
		t.Fatalf("got the files %v, %v; want several", names, err)
	}
	got, err := LastLock(dir)
	if want := (LockState{Digest: LockDigest([]byte("two")), Locked: true}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	if kept := KeptLock(dir, got.Digest, 100); string(kept) != "two" {
		t.Errorf("the copy is %q, want two", kept)
	}
	if kept := KeptLock(dir, LockDigest([]byte("one")), 100); kept != nil {
		t.Errorf("the copy of another lock file is %q, want none", kept)
	}
	change(t, filepath.Join(dir, acceptedFile), func([]byte) []byte { return []byte("three") })
	if kept := KeptLock(dir, got.Digest, 100); kept != nil {
		t.Errorf("a copy that was changed is %q, want none", kept)
	}
	if r := verified(t, dir); len(r.Problems) != 0 {
		t.Errorf("the log has the problems %v", r.Problems)
	}
}

func TestALogWithoutEntriesSaysNothingOfTheLockFile(t *testing.T) {
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		if s, err := LastLock(dir); err != nil || s != (LockState{}) {
			t.Errorf("got %+v, %v; want nothing", s, err)
		}
	}
}

func TestWhatABeginningServerRefusesIsRecordedAndItDoesNotBegin(t *testing.T) {
	dir, broken := t.TempDir(), errors.New("it was edited")
	begin := func(LockState) ([]Entry, error) { return []Entry{{Kind: Edited, Digest: "abc"}}, broken }
	if _, err := Open(Options{Dir: dir, Begin: begin}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	if all := list(t, dir); len(all) != 1 || all[0].Kind != Edited {
		t.Errorf("the log has %+v, want the edit alone", all)
	}
	var last LockState
	closed(t, openLog(t, Options{Dir: dir, Begin: func(s LockState) ([]Entry, error) { last = s; return []Entry{{Kind: Began, Lock: "def"}}, nil }}))
	if last.Refused != "abc" {
		t.Errorf("the next server is told %+v, want what was refused", last)
	}
	if s, err := LastLock(dir); err != nil || s.Refused != "" || s.Digest != "def" {
		t.Errorf("got %+v, %v; want the accepted one alone", s, err)
	}
}

// A log that is opened aside leaves to the next server what a crash lost.
func TestEntriesAddedAsideLeaveTheRestoreOfLostOnesToTheNextServer(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Head: 5})
	l.Committing(Entry{Kind: Called, Family: "notes"})(6, "default")
	closed(t, l)
	aside := openLog(t, Options{Dir: dir, Aside: true})
	aside.Add(Entry{Kind: Changed})
	closed(t, aside)
	lost := func(after uint64, visit func(Entry)) error {
		for v := after + 1; v <= 8; v++ {
			visit(Entry{Family: "notes", Version: v})
		}
		return nil
	}
	closed(t, openLog(t, Options{Dir: dir, Head: 8, Commits: lost}))
	var versions []uint64
	began := 0
	for _, e := range list(t, dir) {
		switch e.Kind {
		case Recovered:
			versions = append(versions, e.Version)
		case Began:
			began++
		}
	}
	if fmt.Sprint(versions) != "[7 8]" || began != 2 {
		t.Errorf("restored are %v, and %d servers began; want 7 and 8, and 2", versions, began)
	}
}

func TestALogThatNoServerHadRestoresNothing(t *testing.T) {
	dir := t.TempDir()
	aside := openLog(t, Options{Dir: dir, Aside: true})
	aside.Add(Entry{Kind: Changed})
	closed(t, aside)
	lost := func(_ uint64, visit func(Entry)) error { visit(Entry{Family: "notes", Version: 3}); return nil }
	closed(t, openLog(t, Options{Dir: dir, Head: 3, Commits: lost}))
	for _, e := range list(t, dir) {
		if e.Kind == Recovered {
			t.Errorf("the commit of an earlier log is restored: %+v", e)
		}
	}
}

func TestALongDifferenceIsSplitAndBounded(t *testing.T) {
	line := strings.Repeat("x", 600)
	var lines []string
	for range 7 {
		lines = append(lines, line)
	}
	parts := Entry{Kind: Changed, Detail: "why:"}.WithLines(lines)
	if len(parts) != 3 || strings.Count(parts[0].Detail+parts[1].Detail+parts[2].Detail, line) != 7 {
		t.Errorf("7 lines of 600 bytes are in %d entries, want all in 3", len(parts))
	}
	for len(lines) < 1000 {
		lines = append(lines, line)
	}
	parts = Entry{Kind: Changed}.WithLines(lines)
	last := parts[len(parts)-1].Detail
	if len(parts) != mostParts || !strings.HasSuffix(last, " more lines") || len(last) > longestDetail {
		t.Errorf("1000 lines are in %d entries, the last of which has %d bytes and ends in %q", len(parts), len(last), last[max(0, len(last)-30):])
	}
}
