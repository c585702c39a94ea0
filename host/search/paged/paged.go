// Package paged keeps long arrays of fixed-size values in pages, and stores the pages that changed in files from which later ones are
// mapped.
package paged

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// PageSize is the number of values on a page.
const PageSize = 1 << 12

// Array is an array that grows a page at a time: its values never move while it is in use. Its pages are in memory, or in a mapped file
// until they are edited. The zero Array is empty. Values must have no pointers; they are stored as the machine has them.
//
// Any number of goroutines may call At at the same time, but not while another method runs.
type Array[T any] struct {
	pages
	data []unsafe.Pointer // by page, to its values; nil: the page is in its file. Loaded and stored atomically
}

// Len returns the number of values.
func (a *Array[T]) Len() uint32 { return a.length }

// At returns a value, which must be there, to be read until the Array is changed. It panics with a DamagedError if its page is damaged.
func (a *Array[T]) At(i uint32) *T {
	p := atomic.LoadPointer(&a.data[i/PageSize])
	if p == nil {
		p = a.fault(i / PageSize)
	}
	return &(*[PageSize]T)(p)[i%PageSize]
}

// Edit returns a value to be changed at once.
func (a *Array[T]) Edit(i uint32) *T {
	a.states[i/PageSize].edit(i % PageSize)
	return a.At(i)
}

// Append adds a value and returns its place.
func (a *Array[T]) Append(v T) uint32 {
	at := a.length
	if int(at/PageSize) == len(a.data) {
		a.data = append(a.data, unsafe.Pointer(new([PageSize]T)))
		a.states = append(a.states, state{})
	}
	a.length++
	*a.Edit(at) = v
	return at
}

// Replace gives the Array the values of another one that was never stored, which must not be used any more.
func (a *Array[T]) Replace(other Array[T]) {
	a.data, a.states, a.length = other.data, other.states, other.length
	a.turn++
}

func (a *Array[T]) valueSize() int { return int(reflect.TypeFor[T]().Size()) }

func (a *Array[T]) fault(page uint32) unsafe.Pointer {
	a.set.faults.Lock()
	defer a.set.faults.Unlock()
	if p := atomic.LoadPointer(&a.data[page]); p != nil {
		return p
	}
	st := &a.states[page]
	mapped := st.from.bytes()
	for _, patch := range st.patches {
		if !apply(mapped, patch.bytes(), a.valueSize()) {
			panic(&DamagedError{patch.file.name, patch.at})
		}
	}
	p := unsafe.Pointer(unsafe.SliceData(mapped))
	if st.from.values < PageSize { // it may grow
		own := new([PageSize]T)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(own)), len(mapped)), mapped)
		p = unsafe.Pointer(own)
	}
	atomic.StorePointer(&a.data[page], p)
	return p
}

// bytes are the values of a page that are used.
func (a *Array[T]) bytes(page int) []byte {
	values := min(PageSize, int(a.length)-page*PageSize)
	return unsafe.Slice((*byte)(unsafe.Pointer(a.At(uint32(page)*PageSize))), values*a.valueSize())
}

// grown prepares the Array for as many pages as are stored.
func (a *Array[T]) grown(pages int) { a.data = make([]unsafe.Pointer, pages) }

func (a *Array[T]) isLoaded(page int) bool { return atomic.LoadPointer(&a.data[page]) != nil }

// move makes the Array use the stored form of a page, unless it has been edited since.
func (a *Array[T]) move(page int) {
	if st := &a.states[page]; st.whole || st.edited != nil { // its memory is a file's that may be closed
		own := new([PageSize]T)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(own)), PageSize*a.valueSize()), a.bytes(page))
		a.data[page] = unsafe.Pointer(own)
		return
	}
	a.data[page] = nil
}

// Texts holds texts that are never moved. The zero Texts is empty.
type Texts struct {
	Chunks Array[[chunk]byte]
	size   uint64 // bytes, with the gaps at the ends of pages
}

const (
	chunk    = 16
	textPage = PageSize * chunk
)

// Size returns how much Texts holds, in bytes, with the gaps at the ends of pages.
func (t *Texts) Size() uint64 { return t.size }

// Resize sets the size of Texts whose chunks were loaded.
func (t *Texts) Resize(size uint64) { t.size = size }

// Replace gives Texts those of another that was never stored, which must not be used any more.
func (t *Texts) Replace(other Texts) {
	t.Chunks.Replace(other.Chunks)
	t.size = other.size
}

// Append adds a text, of which at most 64 KiB are kept, and returns its place and size.
func (t *Texts) Append(text string) (at uint64, size uint32) {
	if text == "" {
		return 0, 0
	}
	text = text[:min(len(text), textPage)]
	if room := -t.size % textPage; uint64(len(text)) > room {
		t.size += room
	}
	at = t.size
	for uint64(t.Chunks.Len())*chunk < at+uint64(len(text)) {
		t.Chunks.Append([chunk]byte{})
	}
	for i := 0; i < len(text); {
		place := at + uint64(i)
		i += copy(t.Chunks.Edit(uint32(place / chunk))[place%chunk:], text[i:])
	}
	t.size += uint64(len(text))
	return at, uint32(len(text))
}

// At returns the text of a size at a place, until the Texts is changed.
func (t *Texts) At(at uint64, size uint32) string {
	if size == 0 {
		return ""
	}
	first := t.Chunks.At(uint32(at / chunk))
	return unsafe.String((*byte)(unsafe.Add(unsafe.Pointer(first), at%chunk)), int(size))
}
