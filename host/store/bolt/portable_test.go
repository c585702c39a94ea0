package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

// pieces is a dump as text.
func pieces(t *testing.T, e *bolt.Engine, since uint64) (list []store.Piece, text string) {
	t.Helper()
	head, err := e.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = e.Dump(t.Context(), since, head.Version, func(p store.Piece) error {
		list = append(list, p)
		out.WriteString(pieceText(p))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list, out.String()
}

func pieceText(p store.Piece) string {
	switch {
	case p.Point != nil:
		return fmt.Sprintf("point %v %s\n", *p.Point, p.Note)
	case p.Branch != nil:
		return fmt.Sprintf("branch %v\n", *p.Branch)
	case p.Entry != nil:
		e := *p.Entry
		e.Time = time.Time{} // its version says it
		return fmt.Sprintf("entry %v\n", e)
	case p.Counter != nil:
		return fmt.Sprintf("counter %v\n", *p.Counter)
	}
	return fmt.Sprintf("branches %v\n", p.Branches)
}

func load(t *testing.T, dumps ...[]store.Piece) (dir string) {
	t.Helper()
	dir = t.TempDir()
	l, err := bolt.NewLoader(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range slices.Concat(dumps...) {
		if err := l.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// variety writes something of every kind.
func variety(s *stage, e *bolt.Engine) {
	s.commit(e, store.Batch{
		Note:     []byte("noted"),
		Writes:   []store.Write{{Branch: 1, Key: stageKey("a\x00b"), Value: []byte{0, 255, '\n'}}, {Branch: 1, Key: stageKey("k0003"), Delete: true}},
		Counters: []store.CounterWrite{{Branch: 1, Key: stageKey("k0001"), Version: s.head(e), Value: []byte(`{"n":3}`)}},
	})
	s.ok(e.Trim(context.Background(), 1, s.floor, []uint64{s.pin}))
}

func TestALoadedDumpIsDumpedTheSameAgain(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	variety(s, e)
	dump, text := pieces(t, e, 0)
	loaded := s.open(load(t, dump), bolt.Options{})
	defer loaded.Close()
	s.ok(loaded.Check(t.Context()))
	if _, again := pieces(t, loaded, 0); again != text {
		t.Error("the dump of what was loaded differs")
	}
	if s.list(loaded, s.lineage) != s.list(e, s.lineage) {
		t.Error("the deepest branch reads differently")
	}
}

func TestALaterDumpOnTopOfAnEarlierOneGivesTheLaterState(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.commit(e, store.Batch{Counters: []store.CounterWrite{{Branch: 1, Key: stageKey("k0001"), Version: s.head(e), Value: []byte("1")}}})
	full, _ := pieces(t, e, 0)
	since := s.head(e)
	s.commit(e, store.Batch{
		Writes:   []store.Write{{Branch: 77, Key: stageKey("late"), Value: []byte("new branch")}},
		Counters: []store.CounterWrite{{Branch: 1, Key: stageKey("k0001"), Version: since + 1, Value: []byte("2")}},
	})
	variety(s, e)
	s.ok(e.Reclaim(t.Context(), s.lineage[0].Branch))
	_, err := e.Purge(t.Context(), stageKey("k0000"), func(was store.Entry) ([]byte, bool) { return []byte("gone"), !was.Deleted })
	s.ok(err)
	increment, _ := pieces(t, e, since)
	if len(increment) >= len(full)*9/10 {
		t.Errorf("the increment has %d pieces, the full dump %d", len(increment), len(full))
	}
	dir := load(t, full, increment)
	loaded := s.open(dir, bolt.Options{})
	defer loaded.Close()
	s.ok(loaded.Check(t.Context()))
	_, want := pieces(t, e, 0)
	if _, got := pieces(t, loaded, 0); got != want {
		t.Error("full and increment together are not the later state")
	}
	if found := grep(t, dir, "root0root0root0"); found != "" {
		t.Errorf("a purged value is in %s", found)
	}
}

// grep names a file below dir that holds a text.
func grep(t *testing.T, dir, text string) (file string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			file = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAPurgedValueIsNowhereInTheDirectory(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Consolidate(t.Context(), s.lineage))
	secret := "root0root0root0"
	if grep(t, s.dir, secret) == "" {
		t.Fatal("the value is not there before: the test finds nothing")
	}
	purged, err := e.Purge(t.Context(), stageKey("k0000"), func(was store.Entry) ([]byte, bool) { return []byte("gone"), !was.Deleted })
	s.ok(err)
	if len(purged) < 3 {
		t.Errorf("%d versions were purged, not all on all branches", len(purged))
	}
	if found := grep(t, s.dir, secret); found != "" {
		t.Errorf("the value is still in %s", found)
	}
	s.ok(e.Check(t.Context()))
	if got := s.get(e, store.Lineage{{Branch: 1, At: s.pin}}, "k0000"); got != "gone" {
		t.Errorf("the purged version reads %q", got)
	}
}

func TestALoadIntoAStoreIsRefusedAndAnAbortedOneLeavesNothing(t *testing.T) {
	s := newStage(t)
	if _, err := bolt.NewLoader(s.dir); !errors.Is(err, store.ErrNotEmpty) {
		t.Errorf("into a store: %v", err)
	}
	dir := t.TempDir()
	l, err := bolt.NewLoader(dir)
	s.ok(err)
	s.ok(l.Add(store.Piece{Branches: []store.BranchID{1}}))
	s.ok(l.Abort())
	files, err := os.ReadDir(dir)
	s.ok(err)
	if len(files) != 1 || files[0].Name() != "blobs" {
		t.Errorf("there is %v", files)
	}
}

func TestCompactingShrinksTheFile(t *testing.T) {
	s := newStage(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	s.ok(e.Reclaim(t.Context(), 1))
	c, err := e.Compact(t.Context())
	s.ok(err)
	if c.After >= c.Before {
		t.Errorf("%d bytes became %d", c.Before, c.After)
	}
	s.note(e)
	s.checkNotes(e)
	s.ok(e.Check(t.Context()))
}
