package paged

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"unsafe"
)

// Set is arrays that are stored together. Each save makes a file of the pages that changed; the file's end says where all others are.
type Set struct {
	names  []string
	arrays []array
	files  []*file
	newest *file    // its end says where all pages are
	saved  []uint32 // the lengths of the arrays there
	faults sync.Mutex
}

// array is an *Array or a *Slice.
type array interface {
	base() *pages
	valueSize() int
	bytes(page int) []byte
	grown(pages int)
	move(page int)
	isLoaded(page int) bool
}

func (p *pages) base() *pages { return p }

// file is a stored file.
type file struct {
	name  string
	data  []byte
	pages uint64 // bytes before its end
	close func() error
}

// Add adds an array under a name that stays the same. The array is empty.
func (s *Set) Add(name string, a array) {
	a.base().set = s
	s.names, s.arrays = append(s.names, name), append(s.arrays, a)
}

// Files lists the files that are in use.
func (s *Set) Files() (names []string) {
	for _, f := range s.files {
		names = append(names, f.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// FileAt returns the name of the file whose mapping has an address, or "".
func (s *Set) FileAt(address uintptr) string {
	for _, f := range s.files {
		begin := uintptr(unsafe.Pointer(unsafe.SliceData(f.data)))
		if address >= begin && address-begin < uintptr(len(f.data)) {
			return f.name
		}
	}
	return ""
}

// Newest returns the name of the file whose end says where all pages are, or "".
func (s *Set) Newest() string {
	if s.newest == nil {
		return ""
	}
	return s.newest.name
}

// HasChanged reports whether a snapshot has anything that the newest file does not have.
func (s *Set) HasChanged(snap *Snapshot) bool {
	return s.newest == nil || len(snap.stored) > 0 || !slices.Equal(s.saved, snap.lengths())
}

func (snap *Snapshot) lengths() (all []uint32) {
	for _, t := range snap.tables {
		all = append(all, t.length)
	}
	return all
}

// Snapshot is what a save stores.
type Snapshot struct {
	pieces [][]byte
	size   uint64
	stored []storedPage
	file   *file // of which only the pointer is known before it is stored
	tables []table
}

// storedPage is a page that a snapshot has, wholly or as a patch.
type storedPage struct {
	array, page int
	turn        int // of the array
	extent      extent
	whole       bool
}

// table is the pages of an array as they are after a save.
type table struct {
	length uint32
	states []state
}

// alignment is that of pages in a file, in bytes.
const alignment = 64

// Collect copies what changed since the last save. Nobody edits an array meanwhile. Edits after it belong to the next save; Commit or
// Abandon follows.
func (s *Set) Collect() *Snapshot {
	snap := &Snapshot{file: &file{}}
	retired := s.retired()
	for i, a := range s.arrays {
		if f, ok := a.(interface{ fresh() }); ok {
			f.fresh()
		}
		p := a.base()
		for page := range p.states {
			st := &p.states[page]
			st.whole = st.whole || st.in(retired)
			snap.collect(a, i, page)
		}
		t := table{p.length, slices.Clone(p.states)}
		for page := range t.states {
			t.states[page].patches = slices.Clone(t.states[page].patches)
		}
		snap.tables = append(snap.tables, t)
	}
	for _, sp := range snap.stored {
		sp.note(&snap.tables[sp.array].states[sp.page])
	}
	return snap
}

// note makes a page's state that after the save.
func (sp storedPage) note(st *state) {
	if sp.whole {
		st.from, st.patches = sp.extent, nil
		return
	}
	st.patches = append(st.patches, sp.extent)
}

// collect copies a page if it changed, or what was edited of it.
func (snap *Snapshot) collect(a array, number, page int) {
	st := &a.base().states[page]
	size := a.valueSize()
	values := min(PageSize, int(a.base().length)-page*PageSize)
	changed, whole := st.isChanged(values)
	if !changed {
		return
	}
	data := a.bytes(page)
	if whole {
		data = bytes.Clone(data)
	} else {
		data, values = st.patch(data, size)
	}
	st.edited, st.whole, st.saving = nil, false, true
	snap.stored = append(snap.stored, storedPage{number, page, a.base().turn, snap.add(data, values), whole})
}

// add adds bytes to the file.
func (snap *Snapshot) add(data []byte, values int) extent {
	if gap := -snap.size % alignment; gap > 0 {
		snap.pieces, snap.size = append(snap.pieces, make([]byte, gap)), snap.size+gap
	}
	e := extent{file: snap.file, at: snap.size, size: uint32(len(data)), values: uint32(values), sum: sum(data)}
	snap.pieces, snap.size = append(snap.pieces, data), snap.size+uint64(len(data))
	return e
}

// Limits of files.
const (
	mostFiles = 24 // from which on small ones are stored again,
	keptFiles = 12 // until so many are left
)

// in reports whether a page is in one of some files.
func (s *state) in(files map[*file]bool) bool {
	return len(files) > 0 && (files[s.from.file] || slices.ContainsFunc(s.patches, func(e extent) bool { return files[e.file] }))
}

// retired chooses files whose pages are stored again: the smallest if there are many, and those of which little is in use.
func (s *Set) retired() map[*file]bool {
	used := map[*file]uint64{}
	for _, a := range s.arrays {
		for i := range a.base().states {
			st := &a.base().states[i]
			used[st.from.file] += uint64(st.from.size)
			for _, e := range st.patches {
				used[e.file] += uint64(e.size)
			}
		}
	}
	files := slices.SortedFunc(slices.Values(s.files), func(a, b *file) int { return cmp.Compare(used[a], used[b]) })
	retired := map[*file]bool{}
	for i, f := range files {
		if len(files) > mostFiles && i < len(files)-keptFiles || 2*used[f] < f.pages {
			retired[f] = true
		}
	}
	return retired
}

// The end of a file: the pages of all arrays, the caller's state, and a trailer.
const (
	magic       = "alcvpag1"
	trailerSize = 8 + 8 + 4 + len(magic)
	// byteOrder is stored as the machine has it: values of another order are not read.
	byteOrder = 0x0102
)

// Reader returns the bytes of the file, which ends with a state of the caller.
func (snap *Snapshot) Reader(s *Set, state []byte) io.Reader {
	w := footer{numbers: map[*file]uint64{snap.file: 0}}
	w.out = binary.NativeEndian.AppendUint16(w.out, byteOrder)
	for i, t := range snap.tables {
		w.text(s.names[i])
		w.uint(uint64(s.arrays[i].valueSize()))
		w.uint(uint64(t.length))
		for page := range t.states {
			w.page(&t.states[page])
		}
	}
	body := w.out
	w.out = nil
	w.uint(uint64(len(w.files)))
	for _, name := range w.files {
		w.text(name)
	}
	w.uint(uint64(len(snap.tables)))
	end := slices.Concat(w.out, body)
	end = binary.AppendUvarint(end, uint64(len(state)))
	end = append(end, state...)
	trailer := binary.LittleEndian.AppendUint64(nil, snap.size)
	trailer = binary.LittleEndian.AppendUint64(trailer, uint64(len(end)))
	trailer = binary.LittleEndian.AppendUint32(trailer, sum(slices.Concat(end, trailer)))
	trailer = append(trailer, magic...)
	var readers []io.Reader
	for _, piece := range append(slices.Clip(snap.pieces), end, trailer) {
		readers = append(readers, bytes.NewReader(piece))
	}
	return io.MultiReader(readers...)
}

// footer encodes the end of a file.
type footer struct {
	out     []byte
	files   []string // but for the file itself, which is number 0
	numbers map[*file]uint64
}

func (w *footer) uint(n uint64) { w.out = binary.AppendUvarint(w.out, n) }

func (w *footer) text(text string) {
	w.uint(uint64(len(text)))
	w.out = append(w.out, text...)
}

func (w *footer) page(st *state) {
	w.extent(st.from)
	w.uint(uint64(len(st.patches)))
	for _, e := range st.patches {
		w.extent(e)
	}
}

func (w *footer) extent(e extent) {
	number, ok := w.numbers[e.file]
	if !ok {
		w.files = append(w.files, e.file.name)
		number = uint64(len(w.files))
		w.numbers[e.file] = number
	}
	for _, n := range []uint64{number, e.at, uint64(e.size), uint64(e.values)} {
		w.uint(n)
	}
	w.out = binary.LittleEndian.AppendUint32(w.out, e.sum)
}

// Renew makes the next save store every page, so that nothing is left in the files of what was edited.
func (s *Set) Renew() {
	for _, a := range s.arrays {
		for i := range a.base().states {
			a.base().states[i].whole = true
		}
	}
}

// Verify verifies the stored pages from one on, before another, by their place among those of all arrays, unless they are in use. It reports
// whether there are more, and panics with a DamagedError. Nobody edits an array meanwhile.
func (s *Set) Verify(from, to int) (more bool) {
	at := 0
	for _, a := range s.arrays {
		for page := range a.base().states {
			if at >= to {
				return true
			}
			if at++; at <= from || a.isLoaded(page) {
				continue
			}
			st := &a.base().states[page]
			for _, e := range append([]extent{st.from}, st.patches...) {
				if e.values > 0 {
					e.bytes()
				}
			}
		}
	}
	return false
}

// Commit notes that a snapshot is stored in a file under a name, which data maps privately. Nobody uses the arrays meanwhile. Files that are
// no longer in use are closed.
func (s *Set) Commit(snap *Snapshot, name string, data []byte, close func() error) error {
	*snap.file = file{name, data, snap.size, close}
	s.files, s.newest, s.saved = append(s.files, snap.file), snap.file, snap.lengths()
	for _, sp := range snap.stored {
		if st := s.stateOf(sp); st != nil {
			st.saving = false
			if sp.note(st); sp.whole {
				s.arrays[sp.array].move(sp.page)
			}
		}
	}
	return s.closeUnused()
}

// stateOf returns the state of the page that a snapshot has; nil: it was replaced since.
func (s *Set) stateOf(sp storedPage) *state {
	if p := s.arrays[sp.array].base(); p.turn == sp.turn {
		return &p.states[sp.page]
	}
	return nil
}

func (s *Set) closeUnused() (err error) {
	used := map[*file]bool{s.newest: true}
	for _, a := range s.arrays {
		for i := range a.base().states {
			st := &a.base().states[i]
			used[st.from.file] = true
			for _, e := range st.patches {
				used[e.file] = true
			}
		}
	}
	s.files = slices.DeleteFunc(s.files, func(f *file) bool {
		if !used[f] {
			err = errors.Join(err, f.close())
		}
		return !used[f]
	})
	return err
}

// Abandon notes that a snapshot was not stored.
func (s *Set) Abandon(snap *Snapshot) {
	for _, sp := range snap.stored {
		if st := s.stateOf(sp); st != nil {
			st.saving, st.whole = false, true
		}
	}
}

// Close closes the files. The arrays must not be used any more.
func (s *Set) Close() (err error) {
	for _, f := range s.files {
		err = errors.Join(err, f.close())
	}
	s.files = nil
	return err
}

// Opener maps a stored file privately.
type Opener func(name string) (data []byte, close func() error, err error)

// Load makes the arrays, which must be empty, those that a file was made of, and returns the caller's state. Pages are verified when they are
// first used, but for those of Slices, which are read.
func (s *Set) Load(name string, open Opener) (state []byte, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("load %s: %w", name, err), s.Close())
		}
	}()
	own, err := s.open(name, open)
	if err != nil {
		return nil, err
	}
	end, err := own.end()
	if err != nil {
		return nil, err
	}
	s.newest = own
	r := &reader{in: end, files: []*file{own}}
	for range r.count() {
		f, err := s.open(r.text(), open)
		if err != nil {
			return nil, err
		}
		if _, err := f.end(); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		r.files = append(r.files, f)
	}
	if n := r.count(); n != len(s.arrays) {
		return nil, fmt.Errorf("it has %d arrays, not %d", n, len(s.arrays))
	}
	if binary.NativeEndian.Uint16(r.next(2)) != byteOrder {
		return nil, errors.New("it was made by a machine with another order of bytes")
	}
	for i, a := range s.arrays {
		if err := r.array(s.names[i], a); err != nil {
			return nil, err
		}
		s.saved = append(s.saved, a.base().length)
	}
	state = r.next(r.count())
	if r.bad {
		return nil, errEnd
	}
	return state, s.readSlices()
}

