package paged

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func TestValuesStayWhereTheyAre(t *testing.T) {
	var a Array[uint64]
	first := a.Append(7)
	kept := a.At(first)
	for i := range uint32(3 * PageSize) {
		if at := a.Append(uint64(i)); at != i+1 {
			t.Fatalf("value %d is at %d", i+1, at)
		}
	}
	*a.Edit(first) = 8
	if *kept != 8 || *a.At(3 * PageSize) != 3*PageSize-1 || a.Len() != 3*PageSize+1 {
		t.Errorf("of %d values the first is %d and the last %d", a.Len(), *kept, *a.At(3 * PageSize))
	}
}

func TestTextsOfAnyLengthAreKept(t *testing.T) {
	var texts Texts
	type kept struct {
		at   uint64
		size uint32
		text string
	}
	var all []kept
	for i, size := range []int{0, 1, textPage - 2, 1, 2, textPage, textPage + 1, 3, 0, 5, textPage - 1, 1} {
		text := strings.Repeat(string(rune('a'+i)), size)
		at, n := texts.Append(text)
		all = append(all, kept{at, n, text[:min(size, textPage)]})
	}
	for i, k := range all {
		if got := texts.At(k.at, k.size); got != k.text {
			t.Errorf("text %d of %d bytes begins with %.5q, not %.5q", i, len(k.text), got, k.text)
		}
	}
}

// disk holds stored files.
type disk map[string][]byte

func (d disk) open(name string) ([]byte, func() error, error) {
	data, ok := d[name]
	if !ok {
		return nil, nil, errors.New("it is not there")
	}
	own := slices.Clone(data)
	return own, func() error { clear(own); return nil }, nil // whoever still reads it then reads zeros
}

// set is a Set with an array and a slice, and what they should hold.
type set struct {
	Set
	array  Array[[3]uint32]
	slice  Slice[uint64]
	texts  Texts
	values [][3]uint32
	other  []uint64
	kept   []string
	places [][2]uint64
}

func newSet() *set {
	s := &set{}
	s.Add("array", &s.array)
	s.Add("slice", &s.slice)
	s.Add("texts", &s.texts.Chunks)
	return s
}

func (s *set) check() error {
	if int(s.array.Len()) != len(s.values) || !slices.Equal(s.slice.Values, s.other) {
		return fmt.Errorf("there are %d values, not %d, or the slice differs", s.array.Len(), len(s.values))
	}
	for i, v := range s.values {
		if *s.array.At(uint32(i)) != v {
			return fmt.Errorf("value %d is %v, not %v", i, *s.array.At(uint32(i)), v)
		}
	}
	for i, p := range s.places {
		if got := s.texts.At(p[0], uint32(p[1])); got != s.kept[i] {
			return fmt.Errorf("text %d is %.9q, not %.9q", i, got, s.kept[i])
		}
	}
	return nil
}

func (s *set) edit(rng *rand.Rand) {
	value := func() [3]uint32 { return [3]uint32{rng.Uint32(), 1, 2} }
	switch n := rng.Intn(10); {
	case n < 4:
		for range rng.Intn(3 * PageSize / 2) {
			s.values = append(s.values, value())
			s.array.Append(s.values[len(s.values)-1])
			s.other = append(s.other, rng.Uint64())
		}
		text := strings.Repeat("t", rng.Intn(20)) + fmt.Sprint(rng.Int())
		at, size := s.texts.Append(text)
		s.kept, s.places = append(s.kept, text), append(s.places, [2]uint64{at, uint64(size)})
	case n < 9 && len(s.values) > 0:
		many := []int{1, 20, 2 * mostEdited}[rng.Intn(3)]
		from := rng.Intn(len(s.values))
		for range many {
			i := (from + rng.Intn(PageSize)) % len(s.values)
			s.values[i] = value()
			*s.array.Edit(uint32(i)) = s.values[i]
		}
		s.other[rng.Intn(len(s.other))]++
	case n == 9 && rng.Intn(4) == 0:
		var other Array[[3]uint32]
		s.values = s.values[:rng.Intn(len(s.values)+1)]
		for _, v := range s.values {
			other.Append(v)
		}
		s.array.Replace(other)
		s.other = s.other[:min(len(s.other), len(s.values))]
	}
	s.slice.Values = slices.Clone(s.other)
}

