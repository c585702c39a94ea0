package audit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func openLog(t testing.TB, o Options) *Log {
	t.Helper()
	l, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closed(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// filled makes a log with some calls, and returns its folder and its head.
func filled(t testing.TB, o Options, calls int) (string, Head) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	l := openLog(t, o)
	for i := range calls {
		l.Add(Entry{Kind: Called, Family: "notes", Call: fmt.Sprint(i), Outcome: "ok"})
		if i%10 == 0 {
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	h, err := l.Head()
	if err != nil {
		t.Fatal(err)
	}
	closed(t, l)
	return o.Dir, h
}

func verified(t testing.TB, dir string, heads ...Head) Report {
	t.Helper()
	r, err := Verify(dir, heads)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func list(t testing.TB, dir string) (all []Entry) {
	t.Helper()
	if err := Read(dir, func(_ []byte, e Entry) bool { all = append(all, e); return true }); err != nil {
		t.Fatal(err)
	}
	return all
}

func newest(t testing.TB, dir string) string {
	t.Helper()
	names, err := files(dir)
	if err != nil || len(names) == 0 {
		t.Fatalf("files of the log %q, %v, want one or more", names, err)
	}
	return names[len(names)-1]
}

func change(t testing.TB, name string, edit func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, edit(data), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// files lists the files of a log, oldest first.
func files(dir string) (paths []string, err error) {
	list, err := folder(dir).List()
	for _, s := range list {
		paths = append(paths, s.Path)
	}
	return paths, err
}

func TestALogIsVerifiedAgainstTheHeadsThatWereKept(t *testing.T) {
	dir, first := filled(t, Options{}, 20)
	_, second := filled(t, Options{Dir: dir}, 20)
	r := verified(t, dir, first, second)
	if len(r.Problems) != 0 || r.Checked != 2 || r.Entries != 42 || r.Head.Hash != second.Hash {
		t.Errorf("Verify = %+v, want 42 entries, both heads checked, and no problems", r)
	}
}

func TestTamperingIsFound(t *testing.T) {
	inMiddle := func(data []byte, edit func(line []byte) []byte) []byte {
		lines := bytes.SplitAfter(data, []byte("\n"))
		lines[5] = edit(lines[5])
		return bytes.Join(lines, nil)
	}
	rechained := func(data []byte, from int, edit func(*Entry)) []byte { // by one who knows the format
		var out []byte
		prev := hash{}
		for i, line := range bytes.SplitAfter(data, []byte("\n")) {
			if len(line) == 0 {
				continue
			}
			body, _, err := split(line)
			if err != nil {
				t.Fatal(err)
			}
			e, err := decode(body)
			if err != nil {
				t.Fatal(err)
			}
			if i == from {
				edit(&e)
			}
			out, prev = appendLine(out, prev, &e)
		}
		return out
	}
	for _, c := range []struct {
		name     string
		anchored bool // found only with a head that was kept elsewhere
		edit     func([]byte) []byte
		says     string
	}{
		{"a byte changed", false, func(d []byte) []byte {
			return inMiddle(d, func(l []byte) []byte { return bytes.Replace(l, []byte("notes"), []byte("mites"), 1) })
		}, "was changed"},
		{"a hash changed", false, func(d []byte) []byte {
			return inMiddle(d, func(l []byte) []byte { l[len(l)-5] ^= 1; return l })
		}, "was changed"},
		{"a line removed", false, func(d []byte) []byte { return inMiddle(d, func([]byte) []byte { return nil }) }, "was changed"},
		{"a line repeated", false, func(d []byte) []byte {
			return inMiddle(d, func(l []byte) []byte { return append(bytes.Clone(l), l...) })
		}, "was changed"},
		{"a line of something else", false, func(d []byte) []byte { return inMiddle(d, func([]byte) []byte { return []byte("{}\n") }) }, "it is not an entry"},
		{"a long line", false, func(d []byte) []byte {
			return inMiddle(d, func([]byte) []byte { return append(bytes.Repeat([]byte("x"), 3*longestLine), '\n') })
		}, "it is not an entry"},
		{"truncated", true, func(d []byte) []byte { return d[:bytes.LastIndexByte(d[:len(d)-1], '\n')+1] }, "truncated"},
		{"changed and chained again", true, func(d []byte) []byte { return rechained(d, 5, func(e *Entry) { e.Family = "other" }) }, "is another one than was kept"},
	} {
		dir, head := filled(t, Options{}, 20)
		change(t, newest(t, dir), c.edit)
		alone, anchored := verified(t, dir), verified(t, dir, head)
		if found := len(alone.Problems) > 0; found == c.anchored {
			t.Errorf("%s: without an anchor: %v", c.name, alone.Problems)
		}
		if !strings.Contains(strings.Join(anchored.Problems, "\n"), c.says) {
			t.Errorf("%s: with an anchor: %v", c.name, anchored.Problems)
		}
	}
}

func TestAnOlderCopyThatWasContinuedIsFoundByAHeadKeptElsewhere(t *testing.T) {
	dir, _ := filled(t, Options{}, 5)
	old, err := os.ReadFile(newest(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	_, head := filled(t, Options{Dir: dir}, 5)
	change(t, newest(t, dir), func([]byte) []byte { return old })
	if _, after := filled(t, Options{Dir: dir}, 50); after.Seq <= head.Seq {
		t.Fatalf("the replayed log has only %d entries", after.Seq)
	}
	if r := verified(t, dir); len(r.Problems) != 0 {
		t.Errorf("alone it says %v", r.Problems)
	}
	if r := verified(t, dir, head); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "changed or replaced") {
		t.Errorf("with a head it says %v", r.Problems)
	}
}

func TestARemovedFileIsFound(t *testing.T) {
	dir, _ := filled(t, Options{Bytes: 2000}, 60)
	names, err := files(dir)
	if err != nil || len(names) < 4 {
		t.Fatalf("files of the log %q, %v, want 4 or more", names, err)
	}
	if r := verified(t, dir); len(r.Problems) != 0 || r.Files != len(names) {
		t.Fatalf("before: %+v", r)
	}
	if err := os.Remove(names[2]); err != nil {
		t.Fatal(err)
	}
	if r := verified(t, dir); len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "does not continue") {
		t.Errorf("problems %q, want that one file does not continue another", r.Problems)
	}
}

func TestATornLineIsRemovedAndNamed(t *testing.T) {
	dir, _ := filled(t, Options{}, 5)
	change(t, newest(t, dir), func(d []byte) []byte { return append(d, `{"seq":8,"kin`...) })
	if r := verified(t, dir); r.Torn != 13 {
		t.Errorf("before: %+v", r)
	}
	_, head := filled(t, Options{Dir: dir}, 1)
	all := list(t, dir)
	if r := verified(t, dir, head); len(r.Problems) != 0 || r.Torn != 0 || all[6].Kind != Repaired || !strings.Contains(all[6].Detail, "13 bytes") {
		t.Errorf("after: %+v, %+v", r, all[6:])
	}
}

func TestADamagedFileIsLeftAndTheLogGoesOn(t *testing.T) {
	for name, edit := range map[string]func([]byte) []byte{
		"a changed line": func(d []byte) []byte { return bytes.Replace(d, []byte("notes"), []byte("mites"), 1) },
		"nothing left":   func([]byte) []byte { return nil },
		"zeroes":         func(d []byte) []byte { return make([]byte, len(d)) },
	} {
		dir, _ := filled(t, Options{}, 5)
		damaged := newest(t, dir)
		change(t, damaged, edit)
		before, _ := os.ReadFile(damaged)
		filled(t, Options{Dir: dir}, 5)
		if after, err := os.ReadFile(damaged); err != nil || !bytes.Equal(before, after) && len(before) > 0 && before[0] != 0 {
			t.Errorf("%s: the file changed: %v", name, err)
		}
		if r := verified(t, dir); len(r.Problems) == 0 || r.Files != 2 {
			t.Errorf("%s: Verify = %+v, want problems, and 2 files", name, r)
		}
	}
}

func TestTheOldestFilesMakeRoomAndTheLogSaysSo(t *testing.T) {
	dir, head := filled(t, Options{Bytes: 2000, Kept: 10_000}, 300)
	var sum int64
	names, _ := files(dir)
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		sum += info.Size()
	}
	r := verified(t, dir, Head{Seq: 1, Hash: strings.Repeat("0", 64)}, head)
	if sum > 12_000 || len(r.Problems) != 0 || r.First == 1 || r.Older != 1 || r.Checked != 1 {
		t.Errorf("%d bytes, %+v", sum, r)
	}
	if all := list(t, dir); !strings.Contains(fmt.Sprint(all), "the log keeps 10000 bytes") {
		t.Errorf("it has no entry of what was dropped")
	}
}

func TestEntriesOfCommitsThatACrashLostAreRestored(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Head: 10})
	commit := func(version uint64) {
		call := Entry{Kind: Called, Family: "notes", Call: fmt.Sprint("c", version)}
		call.Seq = l.Add(call)
		l.Committing(call)(version, "default")
	}
	commit(11)
	slow := l.Committing(Entry{}) // commits version 12
	commit(13)
	if err := l.Flush(); err != nil {
		t.Fatal(err)
	}
	commit(14) // and the process is killed
	_ = slow
	var asked uint64
	commits := func(after uint64, visit func(Entry)) error {
		asked = after
		for version := uint64(15); version > after; version-- {
			if version != 15 { // of a user
				visit(Entry{Family: "notes", Call: fmt.Sprint("c", version), Version: version, Fuel: 7})
			}
		}
		return nil
	}
	for range 2 { // the second time nothing is lost
		closed(t, openLog(t, Options{Dir: dir, Head: 15, Commits: commits}))
	}
	var got []string
	for _, e := range list(t, dir) {
		if e.Kind == Recovered {
			got = append(got, fmt.Sprint(e.Version, " ", e.Call, " ", e.Fuel))
		}
	}
	if asked != 11 || fmt.Sprint(got) != "[12 c12 7 14 c14 7]" {
		t.Errorf("after %d it restored %v", asked, got)
	}
	if r := verified(t, dir); len(r.Problems) != 0 {
		t.Errorf("problems %q, want none", r.Problems)
	}
}

func TestNothingIsRestoredTwiceAfterAFileEnded(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Bytes: 1200})
	slow := l.Committing(Entry{})
	for version := uint64(2); version < 20; version++ {
		l.Committing(Entry{Family: "notes"})(version, "default")
		if err := l.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	slow(1, "default")
	closed(t, l)
	names, _ := files(dir)
	for _, name := range names[len(names)-1:] { // the last entries are lost
		change(t, name, func(d []byte) []byte { return d[:bytes.IndexByte(d, '\n')+1] })
	}
	restored := map[uint64]int{}
	closed(t, openLog(t, Options{Dir: dir, Bytes: 1200, Head: 19, Commits: func(after uint64, visit func(Entry)) error {
		for version := after + 1; version < 20; version++ {
			visit(Entry{Family: "notes", Version: version})
		}
		return nil
	}}))
	for _, e := range list(t, dir) {
		if e.Version != 0 {
			restored[e.Version]++
		}
	}
	if restored[1] != 1 || restored[19] != 1 || len(restored) != 19 {
		t.Errorf("entries by version: %v", restored)
	}
}

func TestAStoreThatWasRestoredToAnOlderVersionLosesNoNewEntries(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Head: 50})
	l.Committing(Entry{Family: "notes"})(60, "default")
	closed(t, l)
	closed(t, openLog(t, Options{Dir: dir, Head: 30}))
	found := 0
	closed(t, openLog(t, Options{Dir: dir, Head: 60, Commits: func(after uint64, visit func(Entry)) error {
		if after != 30 {
			t.Errorf("it asks after %d", after)
		}
		visit(Entry{Family: "notes", Version: 60})
		return nil
	}}))
	for _, e := range list(t, dir) {
		if e.Kind == Recovered {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d were restored", found)
	}
}

