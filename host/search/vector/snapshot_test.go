package vector

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// inMemory is a Reader.
type inMemory [][]float32

func (m *inMemory) ReadVector(at uint32, into []float32) error {
	copy(into, (*m)[at])
	return nil
}

// TestARestoredSetFindsTheSame writes a set in parts, restores it, and changes both.
func TestARestoredSetFindsTheSame(t *testing.T) {
	const inAPart = partChunks * chunkRows
	for _, c := range []struct {
		Options
		rows int
	}{{Options{Dimensions: 64, Codes: 1000}, inAPart + 3000}, {Options{Dimensions: 64}, 6000}, {Options{Dimensions: 64, Metric: Dot, Codes: 1000}, 6000}} {
		r, o, n := rand.New(rand.NewPCG(21, 22)), c.Options, c.rows
		kept := &inMemory{}
		s := made(t, o, nil)
		put := func(into *Set, number uint32, v []float32) {
			if err := into.PutKept(number, v, kept, number); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			ready, err := s.Ready(gaussian(r, 64, nil))
			if err != nil {
				t.Fatal(err)
			}
			*kept = append(*kept, ready)
			put(s, uint32(i), ready)
		}
		s.Remove(70)
		parts := written(t, s)
		before := slices.Clone(parts[0])
		again := made(t, o, nil)
		if err := again.Restore(s.coded, parts, map[uint32]Kept{7: {kept, n}}); err != nil {
			t.Fatal(err)
		}
		same := func(when string) {
			t.Helper()
			for _, scan := range []Scan{Auto, Bits, Codes} {
				q := Query{Vector: gaussian(r, 64, nil), K: 20, Scan: scan}
				if got, want := nearest(t, again, q), nearest(t, s, q); !slices.Equal(got, want) {
					t.Errorf("%s, scan %d: %v are near, want %v", when, scan, got, want)
				}
			}
		}
		same("restored")
		last := len(parts) - 1
		if again.HasChanged(0) || again.HasChanged(last) {
			t.Error("a part that was just restored has changed")
		}
		for _, set := range []*Set{s, again} {
			put(set, 70, (*kept)[n-1])
			put(set, 5000, (*kept)[n-2]) // over bits that are lent
		}
		same("changed")
		if !again.HasChanged(0) || last > 0 && again.HasChanged(last) {
			t.Errorf("after changes of the first of %d parts, that it changed is %t and that the last did %t, want the first alone", len(parts), again.HasChanged(0), again.HasChanged(last))
		}
		if !bytes.Equal(parts[0], before) {
			t.Error("a part of the snapshot was written to")
		}
	}
}

// written is a snapshot, whose reader has the number 7.
func written(t *testing.T, s *Set) (parts [][]byte) {
	t.Helper()
	n, _ := s.Parts()
	for i := range n {
		var out bytes.Buffer
		left, err := s.WritePart(&out, i, Out{Lock: &sync.Mutex{}, Number: func(Reader) uint32 { return 7 }})
		if left > 0 || err != nil {
			t.Fatalf("part %d is written without %d vectors, want all: %v", i, left, err)
		}
		parts = append(parts, out.Bytes())
	}
	return parts
}

func TestASnapshotOfAnotherSetIsRefused(t *testing.T) {
	s := made(t, Options{Dimensions: 64}, nil)
	v := make([]float32, 64)
	v[0] = 1
	kept := &inMemory{v}
	if err := s.PutKept(5, v, kept, 0); err != nil {
		t.Fatal(err)
	}
	parts := written(t, s)
	for name, restore := range map[string]func(into *Set) error{
		"other codes": func(into *Set) error { return into.Restore(false, parts, map[uint32]Kept{7: {kept, 1}}) },
		"a part that is cut off": func(into *Set) error {
			return into.Restore(true, [][]byte{parts[0][:100]}, map[uint32]Kept{7: {kept, 1}})
		},
		"a part twice": func(into *Set) error {
			return into.Restore(true, [][]byte{parts[0], parts[0]}, map[uint32]Kept{7: {kept, 1}})
		},
		"another reader":     func(into *Set) error { return into.Restore(true, parts, map[uint32]Kept{8: {kept, 1}}) },
		"a reader with less": func(into *Set) error { return into.Restore(true, parts, map[uint32]Kept{7: {kept, 0}}) },
	} {
		into := made(t, Options{Dimensions: 64}, nil)
		if err := restore(into); err == nil || into.Len() != 0 {
			t.Errorf("%s: %d vectors are restored, want none and an error", name, into.Len())
		}
	}
}
