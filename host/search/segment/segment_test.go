package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"testing"
)

type occurrence struct {
	doc, frequency uint32
	positions      []byte
}

// build makes a segment of random postings, and says what is in it.
func build(rng *rand.Rand, docs, terms int) (data []byte, want map[string][]occurrence) {
	want = map[string][]occurrence{}
	for i := range terms {
		term := fmt.Sprintf("%c%d", 'a'+rune(i%7), rng.Intn(terms*3))
		want[term] = nil
		keep := rng.Float64() * rng.Float64()
		for doc := range docs {
			if rng.Float64() < keep || (doc == i%docs && len(want[term]) == 0) {
				o := occurrence{doc: uint32(doc), frequency: 1}
				if rng.Intn(3) == 0 {
					o.frequency += uint32(rng.Intn(200))
				}
				var places []uint32
				at := uint32(0)
				for range o.frequency {
					at += uint32(rng.Intn(300))
					places = append(places, at)
				}
				o.positions = AppendPositions(nil, places)
				want[term] = append(want[term], o)
			}
		}
		if want[term] == nil {
			delete(want, term)
		}
	}
	w := &Writer{}
	for _, term := range sorted(want) {
		w.Term(term)
		for _, o := range want[term] {
			w.Add(o.doc, o.frequency, o.positions)
		}
	}
	lengths := make([]byte, docs)
	rng.Read(lengths)
	s, err := w.Finish(lengths, []byte("payload"))
	if err != nil {
		panic(err)
	}
	return s.Data(), want
}

