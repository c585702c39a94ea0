package paged

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"
)

// pages is what an array knows of its pages, whatever their values are.
type pages struct {
	set    *Set
	length uint32 // in values
	states []state
	turn   int // counts how often the pages were replaced by others
}

// state is how a page is stored.
type state struct {
	from    extent // values 0: nowhere
	patches []extent
	edited  *[PageSize / 64]uint64 // the values that were edited since; nil: none
	whole   bool                   // it is stored again
	saving  bool                   // it is being stored
}

// mostPatches bounds the patches of a page, and mostEdited the values of one: from then on the page is stored again.
const (
	mostPatches = 4
	mostEdited  = PageSize / 8
)

func (s *state) edit(value uint32) {
	if s.whole || s.from.values == 0 && !s.saving {
		return
	}
	if s.edited == nil {
		s.edited = new([PageSize / 64]uint64)
	}
	s.edited[value/64] |= 1 << (value % 64)
}

// isChanged reports whether a page that has so many values is to be stored, wholly or as a patch.
func (s *state) isChanged(values int) (changed, wholly bool) {
	if s.from.values == 0 || s.whole || int(s.from.values) != values {
		return true, true
	}
	if s.edited == nil {
		return false, false
	}
	n := 0
	for _, word := range s.edited {
		n += bits.OnesCount64(word)
	}
	return true, n > mostEdited || len(s.patches) == mostPatches
}

// patch returns the values of a page that were edited, each behind its number.
func (s *state) patch(page []byte, valueSize int) (data []byte, values int) {
	for i, word := range s.edited {
		for ; word != 0; word &= word - 1 {
			value := i*64 + bits.TrailingZeros64(word)
			data = binary.LittleEndian.AppendUint16(data, uint16(value))
			data = append(data, page[value*valueSize:(value+1)*valueSize]...)
			values++
		}
	}
	return data, values
}

// apply applies a patch to a page. ok is false if it is of another page.
func apply(page, patch []byte, valueSize int) (ok bool) {
	for len(patch) >= 2+valueSize {
		value := int(binary.LittleEndian.Uint16(patch))
		if (value+1)*valueSize > len(page) {
			return false
		}
		copy(page[value*valueSize:(value+1)*valueSize], patch[2:])
		patch = patch[2+valueSize:]
	}
	return len(patch) == 0
}

// extent is a run of bytes in a file.
type extent struct {
	file   *file
	at     uint64
	size   uint32
	values uint32
	sum    uint32
}

// DamagedError is what reading a damaged page panics with.
type DamagedError struct {
	File string
	At   uint64 // in the file
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the page at byte %d of %s is damaged", e.At, e.File)
}

// bytes returns the content of an extent, which it verifies.
func (e extent) bytes() []byte {
	data := e.file.data
	if e.at > uint64(len(data)) || uint64(e.size) > uint64(len(data))-e.at {
		panic(&DamagedError{e.file.name, e.at})
	}
	data = data[e.at : e.at+uint64(e.size) : e.at+uint64(e.size)]
	if sum(data) != e.sum {
		panic(&DamagedError{e.file.name, e.at})
	}
	return data
}

func sum(data []byte) uint32 { return crc32.Checksum(data, crc32.MakeTable(crc32.Castagnoli)) }
