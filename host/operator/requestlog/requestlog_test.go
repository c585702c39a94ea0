package requestlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/testing/testclock"
)

func open(t *testing.T, bytes int64) (*Log, *testclock.Clock, string) {
	t.Helper()
	dir, clock := filepath.Join(t.TempDir(), "requests"), testclock.At(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	l, err := Open(Options{Dir: dir, Clock: clock.Now, Bytes: bytes})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l, clock, dir
}

func call(clock *testclock.Clock, key, value string) Entry {
	arguments, _ := json.Marshal(map[string]string{"key": key, "value": value}) // strings always encode
	return Entry{Time: clock.Now(), Agent: "ann", Tool: "memory_store", Branch: "default", Namespace: "default", Arguments: arguments, Outcome: Succeeded, Result: "d"}
}

func all(t *testing.T, dir string) []Entry {
	t.Helper()
	list, err := ReadSince(dir, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEntriesAreKeptForTheirUserAlone(t *testing.T) {
	l, clock, dir := open(t, 0)
	for i := range 3 {
		l.Add(call(clock, fmt.Sprint("k", i), "<v>"))
		clock.Add(time.Minute)
	}
	list := all(t, dir)
	if len(list) != 3 || string(list[2].Arguments) != `{"key":"k2","value":"<v>"}` && string(list[2].Arguments) != `{"key":"k2","value":"\u003cv\u003e"}` || list[2].Agent != "ann" {
		t.Errorf("kept is %+v", list)
	}
	if list, err := ReadSince(dir, clock.Now().Add(-90*time.Second)); err != nil || len(list) != 1 {
		t.Errorf("since then are %d, %v", len(list), err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files of the log %q, %v, want one", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file: %v, %v", info.Mode(), err)
	}
}

func TestTheOldestEntriesMakeRoom(t *testing.T) {
	const limit = 40_000
	l, clock, dir := open(t, limit)
	for i := range 400 { // without the clock moving
		l.Add(call(clock, fmt.Sprintf("k%03d", i), strings.Repeat("v", 500)))
		var sum int64
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			info, err := f.Info()
			if err != nil {
				t.Fatal(err)
			}
			sum += info.Size()
		}
		if sum > limit {
			t.Fatalf("after %d entries there are %d bytes", i+1, sum)
		}
	}
	list := all(t, dir)
	if len(list) < 30 || !bytes.Contains(list[len(list)-1].Arguments, []byte("k399")) {
		t.Errorf("%d entries are left, the last is %s", len(list), list[len(list)-1].Arguments)
	}
}

func TestEntriesExpire(t *testing.T) {
	l, clock, dir := open(t, 0)
	l.Add(call(clock, "old", "v"))
	clock.Add(36 * time.Hour)
	l.Add(call(clock, "new", "v"))
	clock.Add(6*24*time.Hour + 23*time.Hour)
	if err := l.Tidy(); err != nil {
		t.Fatal(err)
	}
	if list := all(t, dir); len(list) != 1 || !bytes.Contains(list[0].Arguments, []byte("new")) {
		t.Errorf("left are %+v", list)
	}
	clock.Add(3 * 24 * time.Hour)
	if again, err := Open(Options{Dir: dir, Clock: clock.Now}); err != nil || len(all(t, dir)) != 0 {
		t.Errorf("after a restart: %v, %+v, %v", all(t, dir), again, err)
	}
}

func TestErasedEntriesAreGoneFromTheFiles(t *testing.T) {
	l, clock, dir := open(t, 8000)
	for i := range 20 {
		l.Add(call(clock, fmt.Sprint("k", i%4), strings.Repeat("v", 100)))
	}
	before := len(all(t, dir))
	n, err := l.Erase(func(line []byte) bool { return bytes.Contains(line, []byte("k2")) })
	if err != nil || n == 0 {
		t.Fatalf("%d were erased, %v", n, err)
	}
	list := all(t, dir)
	if len(list) != before-n {
		t.Errorf("%d of %d are left after %d were erased", len(list), before, n)
	}
	for _, e := range list {
		if bytes.Contains(e.Arguments, []byte("k2")) || e.Result != "" {
			t.Errorf("left is %+v", e)
		}
	}
	l.Add(call(clock, "k9", "v"))
	if list := all(t, dir); !bytes.Contains(list[len(list)-1].Arguments, []byte("k9")) {
		t.Errorf("the last is %+v", list[len(list)-1])
	}
	if n, err := l.Erase(func([]byte) bool { return true }); err != nil || n != len(list)+1 || len(all(t, dir)) != 0 {
		t.Errorf("%d were erased, %v", n, err)
	}
}

func TestWhatALogHoldsIsBoundedAndReadWithCare(t *testing.T) {
	l, clock, dir := open(t, 0)
	l.Add(call(clock, "long", strings.Repeat("v", longestArguments)))
	l.Add(call(clock, "escaped", strings.Repeat("\x01", longestArguments/7)))
	list := all(t, dir)
	if len(list) != 2 || list[0].Arguments != nil || !strings.Contains(list[0].Withheld, "bytes") || list[1].Arguments == nil {
		t.Errorf("kept is %.300v", list)
	}
	for text, want := range map[string]int{
		"": 0,
		`{"time":"2026-05-01T12:00:00Z","tool":"a","outcome":"ok"}` + "\n" + `{"time":"2026-05-`: 1, // cut off by a crash
	} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := Read(path); err != nil || len(list) != want {
			t.Errorf("Read of %q = %+v, %v, want %d entries", text, list, err, want)
		}
	}
	for _, text := range []string{"{}\n", "[]\n", `{"tool":"a"}`, strings.Repeat("x", longestLine+1)} {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := Read(path); err == nil {
			t.Errorf("%.40q is read as %+v", text, list)
		}
	}
}
