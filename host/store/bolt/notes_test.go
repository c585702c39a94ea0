package bolt_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt"
)

func TestAPurgedNoteIsNowhereInTheDirectoryAndIncrementsDropIt(t *testing.T) {
	s := small(t)
	e := s.open(s.dir, bolt.Options{})
	defer e.Close()
	version := s.commit(e, store.Batch{Writes: []store.Write{{Branch: 1, Key: stageKey("k"), Value: []byte("v")}}, Note: []byte("a secret agent")})
	s.note(e)
	full, _ := pieces(t, e, 0)
	since := s.head(e)
	if !slices.ContainsFunc(full, func(p store.Piece) bool { return string(p.Note) == "a secret agent" }) {
		t.Fatal("the dump lacks the note")
	}
	s.ok(e.PurgeNotes(t.Context(), []uint64{version, version + 1}))
	s.ok(e.Erase(t.Context()))
	s.ok(e.Check(t.Context()))
	if found := grep(t, s.dir, "secret agent"); found != "" {
		t.Errorf("the note is still in %s", found)
	}
	s.note(e)
	increment, _ := pieces(t, e, since)
	dir := load(t, full, increment)
	if found := grep(t, dir, "secret agent"); found != "" {
		t.Errorf("the note is in %s", found)
	}
	loaded := s.open(dir, bolt.Options{})
	defer loaded.Close()
	s.ok(loaded.Check(t.Context()))
	_, want := pieces(t, e, 0)
	if _, got := pieces(t, loaded, 0); got != want {
		t.Error("full dump and increment together are not the later state")
	}
}

func TestANoteBeyondTheLimitIsNotLoaded(t *testing.T) {
	l, err := bolt.NewLoader(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Abort()
	err = l.Add(store.Piece{Point: &store.Point{Version: 1, Time: time.UnixMicro(1)}, Note: make([]byte, store.NoteLimit+1)})
	if err == nil {
		err = l.Finish(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), "at most 32768") {
		t.Errorf("it is loaded: %v", err)
	}
}
