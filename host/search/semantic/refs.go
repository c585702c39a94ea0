package semantic

import (
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
)

// refs are the documents by number. Namespaces and collections are few, so that one is kept once.
type refs struct {
	list   []compactRef
	spaces []space
	number map[space]uint32 // of a space, from 1
}

type space struct{ namespace, collection string }

// compactRef is a search.Ref; without a space it is of no document.
type compactRef struct {
	branch  store.BranchID
	version uint64
	key     string
	space   uint32
}

// of returns the document of a number; the zero Ref if there is none.
func (r *refs) of(number uint32) search.Ref {
	if int(number) >= len(r.list) || r.list[number].space == 0 {
		return search.Ref{}
	}
	c := &r.list[number]
	s := &r.spaces[c.space-1]
	return search.Ref{Branch: c.branch, Version: c.version, Namespace: s.namespace, Collection: s.collection, Key: c.key}
}

// collectionOf returns the collection of a number; empty if there is no document.
func (r *refs) collectionOf(number uint32) string {
	if int(number) >= len(r.list) || r.list[number].space == 0 {
		return ""
	}
	return r.spaces[r.list[number].space-1].collection
}

// each calls do for the documents.
func (r *refs) each(do func(number uint32, collection string)) {
	for number := range r.list {
		if s := r.list[number].space; s > 0 {
			do(uint32(number), r.spaces[s-1].collection)
		}
	}
}

func (r *refs) set(number uint32, ref search.Ref) {
	for int(number) >= len(r.list) {
		r.list = append(r.list, compactRef{})
	}
	r.list[number] = compactRef{ref.Branch, ref.Version, ref.Key, r.spaceOf(space{ref.Namespace, ref.Collection})}
}

func (r *refs) spaceOf(s space) uint32 {
	n := r.number[s]
	if n == 0 {
		if r.number == nil {
			r.number = map[space]uint32{}
		}
		r.spaces = append(r.spaces, s)
		n = uint32(len(r.spaces))
		r.number[s] = n
	}
	return n
}

// remove removes the document of a number, and reports whether there was one.
func (r *refs) remove(number uint32) bool {
	if int(number) >= len(r.list) || r.list[number].space == 0 {
		return false
	}
	r.list[number] = compactRef{}
	return true
}
