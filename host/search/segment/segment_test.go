package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
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
	order := rng.Perm(docs)
	w.Order("order", ids(order...))
	w.Group("all", ids(sortedInts(order)...))
	w.Group("some", ids(sortedInts(order[:docs/2])...))
	digests := make([]uint64, docs)
	for i := range digests {
		digests[i] = digestOfDoc(i)
	}
	w.Digests(digests)
	s, err := w.Finish(lengths, []byte("payload"))
	if err != nil {
		panic(err)
	}
	return s.Data(), want
}

func digestOfDoc(doc int) uint64 { return uint64(doc+1) * 0x9e3779b97f4a7c15 }

func ids(numbers ...int) (list []uint32) {
	for _, n := range numbers {
		list = append(list, uint32(n))
	}
	return list
}

func sortedInts(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func TestListsAreKept(t *testing.T) {
	w := &Writer{}
	order, one := ids(4, 2, 0, 1), ids(3)
	w.Order("a", order)
	w.Order("b", nil)
	w.Group("x1", one)
	w.Group("x2", ids(0, 1, 2, 3, 4))
	w.Group("y", ids(1, 4))
	s, err := w.Finish(make([]byte, 5), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := s.Order("a"); !ok || !slices.Equal(got, order) {
		t.Errorf("order a is %v", got)
	}
	if got, ok := s.Order("b"); !ok || len(got) != 0 {
		t.Errorf("order b is %v", got)
	}
	if _, ok := s.Order("c"); ok {
		t.Error("there is an order c")
	}
	found := ""
	s.Groups("x", func(name string, docs []uint32) { found += fmt.Sprint(name, docs) })
	if found != "x1[3]x2[0 1 2 3 4]" {
		t.Errorf("the groups are %s", found)
	}
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
		s, err := Open("s", data)
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
		for doc := range s.Docs() {
			if d, ok := s.Digest(uint32(doc)); !ok || d != digestOfDoc(doc) {
				t.Fatalf("seed %d: document %d has the digest %x, want %x", seed, doc, d, digestOfDoc(doc))
			}
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
	s, err := Open("s", written.Data())
	if err != nil || s.Docs() != 0 {
		t.Fatalf("Open of an empty segment = %+v, %v, want no documents", s, err)
	}
	if _, ok := s.Find("a"); ok {
		t.Error("it has a term")
	}
	if d, ok := s.Digest(0); ok {
		t.Errorf("its first document has the digest %x, want none", d)
	}
}

// readAll reads everything there is in a segment.
func readAll(data []byte) (all map[string][]occurrence, err error) {
	defer func() {
		if p := recover(); p != nil {
			damage, ok := p.(*DamageError)
			if !ok {
				panic(p)
			}
			err = damage
		}
	}()
	s, err := Open("s", data)
	if err != nil {
		return nil, err
	}
	all = map[string][]occurrence{}
	s.From("", func(term []byte, p Postings) bool {
		all[string(term)] = read(p)
		return true
	})
	for term := range all {
		if _, ok := s.Find(term); !ok {
			return nil, fmt.Errorf("%s is not found: %w", term, ErrCorrupt)
		}
	}
	_, _ = s.Lengths(), s.Payload()
	s.Order("order")
	s.Order("")
	s.Groups("", func(string, []uint32) {})
	for _, of := range s.sections() { // among them what nobody reads
		s.all(*of)
	}
	return all, nil
}

func TestEveryDamagedByteIsNoticed(t *testing.T) {
	data, want := build(rand.New(rand.NewSource(1)), 60, 20)
	if all, err := readAll(data); err != nil || len(all) != len(want) {
		t.Fatalf("%d terms are read: %v", len(all), err)
	}
	for i := range data {
		data[i] ^= 0x10
		if _, err := readAll(data); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), " s: ") {
			t.Fatalf("byte %d: %v", i, err)
		}
		data[i] ^= 0x10
	}
	for size := range data {
		if _, err := Open("s", data[:size]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%d bytes: %v", size, err)
		}
	}
}

// large makes a segment of many blocks: a term of its own and a common one for each document.
func large(tb testing.TB, docs int) []byte {
	w := &Writer{}
	everywhere := make([]uint32, docs)
	for i := range everywhere {
		everywhere[i] = uint32(i)
	}
	w.Term("common")
	w.AddAll(everywhere, slices.Repeat([]uint32{1}, docs), make([]byte, docs))
	for i := range docs {
		w.Term(fmt.Sprintf("own%08d", i))
		w.Add(uint32(i), 2, []byte{1, 2})
	}
	s, err := w.Finish(make([]byte, docs), make([]byte, 100*docs))
	if err != nil {
		tb.Fatal(err)
	}
	return s.Data()
}

func TestASearchVerifiesFewBlocks(t *testing.T) {
	s, err := Open("s", large(t, 100_000))
	if err != nil {
		t.Fatal(err)
	}
	if n := s.Verified(); n != 0 || s.Blocks() < 100 {
		t.Fatalf("Open verifies %d blocks of %d", n, s.Blocks())
	}
	p, ok := s.Find("own00077777")
	if docs, _ := p.Cursor().Next(); !ok || docs[0] != 77777 {
		t.Fatal("the term is not found")
	}
	if n := s.Verified(); n > 6 {
		t.Errorf("a search for a term verifies %d blocks of %d", n, s.Blocks())
	}
	found, _ := s.Find("common")
	before, c := s.Verified(), found.Cursor()
	c.Skip(99_000)
	if docs, _ := c.Next(); len(docs) == 0 || docs[0] > 99_000 {
		t.Fatal("skipping goes too far")
	}
	if n := s.Verified() - before; n > 3 {
		t.Errorf("skipping to the end of a list verifies %d blocks", n)
	}
}

func TestADamagedBlockDoesNotConcernOthers(t *testing.T) {
	data := large(t, 10_000)
	s, err := Open("the file", data)
	if err != nil {
		t.Fatal(err)
	}
	s.body[s.payload.to-1] ^= 1
	if _, ok := s.Find("own00000007"); !ok {
		t.Error("a term is not found")
	}
	defer func() {
		damage, ok := recover().(*DamageError)
		if !ok || damage.Segment != s || !strings.Contains(damage.Error(), "the file") || !strings.Contains(damage.Error(), fmt.Sprint("block ", (s.payload.to-1)/verifiedSize)) {
			t.Errorf("the panic is of %v", damage)
		}
	}()
	s.Payload()
	t.Error("the damaged payload is returned")
}

// BenchmarkOpen opens a segment and finds a term: the time does not grow with the size.
func BenchmarkOpen(b *testing.B) {
	for _, docs := range []int{10_000, 100_000, 1_000_000} {
		data := large(b, docs)
		b.Run(fmt.Sprint(docs), func(b *testing.B) {
			for b.Loop() {
				s, err := Open("s", data)
				if err != nil {
					b.Fatal(err)
				}
				s.Find("own00007777")
			}
		})
	}
}

// reseal makes sizes and checksums right, so that a changed segment gets past them.
func reseal(data []byte) {
	if len(data) < headerSize {
		return
	}
	copy(data, magic)
	numbers := data[len(magic):]
	for blocks := range (len(data) + verifiedSize) / verifiedSize {
		begin := headerSize + 4*blocks
		if begin > len(data) || (len(data)-begin+verifiedSize-1)/verifiedSize != blocks {
			continue
		}
		left := uint64(len(data) - begin)
		for i := range sections {
			at := numbers[12+8*i:]
			size := min(binary.LittleEndian.Uint64(at), left)
			if i == sections-1 {
				size = left
			}
			binary.LittleEndian.PutUint64(at, size)
			left -= size
		}
		sumBlocks(data[headerSize:headerSize], data[begin:])
		binary.LittleEndian.PutUint32(numbers[8:], checksum(data[headerSize:begin]))
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
		all, err := readAll(data)
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		for term, list := range all {
			last := int64(-1)
			for _, o := range list {
				if int64(o.doc) <= last || o.frequency == 0 {
					t.Fatalf("%q has a posting of document %d after %d", term, o.doc, last)
				}
				last = int64(o.doc)
			}
		}
	})
}