func TestALogThatCannotBeWrittenSaysSoAndLosesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved")
	}
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir})
	file := newest(t, dir)
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	l.Add(Entry{Kind: Called, Family: "notes"})
	l.tick()
	if l.Ready() == nil {
		t.Error("it is ready")
	}
	for range 3 * mostPending {
		l.Add(Entry{Kind: Refused, Family: "notes"})
	}
	if len(l.pending) > mostPending {
		t.Errorf("%d entries are in memory", len(l.pending))
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	if err := l.Ready(); err != nil {
		t.Errorf("it is not ready: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	all := list(t, dir)
	if r := verified(t, dir); len(r.Problems) != 0 || all[1].Kind != Called || all[len(all)-1].Kind != Dropped || !strings.Contains(all[len(all)-1].Detail, "could not be written") {
		t.Errorf("%+v, and the last entry %+v", r, all[len(all)-1])
	}
}

func TestManyEntriesAreWrittenBeforeTheirSecondAndMadeDurableByNoCaller(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := openLog(t, Options{Dir: dir})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { l.Run(ctx) })
		for range manyPending - 1 {
			called(l)
		}
		synctest.Wait() // the clock stands still
		if all := list(t, dir); len(all) != 1 {
			t.Errorf("%d entries are written before they are many", len(all))
		}
		called(l)
		synctest.Wait()
		if all := list(t, dir); len(all) != 1+manyPending {
			t.Errorf("%d entries are written", len(all))
		}
		cancel()
		running.Wait()
		for range mostPending { // which the callers write themselves
			called(l)
		}
		if all := list(t, dir); len(all) != 1+manyPending+mostPending || len(l.pending) != 0 || !l.lines.Dirty() {
			t.Errorf("%d entries are written, %d are in memory, and synced is %v", len(all), len(l.pending), !l.lines.Dirty())
		}
		closed(t, l)
	})
	if r := verified(t, dir); len(r.Problems) != 0 || r.Entries != 1+manyPending+mostPending {
		t.Errorf("Verify = %+v, want %d entries and no problems", r, 1+manyPending+mostPending)
	}
}

