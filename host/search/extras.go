package search

import (
	"encoding/binary"

	"github.com/alcove-memory/alcove/host/search/paged"
)

// extra is the rare columns of a row.
type extra struct {
	tags    []uint32
	expires int64 // µs; 0: never
	created int64 // µs; 0: with this version
	fields  []storedField
}

// storedField is the stored form of a Field.
type storedField struct {
	name  uint32
	value Digest
}

func (e *extra) isZero() bool {
	return len(e.tags) == 0 && e.expires == 0 && e.created == 0 && len(e.fields) == 0
}

// extras holds the rare columns of rows, each as a run of words: how many tags there are, and two flags below; how many fields; then the
// instants whose flags are set, in two words each, the tags, and the fields in four words each.
type extras struct {
	words paged.Array[uint32]
	spare uint32 // words of no row
}

// Flags of the first word, and by how much the number of tags is shifted there.
const (
	extraExpires = 1 << iota
	extraCreated
	extraTags = iota
)

// fieldWords is the size of a field in words.
const fieldWords = 1 + len(Digest{})/4

// add returns the place of what is added, or none for nothing.
func (x *extras) add(e extra) (at uint32) {
	if e.isZero() {
		return none
	}
	first := uint32(len(e.tags)) << extraTags
	if e.expires != 0 {
		first |= extraExpires
	}
	if e.created != 0 {
		first |= extraCreated
	}
	at = x.words.Append(first)
	x.words.Append(uint32(len(e.fields)))
	for _, instant := range []int64{e.expires, e.created} {
		if instant != 0 {
			x.words.Append(uint32(instant))
			x.words.Append(uint32(uint64(instant) >> 32))
		}
	}
	for _, tag := range e.tags {
		x.words.Append(tag)
	}
	for _, f := range e.fields {
		x.words.Append(f.name)
		for i := 0; i < len(f.value); i += 4 {
			x.words.Append(binary.LittleEndian.Uint32(f.value[i:]))
		}
	}
	return at
}

// at returns a copy of what is at a place.
func (x *extras) at(at uint32) (e extra) {
	e.expires, e.created = x.expiresAt(at), x.createdAt(at)
	x.eachTag(at, func(tag uint32) bool {
		e.tags = append(e.tags, tag)
		return true
	})
	x.eachField(at, func(f storedField) bool {
		e.fields = append(e.fields, f)
		return true
	})
	return e
}

// remove frees a place.
func (x *extras) remove(at uint32) {
	x.spare += x.fieldsAt(at) + x.fieldCount(at)*uint32(fieldWords) - at
}

// isSparse reports whether less than half of the words are in use.
func (x *extras) isSparse() bool { return 4*x.spare > mostSpareBytes && 2*x.spare > x.words.Len() }

// instant reads the number at a place.
func (x *extras) instant(at uint32) int64 {
	return int64(uint64(*x.words.At(at)) | uint64(*x.words.At(at + 1))<<32)
}

func (x *extras) expiresAt(at uint32) int64 {
	if *x.words.At(at)&extraExpires == 0 {
		return 0
	}
	return x.instant(at + 2)
}

func (x *extras) createdAt(at uint32) int64 {
	first := *x.words.At(at)
	if first&extraCreated == 0 {
		return 0
	}
	return x.instant(at + 2 + 2*(first&extraExpires))
}

// tagsAt is where the tags begin.
func (x *extras) tagsAt(at uint32) uint32 {
	first := *x.words.At(at)
	return at + 2 + 2*(first&extraExpires) + first&extraCreated
}

func (x *extras) tagCount(at uint32) uint32 { return *x.words.At(at) >> extraTags }

func (x *extras) fieldCount(at uint32) uint32 { return *x.words.At(at + 1) }

// fieldsAt is where the fields begin.
func (x *extras) fieldsAt(at uint32) uint32 { return x.tagsAt(at) + x.tagCount(at) }

// eachTag calls do for the tags until do returns false.
func (x *extras) eachTag(at uint32, do func(tag uint32) bool) {
	from := x.tagsAt(at)
	for i := range x.tagCount(at) {
		if !do(*x.words.At(from + i)) {
			return
		}
	}
}

// eachField calls do for the fields until do returns false.
func (x *extras) eachField(at uint32, do func(storedField) bool) {
	from := x.fieldsAt(at)
	for range x.fieldCount(at) {
		f := storedField{name: *x.words.At(from)}
		for i := range fieldWords - 1 {
			binary.LittleEndian.PutUint32(f.value[4*i:], *x.words.At(from + 1 + uint32(i)))
		}
		if !do(f) {
			return
		}
		from += uint32(fieldWords)
	}
}
