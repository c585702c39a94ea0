package segments

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// open is a log in a new folder with segments of ten bytes each.
func open(t *testing.T, names ...string) *Log {
	t.Helper()
	l := &Log{Folder: Folder{Dir: filepath.Join(t.TempDir(), "log"), Name: 1}}
	if err := l.Make(); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := l.Begin(name, []byte("segment "+name+"\n")); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func names(list []Segment) (names []string) {
	for _, s := range list {
		names = append(names, s.Name())
	}
	return names
}

func TestTheOldestSegmentsMakeRoomAndTheOpenOneStays(t *testing.T) {
	l := open(t, "1", "2", "3", "4")
	for _, other := range []string{"other" + suffix, "5.txt"} {
		if err := os.WriteFile(filepath.Join(l.Dir, other), []byte("beside"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		most     int64
		obsolete string
		want     []string
	}{{40, "", nil}, {39, "", []string{"1"}}, {30, "3", []string{"3"}}, {0, "", []string{"2"}}} {
		deleted, err := l.Trim(c.most, func(s Segment) bool { return s.Name() == c.obsolete })
		if err != nil || !slices.Equal(names(deleted), c.want) {
			t.Errorf("Trim to %d bytes deleted %q, %v, want %q", c.most, names(deleted), err, c.want)
		}
	}
	if list, err := l.List(); err != nil || !slices.Equal(names(list), []string{"4"}) {
		t.Errorf("the segments are %q, %v, want the open one", names(list), err)
	}
}

func TestWhatIsAppendedIsWholeOrNotThere(t *testing.T) {
	l := open(t, "1")
	path := l.Path("1")
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	broken := Log{file: readOnly, size: l.Size()}
	if err := broken.Append([]byte("lost\n")); err == nil || broken.Size() != 10 || broken.Dirty() {
		t.Errorf("a segment that cannot be written has %d bytes, %v, want an error and 10", broken.Size(), err)
	}
	if err := broken.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("segment 1\ntorn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Continue(path, 10); err != nil {
		t.Fatal(err)
	}
	if err := l.Append([]byte("next\n")); err != nil || !l.Dirty() {
		t.Errorf("append: %v, and dirty is %v", err, l.Dirty())
	}
	if err := l.Sync(); err != nil || l.Dirty() {
		t.Errorf("sync: %v, and dirty is %v", err, l.Dirty())
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "segment 1\nnext\n" {
		t.Errorf("the segment has %q, %v, want what was whole and what was appended", data, err)
	}
}

func TestASegmentThatIsNotWhereReadersLookSaysSo(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved")
	}
	l := open(t, "1")
	if err := l.Present(); err != nil {
		t.Errorf("a segment in its place: %v", err)
	}
	path := l.Path("1")
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := l.Present(); err == nil || !strings.Contains(err.Error(), "moved or deleted") {
		t.Errorf("a moved segment: %v, want that it was moved", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Present(); err == nil || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("another file in its place: %v, want that it was replaced", err)
	}
}

func TestASegmentThatIsDeletedWhileOthersAreReadIsLeftOut(t *testing.T) {
	l := open(t, "1", "2", "3")
	var read []string
	err := l.Each(func(_ string, r io.Reader) error {
		text, err := io.ReadAll(r)
		read = append(read, string(text))
		os.Remove(l.Path("2"))
		return err
	})
	if want := []string{"segment 1\n", "segment 3\n"}; err != nil || !slices.Equal(read, want) {
		t.Errorf("read %q, %v, want %q", read, err, want)
	}
}