func TestGuestsAndClientsCannotMakeEntriesLarge(t *testing.T) {
	long := strings.Repeat("\x01", 100_000)
	e := Entry{Kind: Called, Family: long, Work: long, Agent: long, Key: long, Client: long, Session: long, Call: long, Namespace: long, Branch: long, Outcome: long, Detail: long}
	for i := range 300 {
		e.Deny(fmt.Sprint(i, long), long)
		e.Used(fmt.Sprint("op", i))
	}
	if n := len(e.Account()); n > mostAccount {
		t.Errorf("an account has %d bytes", n)
	}
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir})
	l.Add(e)
	closed(t, l)
	data, err := os.ReadFile(newest(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		if len(line) > longestLine {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
	all := list(t, dir)
	if got := all[1]; len(got.Denied) != mostDenials || got.Denied[mostDenials-1].Count != 300-mostDenials+1 || len(got.Ops) != mostOps+1 {
		t.Errorf("%d denials, %d operations", len(got.Denied), len(got.Ops))
	}
}

func TestConcurrentEntriesAreChained(t *testing.T) {
	dir := t.TempDir()
	l := openLog(t, Options{Dir: dir, Bytes: 50_000, Clock: testclock.At(time.Unix(1, 0)).Now})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				l.Add(Entry{Kind: Called, Family: "notes"})
				if i%100 == 0 {
					_ = l.Flush()
				}
			}
		})
	}
	all.Wait()
	closed(t, l)
	if r := verified(t, dir); len(r.Problems) != 0 || r.Entries < 4001 {
		t.Errorf("Verify = %+v, want 4001 entries or more, and no problems", r)
	}
}

