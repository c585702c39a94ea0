package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/search/paged"
	"github.com/alcove-memory/alcove/host/store"
)

// storedTable is the arrays by which a table is stored. The slices have values during saves and loads alone.
type storedTable struct {
	set               paged.Set
	free, freeNames   paged.Slice[uint32]
	live              paged.Slice[uint64]
	interned          paged.Slice[byte]
	turns             paged.Slice[turn]
	slots             paged.Slice[slot]
	slotOf            paged.Slice[uint32]
	threads           paged.Slice[thread]
	asking, follows   paged.Slice[uint64]
	assisting, uneven paged.Slice[uint64]
}

// register adds the arrays of a table to its set.
func (t *table) register() {
	s := &t.stored
	s.set.Add("rows", &t.rows)
	s.set.Add("places", &t.places)
	s.set.Add("names", &t.names)
	s.set.Add("keys", &t.keys.Chunks)
	s.set.Add("heads", &t.heads)
	s.set.Add("extras", &t.extras.words)
	for i := range t.numbers.runs {
		s.set.Add(fmt.Sprint("run ", i), &t.numbers.runs[i])
	}
	s.set.Add("free rows", &s.free)
	s.set.Add("free names", &s.freeNames)
	s.set.Add("live", &s.live)
	s.set.Add("interned", &s.interned)
	s.set.Add("turns", &s.turns)
	s.set.Add("slots", &s.slots)
	s.set.Add("slot of row", &s.slotOf)
	s.set.Add("threads", &s.threads)
	s.set.Add("asking", &s.asking)
	s.set.Add("assisting", &s.assisting)
	s.set.Add("follows", &s.follows)
	s.set.Add("uneven", &s.uneven)
}

// toStored gives the stored slices their values.
func (t *table) toStored() {
	s, th := &t.stored, &t.threads
	s.free.Values, s.freeNames.Values, s.live.Values, s.interned.Values = t.free, t.freeNames, t.live, t.log.data
	s.turns.Values, s.slots.Values, s.slotOf.Values, s.threads.Values = th.turns, th.slots, th.slotOf, th.threads
	s.asking.Values, s.assisting.Values, s.follows.Values, s.uneven.Values = th.asking, th.assisting, th.follows, th.uneven
}

// fromStored takes the values of the stored slices.
func (t *table) fromStored() {
	s, th := &t.stored, &t.threads
	t.free, t.freeNames, t.live = s.free.Values, s.freeNames.Values, s.live.Values
	th.turns, th.slots, th.slotOf, th.threads = s.turns.Values, s.slots.Values, s.slotOf.Values, s.threads.Values
	th.asking, th.assisting, th.follows, th.uneven = s.asking.Values, s.assisting.Values, s.follows.Values, s.uneven.Values
}

// tableState is what is stored of a table beside its arrays.
type tableState struct {
	Salt        []byte
	Keys        uint64 // bytes
	SpareKeys   uint64
	SpareExtras uint32
	FreeHeads   uint32
	FreeSlots   [][]uint32
	Unsorted    []uint32
	Superseding []uint32 // rows
	LastPart    uint32
	Branches    []branchState
}

// branchState is what is stored of a branch.
type branchState struct {
	ID      store.BranchID
	Newest  uint64
	Sums    [][3]int64  // facet, documents, length
	Voices  [][3]uint32 // speaker, facet, turns
	Parts   []partState // that are stored
	Pending []byte      // the rows of the others, as payloads have them
}

// partState is what is stored of a part beside its file.
type partState struct {
	Blob        string
	Number      uint32
	First, Last uint64
	Dead        []byte // the documents that were removed since, and the tombstones, as payloads have numbers
	DeadGhosts  []byte
}

// state returns what is stored beside the arrays. The caller holds mu.
func (x *Index) state() ([]byte, error) {
	t := x.table
	s := tableState{Salt: t.numbers.salt[:], Keys: t.keys.Size(), SpareKeys: t.spareKeys, SpareExtras: t.extras.spare, FreeHeads: t.freeHeads,
		FreeSlots: t.threads.free[:], Unsorted: t.threads.unsorted, LastPart: x.lastPart}
	for _, rows := range t.superseding {
		s.Superseding = append(s.Superseding, rows...)
	}
	slices.Sort(s.Superseding)
	s.Superseding = slices.Compact(s.Superseding)
	for _, id := range slices.Sorted(maps.Keys(x.branches)) {
		s.Branches = append(s.Branches, x.branches[id].state(id))
	}
	return json.Marshal(s)
}

func (b *branch) state(id store.BranchID) branchState {
	s := branchState{ID: id, Newest: b.newest}
	for facet, sum := range b.newestOnes.sums {
		if sum.documents > 0 {
			s.Sums = append(s.Sums, [3]int64{int64(facet), int64(sum.documents), int64(sum.length)})
		}
	}
	for speaker, list := range b.newestOnes.voices {
		for _, v := range list {
			s.Voices = append(s.Voices, [3]uint32{speaker, v.facet, uint32(v.turns)})
		}
	}
	slices.SortFunc(s.Sums, func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) })
	slices.SortFunc(s.Voices, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
	var pending []uint32
	for _, p := range b.parts {
		if p.sealed == nil {
			p.each(func(number uint32) { pending = append(pending, number) })
			continue
		}
		s.Parts = append(s.Parts, partState{Blob: p.blob, Number: p.id, First: p.first, Last: p.last, Dead: numbersOf(deadOf(p.rows)), DeadGhosts: numbersOf(deadOf(p.ghosts))})
	}
	s.Pending = numbersOf(pending)
	return s
}

// deadOf lists the places of a list that have no row.
func deadOf(rows []uint32) (dead []uint32) {
	for i, number := range rows {
		if number == none {
			dead = append(dead, uint32(i))
		}
	}
	return dead
}

// numbersOf encodes a list of numbers.
func numbersOf(list []uint32) []byte {
	var w payloadWriter
	w.rows(list)
	return w.out
}

// readNumbers decodes what numbersOf encoded.
func readNumbers(data []byte) ([]uint32, error) {
	r := &payloadReader{in: data}
	list := r.rows(mostGhosts)
	if r.bad || len(r.in) > 0 {
		return nil, errPayload
	}
	return list, nil
}

// restore makes the empty table that of a state, whose arrays are loaded.
func (t *table) restore(s *tableState) error {
	t.fromStored()
	copy(t.numbers.salt[:], s.Salt)
	t.keys.Resize(s.Keys)
	t.spareKeys, t.extras.spare, t.freeHeads = s.SpareKeys, s.SpareExtras, s.FreeHeads
	th := &t.threads
	copy(th.free[:], s.FreeSlots)
	th.unsorted, th.changes = s.Unsorted, 1
	th.changedAt = slices.Repeat([]uint64{1}, (len(th.slots)+63)/64)
	if err := t.readInterned(t.stored.interned.Values); err != nil {
		return err
	}
	for _, number := range s.Superseding {
		t.eachSuperseded(number, func(key Digest) { t.superseding[key] = append(t.superseding[key], number) })
	}
	return nil
}

// statistics are the stored ones.
func (s *branchState) statistics() statistics {
	counted := newStatistics()
	for _, n := range s.Sums {
		counted.sums[uint32(n[0])] = sum{int(n[1]), int(n[2])}
	}
	for _, v := range s.Voices {
		counted.voices[v[0]] = append(counted.voices[v[0]], voice{v[1], int(v[2])})
	}
	return counted
}
