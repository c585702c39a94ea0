// Package paged keeps long arrays of fixed-size values in pages.
package paged

import "unsafe"

// PageSize is the number of values on a page.
const PageSize = 1 << 12

// Array is an array that grows a page at a time: its values never move. The zero Array is empty. Values must not have pointers.
type Array[T any] struct {
	pages  []*[PageSize]T
	length uint32
}

// Len returns the number of values.
func (a *Array[T]) Len() uint32 { return a.length }

// At returns a value, which must be there. The caller does not change it.
func (a *Array[T]) At(i uint32) *T { return &a.pages[i/PageSize][i%PageSize] }

// Edit returns a value to be changed.
func (a *Array[T]) Edit(i uint32) *T { return a.At(i) }

// Append adds a value and returns its place.
func (a *Array[T]) Append(v T) uint32 {
	at := a.length
	if int(at/PageSize) == len(a.pages) {
		a.pages = append(a.pages, new([PageSize]T))
	}
	a.length++
	*a.Edit(at) = v
	return at
}

// textPage is the size of a page of Texts, in bytes.
const textPage = 1 << 16

// Texts holds texts that are never moved. The zero Texts is empty.
type Texts struct {
	pages [][]byte
	size  uint64
}

// Size returns how much Texts holds, in bytes, with the gaps at the ends of pages.
func (t *Texts) Size() uint64 { return t.size }

// Append adds a text and returns its offset. A text longer than a page starts on a new page and spans several.
func (t *Texts) Append(text string) (at uint64) {
	if text == "" {
		return 0
	}
	if room := -t.size % textPage; uint64(len(text)) > room {
		t.size += room
		pages := max(1, (len(text)+textPage-1)/textPage)
		t.pages = append(t.pages, make([]byte, pages*textPage))
		t.pages = append(t.pages, make([][]byte, pages-1)...)
	}
	at = t.size
	copy(t.pages[at/textPage][at%textPage:], text)
	t.size += uint64(len(text))
	return at
}

// At returns the text of a size at a place. It is valid as long as the Texts is.
func (t *Texts) At(at uint64, size uint32) string {
	if size == 0 {
		return ""
	}
	page := t.pages[at/textPage][at%textPage:]
	return unsafe.String(&page[0], int(size))
}