func TestAnAnchorFileIsReadWithItsTornEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	h := Head{Seq: 1, Hash: strings.Repeat("ab", 32), Time: time.Unix(1, 0).UTC()}
	for range 2 {
		if err := FileAnchor(path).Keep(t.Context(), h); err != nil {
			t.Fatal(err)
		}
	}
	change(t, path, func(d []byte) []byte { return append(d, `{"seq"`...) })
	if got, err := Anchored(path); err != nil || len(got) != 2 || got[1] != h {
		t.Errorf("Anchored = %v, %v, want the head twice", got, err)
	}
	change(t, path, func(d []byte) []byte { return append([]byte("{}\n"), d...) })
	if _, err := Anchored(path); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("a line without a hash: %v", err)
	}
}

func TestALineIsWhatItsEntryIs(t *testing.T) {
	odd := "a\"\\\x00<é\u2028"
	ops := map[string]int{odd: 2}
	for i := range mostOps {
		ops[fmt.Sprint("memory.", i)] = i
	}
	full := Entry{1, time.Unix(1, 5).UTC(), Called, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, odd, true, ops, []Denial{{odd, odd, 3}}, 4, 5, 6, odd, 7, 8, 9, odd, odd, odd, true, odd}
	if got, err := Restored(full.Account()); err != nil || !reflect.DeepEqual(got.Ops, ops) || got.Fuel != full.Fuel {
		t.Errorf("the account has %+v, %v", got, err)
	}
	for _, e := range []Entry{full, {Seq: 1, Time: time.Unix(1, 0).UTC(), Kind: Began}} {
		line, h := appendLine(nil, hash{1}, &e)
		body, of, err := split(line)
		if err != nil || h != of || chained(hash{1}, body) != h {
			t.Fatalf("split(%q): hash %x, %v, want %x", line, of, err, h)
		}
		if got, err := decode(body); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%+v is read as %+v, %v", e, got, err)
		}
	}
}

func BenchmarkEntries(b *testing.B) {
	l := openLog(b, Options{Dir: b.TempDir()})
	e := Entry{Kind: Called, Family: "notes", Digest: strings.Repeat("a", 64), Work: "tool notes_do", Agent: "ann", Client: "editor", Session: "s", Call: "c", Namespace: "default", Branch: "default", Fuel: 100, Memory: 65536, Took: 100, Outcome: "ok"}
	for i := 0; b.Loop(); i++ {
		if l.Add(e); i%1000 == 0 {
			l.tick()
		}
	}
	closed(b, l)
}

func FuzzLines(f *testing.F) {
	line, _ := appendLine(nil, hash{}, &Entry{Seq: 1, Kind: Called})
	f.Add(line)
	f.Add([]byte(`{"seq":1,"hash":"`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c := checker{}
		if body, h, err := c.check(line); err == nil && chained(hash{}, body) != h && !bytes.Contains(body, []byte("prev")) {
			t.Errorf("%q was taken with a wrong hash", line)
		}
	})
}
