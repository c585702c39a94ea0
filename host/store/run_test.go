package store_test

import (
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// runPieces is a piece of every kind.
func runPieces() []store.Piece {
	at := store.Point{Version: 7, Time: time.UnixMicro(1_700_000_000_123_456).UTC()}
	key := store.Key{Namespace: "n", Collection: "c", Name: "a\x00\xffb"}
	return []store.Piece{
		{Branches: []store.BranchID{0, 1, 1 << 40}},
		{Point: &at},
		{Point: &at, Note: []byte(`{"by":"x"}`)},
		{Branch: &store.BranchState{ID: 3, Floor: at, Pins: []uint64{2, 5}}},
		{Branch: &store.BranchState{ID: 4}},
		{Branch: &store.BranchState{ID: 5, Floor: at, Keep: []store.Keep{{Versions: 3}, {Namespace: "n", From: 4}}}},
		{Entry: &store.Entry{Key: key, Point: store.Point{Version: 7}, Branch: 3, Value: []byte(`{"a":1}`)}},
		{Entry: &store.Entry{Key: key, Point: store.Point{Version: 6}, Branch: 3, Value: []byte{}}},
		{Entry: &store.Entry{Key: key, Point: store.Point{Version: 5}, Branch: 3, Deleted: true}},
		{Counter: &store.CounterRecord{Branch: 3, Key: key, Version: 7, Value: []byte("9")}},
		{Counter: &store.CounterRecord{Branch: 3, Key: key, Version: 2}},
	}
}

func TestARunIsReadAsItWasWritten(t *testing.T) {
	var run []byte
	want := runPieces()
	for _, p := range want {
		run = store.AppendRun(run, p)
	}
	var got []store.Piece
	if err := store.ReadRun(run, func(p store.Piece) error { got = append(got, p); return nil }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// FuzzRun reads anything as a run: nothing panics, what is allocated is in proportion, and what is read can be written and read again.
func FuzzRun(f *testing.F) {
	for _, p := range runPieces() {
		f.Add(store.AppendRun(nil, p))
	}
	f.Add([]byte{1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, run []byte) {
		var pieces []store.Piece
		var err error
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err = store.ReadRun(run, func(p store.Piece) error { pieces = append(pieces, p); return nil })
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 16<<20+1<<10*uint64(len(run)) {
			t.Errorf("%d bytes are allocated for %d", spent, len(run))
		}
		if err != nil {
			return
		}
		var again []byte
		for _, p := range pieces {
			again = store.AppendRun(again, p)
		}
		var got []store.Piece
		if err := store.ReadRun(again, func(p store.Piece) error { got = append(got, p); return nil }); err != nil || !reflect.DeepEqual(got, pieces) {
			t.Errorf("%+v became %+v (%v)", pieces, got, err)
		}
	})
}