func (s *set) save(t *testing.T, d disk, name string, meanwhile func()) {
	t.Helper()
	snap := s.Collect()
	data, err := io.ReadAll(snap.Reader(&s.Set, []byte("state of "+name)))
	if err != nil {
		t.Fatal(err)
	}
	meanwhile()
	d[name] = data
	own, close, _ := d.open(name)
	if err := s.Commit(snap, name, own, close); err != nil {
		t.Fatal(err)
	}
	for file := range d {
		if !slices.Contains(s.Files(), file) {
			delete(d, file)
		}
	}
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	for seed := range int64(6) {
		rng := rand.New(rand.NewSource(seed))
		s, d, newest := newSet(), disk{}, ""
		for step := range 150 {
			s.edit(rng)
			switch rng.Intn(6) {
			case 0:
				s.Abandon(s.Collect())
			case 1, 2, 3:
				newest = fmt.Sprint("file", step)
				s.save(t, d, newest, func() {
					if rng.Intn(2) == 0 {
						s.edit(rng)
					}
				})
			case 4:
				newest = fmt.Sprint("file", step)
				s.save(t, d, newest, func() {})
				loaded := newSet()
				state, err := loaded.Load(newest, d.open)
				if err != nil || string(state) != "state of "+newest {
					t.Fatalf("seed %d, step %d: the state is %q: %v", seed, step, state, err)
				}
				loaded.texts.Resize(s.texts.Size())
				loaded.values, loaded.other, loaded.kept, loaded.places = s.values, s.other, s.kept, s.places
				s = loaded
			}
			if err := s.check(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if len(d) > mostFiles+1 {
				t.Fatalf("seed %d, step %d: there are %d files", seed, step, len(d))
			}
		}
		if newest == "" || len(s.values) == 0 {
			t.Errorf("seed %d saved %q with %d values", seed, newest, len(s.values))
		}
	}
}

// A flipped or missing byte is an error of Load, or a DamagedError at the first use of its page.
func TestDamageIsFound(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	s, d := newSet(), disk{}
	for range 3 {
		for range 4 {
			s.edit(rng)
		}
		s.save(t, d, fmt.Sprint(rng.Int()), func() {})
	}
	read := func(d disk) (err error) {
		defer func() {
			if p := recover(); p != nil {
				damaged, ok := p.(*DamagedError)
				if !ok {
					t.Fatalf("it panicked with %v", p)
				}
				err = damaged
			}
		}()
		loaded := newSet()
		if _, err := loaded.Load(s.newest.name, d.open); err != nil {
			return err
		}
		loaded.texts.Resize(s.texts.Size())
		loaded.values, loaded.other, loaded.kept, loaded.places = s.values, s.other, s.kept, s.places
		return loaded.check()
	}
	if err := read(d); err != nil {
		t.Fatal(err)
	}
	found := 0
	for name, data := range d {
		for at := 0; at < len(data); at += 1 + rng.Intn(len(data)/40+1) {
			harmed := disk{}
			for other, data := range d {
				harmed[other] = slices.Clone(data)
			}
			harmed[name][at] ^= 1 << rng.Intn(8)
			switch err := read(harmed); {
			case err != nil:
				found++
			case used(s, name, uint64(at)):
				t.Errorf("a flip of byte %d of %s is not found", at, name)
			}
			harmed[name] = data[:at]
			if err := read(harmed); err == nil && usedFrom(s, name, uint64(at)) {
				t.Errorf("%s cut off at %d is not found", name, at)
			}
		}
	}
	if found == 0 {
		t.Error("nothing was found")
	}
}

// usedFrom reports whether a byte from one on is in use.
func usedFrom(s *set, name string, from uint64) bool {
	i := slices.IndexFunc(s.files, func(f *file) bool { return f.name == name })
	for at := from; at < uint64(len(s.files[i].data)); at++ {
		if used(s, name, at) {
			return true
		}
	}
	return false
}

// used reports whether a byte is part of a page, or of a file's end.
func used(s *set, name string, at uint64) bool {
	i := slices.IndexFunc(s.files, func(f *file) bool { return f.name == name })
	if end, err := s.files[i].end(); err == nil && at >= uint64(len(s.files[i].data)-trailerSize-len(end)) {
		return true
	}
	for _, a := range s.arrays {
		for _, st := range a.base().states {
			for _, e := range append([]extent{st.from}, st.patches...) {
				if e.file.name == name && at >= e.at && at < e.at+uint64(e.size) {
					return true
				}
			}
		}
	}
	return false
}

// FuzzLoad loads files with any end that has the right checksum.
func FuzzLoad(f *testing.F) {
	var s Set
	var numbers Array[uint64]
	var list Slice[uint32]
	s.Add("numbers", &numbers)
	s.Add("list", &list)
	for i := range uint64(3 * PageSize / 2) {
		numbers.Append(i)
	}
	list.Values = []uint32{1, 2, 3}
	snap := s.Collect()
	stored, err := io.ReadAll(snap.Reader(&s, []byte("state")))
	if err != nil {
		f.Fatal(err)
	}
	whole := file{data: stored}
	end, err := whole.end()
	if err != nil {
		f.Fatal(err)
	}
	pages := stored[:whole.pages]
	f.Add(end)
	f.Fuzz(func(t *testing.T, end []byte) {
		data := append(slices.Clone(pages), end...)
		trailer := binary.LittleEndian.AppendUint64(nil, uint64(len(pages)))
		trailer = binary.LittleEndian.AppendUint64(trailer, uint64(len(end)))
		data = append(data, trailer...)
		data = binary.LittleEndian.AppendUint32(data, sum(data[len(pages):]))
		data = append(data, magic...)
		var s Set
		var numbers Array[uint64]
		var list Slice[uint32]
		s.Add("numbers", &numbers)
		s.Add("list", &list)
		defer func() {
			if p := recover(); p != nil {
				if _, ok := p.(*DamagedError); !ok {
					panic(p)
				}
			}
		}()
		_, err := s.Load("file", func(name string) ([]byte, func() error, error) {
			return slices.Clone(data), func() error { return nil }, nil
		})
		for i := range numbers.Len() {
			if err == nil {
				_ = *numbers.At(i)
			}
		}
	})
}