// readSlices reads what is not paged.
func (s *Set) readSlices() (err error) {
	defer func() {
		if p := recover(); p != nil {
			damaged, ok := p.(*DamagedError)
			if !ok {
				panic(p)
			}
			err = damaged
		}
	}()
	for _, a := range s.arrays {
		if slice, ok := a.(interface{ read() }); ok {
			slice.read()
		}
	}
	return nil
}

func (s *Set) open(name string, open Opener) (*file, error) {
	data, close, err := open(name)
	if err != nil {
		return nil, err
	}
	f := &file{name: name, data: data, close: close}
	s.files = append(s.files, f)
	return f, nil
}

var errEnd = errors.New("its end is damaged")

// end returns the end of a file without its trailer, and notes where it begins.
func (f *file) end() ([]byte, error) {
	if len(f.data) < trailerSize || string(f.data[len(f.data)-len(magic):]) != magic {
		return nil, errEnd
	}
	t := f.data[len(f.data)-trailerSize:]
	at, size := binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[8:])
	rest := uint64(len(f.data) - trailerSize)
	if at > rest || size != rest-at || sum(f.data[at:len(f.data)-trailerSize+16]) != binary.LittleEndian.Uint32(t[16:]) {
		return nil, errEnd
	}
	f.pages = at
	return f.data[at:rest], nil
}