func sorted[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func read(p Postings) (list []occurrence) {
	c := p.Cursor()
	for docs, tfs := c.Next(); len(docs) > 0; docs, tfs = c.Next() {
		c.Positions(func(i int, positions []byte) {
			list = append(list, occurrence{docs[i], tfs[i], bytes.Clone(positions)})
		})
	}
	return list
}

func same(a, b occurrence) bool {
	return a.doc == b.doc && a.frequency == b.frequency && bytes.Equal(a.positions, b.positions)
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	for seed := range int64(30) {
		rng := rand.New(rand.NewSource(seed))
		data, want := build(rng, 1+rng.Intn(1000), 1+rng.Intn(120))
		s, err := Open(data)
		if err != nil {
			t.Fatal(err)
		}
		for term, list := range want {
			p, ok := s.Find(term)
			if !ok || p.Count != len(list) || !slices.EqualFunc(read(p), list, same) {
				t.Fatalf("seed %d: %s has other postings", seed, term)
			}
			for i, o := range list {
				if f := p.Frequency(i); f != o.frequency {
					t.Fatalf("seed %d: posting %d of %s has frequency %d, not %d", seed, i, term, f, o.frequency)
				}
			}
			at := uint32(rng.Intn(s.Docs()))
			c := p.Cursor()
			c.Skip(at)
			docs, _ := c.Next()
			i, _ := slices.BinarySearchFunc(list, at, func(o occurrence, at uint32) int { return int(o.doc) - int(at) })
			if i < len(list) && !slices.Contains(docs, list[i].doc) {
				t.Fatalf("seed %d: skipping to %d passed over %d", seed, at, list[i].doc)
			}
		}
		if _, ok := s.Find("zz"); ok {
			t.Error("a term is found that is not there")
		}
		var all, some []string
		s.From("", func(term []byte, _ Postings) bool { all = append(all, string(term)); return true })
		if !slices.Equal(all, sorted(want)) {
			t.Fatalf("terms %v", all)
		}
		s.Prefixed("c1", func(term []byte, _ Postings) bool { some = append(some, string(term)); return true })
		if !slices.Equal(some, slices.DeleteFunc(all, func(s string) bool { return len(s) < 2 || s[:2] != "c1" })) {
			t.Fatalf("with c1 begin %v", some)
		}
	}
}

func TestAnEmptySegmentIsOne(t *testing.T) {
	written, err := (&Writer{}).Finish(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(written.Data())
	if err != nil || s.Docs() != 0 {
		t.Fatalf("Open of an empty segment = %+v, %v, want no documents", s, err)
	}
	if _, ok := s.Find("a"); ok {
		t.Error("it has a term")
	}
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	data, _ := build(rand.New(rand.NewSource(1)), 60, 20)
	for i := range data {
		data[i] ^= 0x10
		if _, err := Open(data); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
		data[i] ^= 0x10
	}
	for size := range data {
		if _, err := Open(data[:size]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
}

// reseal makes checksums right, so that a changed segment gets past them.
func reseal(data []byte) {
	if len(data) < headerSize {
		return
	}
	copy(data, magic)
	rest := data[headerSize:]
	for i := range sections {
		at := data[len(magic)+8+i*12:]
		size := min(binary.LittleEndian.Uint64(at), uint64(len(rest)))
		if i == sections-1 {
			size = uint64(len(rest))
		}
		binary.LittleEndian.PutUint64(at, size)
		binary.LittleEndian.PutUint32(at[8:], checksum(rest[:size]))
		rest = rest[size:]
	}
	binary.LittleEndian.PutUint32(data[headerSize-4:], checksum(data[:headerSize-4]))
}

// FuzzOpen changes segments and mends their checksums: they are refused, or can be read to the end.
func FuzzOpen(f *testing.F) {
	for seed := range int64(4) {
		data, _ := build(rand.New(rand.NewSource(seed)), 10+int(seed)*60, 5)
		f.Add(data, uint32(headerSize+3), byte(1))
		f.Add(data, uint32(len(data)/2), byte(0xff))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint32, change byte) {
		data = bytes.Clone(data)
		if len(data) > 0 {
			data[int(at)%len(data)] ^= change
		}
		if len(data) > 1<<16 {
			return
		}
		reseal(data)
		s, err := Open(data)
		if err != nil {
			return
		}
		s.From("", func(term []byte, p Postings) bool {
			last := int64(-1)
			for _, o := range read(p) {
				if int64(o.doc) <= last || int(o.doc) >= s.Docs() || o.frequency == 0 {
					t.Fatalf("%q has a posting of document %d after %d", term, o.doc, last)
				}
				last = int64(o.doc)
			}
			return true
		})
	})
}

// TestPostingsAddedTogetherAreThoseAddedOneByOne writes the postings of a segment again, all of a term at once, and copied from two
// others.
func TestPostingsAddedTogetherAreThoseAddedOneByOne(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	const docs, shift = 700, 300
	data, want := build(rng, docs, 60)
	whole, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	together, copied := &Writer{}, &Writer{}
	var parts [2]*Writer
	for i := range parts {
		parts[i] = &Writer{}
	}
	for _, term := range sorted(want) {
		var list, tfs []uint32
		var positions []byte
		for i := range parts {
			parts[i].Term(term)
		}
		for _, o := range want[term] {
			list, tfs, positions = append(list, o.doc), append(tfs, o.frequency), append(positions, o.positions...)
			if o.doc < shift {
				parts[0].Add(o.doc, o.frequency, o.positions)
			} else {
				parts[1].Add(o.doc-shift, o.frequency, o.positions)
			}
		}
		together.Term(term)
		together.AddAll(list, tfs, positions)
	}
	var sources []*Segment
	for i, size := range []int{shift, docs - shift} {
		s, err := parts[i].Finish(make([]byte, size), nil)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, s)
	}
	copied.Reserve(sources[0].Positions() + sources[1].Positions())
	var c Cursor
	Merge(sources, func(term string, of []Postings) {
		copied.Term(term)
		for i, p := range of {
			if c.Reset(p); p.Count > 0 {
				copied.AddShifted(&c, uint32(i*shift))
			}
		}
	})
	for name, w := range map[string]*Writer{"together": together, "copied": copied} {
		s, err := w.Finish(whole.Lengths(), whole.Payload())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(s.Data(), data) {
			t.Errorf("%s, the segment differs", name)
		}
	}
}

// TestPositionsBehindASkipAreThoseOfTheirPostings also has positions of more than a byte.
func TestPositionsBehindASkipAreThoseOfTheirPostings(t *testing.T) {
	data, want := build(rand.New(rand.NewSource(8)), 1000, 40)
	s, err := Open(data)
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	for term, list := range want {
		for from := blockSize; from < len(list); from += blockSize {
			p, _ := s.Find(term)
			c := p.Cursor()
			c.Skip(list[from].doc)
			docs, tfs := c.Next()
			c.Positions(func(i int, positions []byte) {
				if got := (occurrence{docs[i], tfs[i], positions}); !same(got, list[from+i]) {
					t.Fatalf("%s: behind a skip to %d there is %v, not %v", term, list[from].doc, got, list[from+i])
				}
			})
			skipped++
		}
	}
	if skipped == 0 {
		t.Error("no list is long enough to be skipped")
	}
}