// TestSegmentsOfAnotherHandAreRefusedOrRead changes each byte and mends the checksums.
func TestSegmentsOfAnotherHandAreRefusedOrRead(t *testing.T) {
	for seed := range int64(2) {
		data, _ := build(rand.New(rand.NewSource(seed)), 200, 4)
		for at := range data {
			for _, change := range []byte{1, 0xff} {
				changed := bytes.Clone(data)
				changed[at] ^= change
				reseal(changed)
				if _, err := readAll(changed); err != nil && !errors.Is(err, ErrCorrupt) {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestPostingsAddedTogetherAreThoseAddedOneByOne writes the postings of a segment again, all of a term at once, and copied from two
// others.
func TestPostingsAddedTogetherAreThoseAddedOneByOne(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	const docs, shift = 700, 300
	data, want := build(rng, docs, 60)
	whole, err := Open("s", data)
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
		if !bytes.Equal(s.all(s.postings), whole.all(whole.postings)) || !bytes.Equal(s.all(s.terms), whole.all(whole.terms)) || !bytes.Equal(s.all(s.positions), whole.all(whole.positions)) {
			t.Errorf("%s, the segment differs", name)
		}
	}
}

// TestPositionsBehindASkipAreThoseOfTheirPostings also has positions of more than a byte.
func TestPositionsBehindASkipAreThoseOfTheirPostings(t *testing.T) {
	data, want := build(rand.New(rand.NewSource(8)), 1000, 40)
	s, err := Open("s", data)
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