// reader decodes the end of a file. After the first error everything reads as zero.
type reader struct {
	in    []byte
	files []*file
	bad   bool
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.in)
	if size <= 0 {
		r.bad, r.in = true, nil
		return 0
	}
	r.in = r.in[size:]
	return n
}

// count reads a number of things that follow, each of at least a byte.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.in)) {
		r.bad, r.in = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) next(n int) []byte {
	if n > len(r.in) {
		r.bad, r.in = true, nil
		return make([]byte, n)
	}
	taken := r.in[:n:n]
	r.in = r.in[n:]
	return taken
}

func (r *reader) text() string { return string(r.next(r.count())) }

// array reads the pages of an array.
func (r *reader) array(name string, a array) error {
	if got, size := r.text(), r.uint(); got != name || size != uint64(a.valueSize()) {
		return fmt.Errorf("its array %q has values of %d bytes: this version has %q of %d", got, size, name, a.valueSize())
	}
	length := r.uint()
	count := (length + PageSize - 1) / PageSize
	if length > math.MaxUint32 || count > uint64(len(r.in)) {
		return errEnd
	}
	p := a.base()
	p.length, p.states = uint32(length), make([]state, count)
	for i := range p.states {
		st := &p.states[i]
		st.from = r.extent()
		for range r.count() {
			st.patches = append(st.patches, r.extent())
		}
		if values := min(PageSize, length-uint64(i)*PageSize); r.bad || uint64(st.from.values) != values || uint64(st.from.size) != values*uint64(a.valueSize()) {
			return errEnd
		}
	}
	a.grown(len(p.states))
	return nil
}

func (r *reader) extent() extent {
	number := r.uint()
	e := extent{at: r.uint(), size: uint32(r.uint()), values: uint32(r.uint())}
	e.sum = binary.LittleEndian.Uint32(r.next(4))
	if number >= uint64(len(r.files)) || e.at%alignment != 0 {
		r.bad = true
		return e
	}
	e.file = r.files[number]
	if size := uint64(len(e.file.data)); e.at > size || uint64(e.size) > size-e.at {
		r.bad = true
	}
	return e
}
