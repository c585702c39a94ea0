package layout

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

func FuzzTail(f *testing.F) {
	p := store.Point{Version: 7, Time: time.UnixMicro(1e15).UTC()}
	raw := keycode.Encode(store.Key{Namespace: "n", Collection: "c", Name: "k"})
	for _, tail := range []Tail{{}, {Request: []byte("c\x00r"), Outcome: []byte("{}")}, {Changes: []TailChange{{1, raw, false}, {1 << 40, raw, true}}}} {
		value, ok := EncodeTailed(p, tail, []byte("note"))
		if !ok {
			f.Fatal("it is too long")
		}
		f.Add(value)
	}
	f.Add([]byte{128, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, value []byte) {
		points, version := TableOf(KindPoints, 0), U64(p.Version)
		sealed := points.Seal(version, value)
		tail, err := points.Tail(version, sealed)
		if err != nil || tail == nil {
			return
		}
		at, err := points.Noted(version, sealed)
		if err != nil {
			t.Fatal(err)
		}
		back, ok := EncodeTailed(at.Point, *tail, at.Note)
		if !ok {
			return
		}
		again, err := points.Tail(version, points.Seal(version, back))
		if err != nil || !bytes.Equal(again.Request, tail.Request) || len(again.Changes) != len(tail.Changes) {
			t.Errorf("%x is written as %x: %v", value, back, err)
		}
		for i, c := range again.Changes {
			if was := tail.Changes[i]; c.Branch != was.Branch || c.Deleted != was.Deleted || !bytes.Equal(c.Raw, was.Raw) {
				t.Errorf("change %d is %v and was %v", i, c, was)
			}
		}
	})
}

func TestATailThatIsTooLongIsNotWritten(t *testing.T) {
	p := store.Point{Version: 1, Time: time.UnixMicro(1)}
	if _, ok := EncodeTailed(p, Tail{Request: bytes.Repeat([]byte("r"), tailBytes)}, nil); ok {
		t.Error("its request alone is longer")
	}
	many := slices.Repeat([]TailChange{{Raw: []byte("key\x00\x00\x00\x01")}}, tailBytes/8)
	if _, ok := EncodeTailed(p, Tail{Changes: many}, nil); ok {
		t.Error("its changes are longer")
	}
}
