package search

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sort"

	"github.com/alcove-memory/alcove/host/search/paged"
)

// nameIndex finds the numbers of names: those since the last save in memory, the others in runs that are sorted by hash and stored. A run may
// have numbers of names that are gone.
type nameIndex struct {
	recent numbering
	seed   maphash.Seed
	salt   [16]byte // of the hashes of runs, which none who chooses names knows
	runs   [maxRuns]paged.Array[uint64]
	list   []uint32 // the recent numbers, and those that are gone again
}

const (
	maxRuns = 12
	// shortRun is how many names the first run has at most. Each further one has up to runGrowth times as many.
	shortRun, runGrowth = 1 << 13, 4
)

// hashOf is the hash by which runs are sorted.
func (x *nameIndex) hashOf(n name) uint64 {
	h := sha256.New()
	h.Write(x.salt[:])
	h.Write(binary.LittleEndian.AppendUint32(nil, n.space))
	h.Write([]byte(n.key))
	var sum [sha256.Size]byte
	return uint64(binary.LittleEndian.Uint32(h.Sum(sum[:0])))
}

func (x *nameIndex) recentHash(n name) uint32 {
	const spread = 0x9e3779b97f4a7c15
	return uint32((maphash.String(x.seed, n.key) + uint64(n.space)*spread) >> 32)
}

// find returns the number of a name, or none.
func (x *nameIndex) find(n name, is func(id uint32) bool) uint32 {
	if id := x.recent.find(x.recentHash(n), is); id != none {
		return id
	}
	hash, hashed := uint64(0), false
	for i := range x.runs {
		run := &x.runs[i]
		if run.Len() == 0 {
			continue
		}
		if !hashed {
			hash, hashed = x.hashOf(n)<<32, true
		}
		begin := sort.Search(int(run.Len()), func(i int) bool { return *run.At(uint32(i)) >= hash })
		for at := uint32(begin); at < run.Len() && *run.At(at)>>32 == hash>>32; at++ {
			if id := uint32(*run.At(at)); is(id) {
				return id
			}
		}
	}
	return none
}

func (x *nameIndex) add(n name, id uint32) {
	x.recent.add(x.recentHash(n), id)
	x.list = append(x.list, id)
}

// remove removes the number of a name. One in a run stays there: nothing has it, or another name.
func (x *nameIndex) remove(n name, id uint32) { x.recent.remove(x.recentHash(n), id) }

// flush moves the recent numbers to a run, and those of full runs to greater ones. nameAt returns a name; ok is false if it is gone.
func (x *nameIndex) flush(nameAt func(id uint32) (n name, ok bool)) {
	moved := x.entries(x.list, nameAt)
	x.recent, x.list = numbering{}, nil
	most := shortRun
	for i := range x.runs {
		if len(moved) == 0 {
			return
		}
		run := &x.runs[i]
		moved = merged(run, moved)
		var next paged.Array[uint64]
		if len(moved) <= most || i == maxRuns-1 {
			for _, entry := range moved {
				next.Append(entry)
			}
			moved = nil
		}
		run.Replace(next)
		most *= runGrowth
	}
}

// entries are those of names in a run, in order.
func (x *nameIndex) entries(ids []uint32, nameAt func(id uint32) (n name, ok bool)) (sorted []uint64) {
	for _, id := range ids {
		if n, ok := nameAt(id); ok {
			sorted = append(sorted, x.hashOf(n)<<32|uint64(id))
		}
	}
	slices.Sort(sorted)
	return slices.Compact(sorted) // a number may be of a name that was gone and came again
}

// merged merges the entries of a run with others, each once.
func merged(run *paged.Array[uint64], others []uint64) []uint64 {
	all := make([]uint64, 0, int(run.Len())+len(others))
	for at := range run.Len() {
		entry := *run.At(at)
		for len(others) > 0 && others[0] < entry {
			all, others = append(all, others[0]), others[1:]
		}
		if len(others) > 0 && others[0] == entry {
			others = others[1:]
		}
		all = append(all, entry)
	}
	return append(all, others...)
}

// spareEntries is how many entries of names that are gone are always kept.
const spareEntries = 1 << 14

// isSparse reports whether the runs have more entries of names that are gone than of others, given how many there are.
func (x *nameIndex) isSparse(names int) bool {
	entries := 0
	for i := range x.runs {
		entries += int(x.runs[i].Len())
	}
	return entries > 2*names+spareEntries
}

// renew makes the runs anew from all names, so that they have nothing of those that are gone.
func (x *nameIndex) renew(ids uint32, nameAt func(id uint32) (n name, ok bool)) {
	for i := range x.runs {
		x.runs[i].Replace(paged.Array[uint64]{})
	}
	x.list = x.list[:0]
	for id := range ids {
		x.list = append(x.list, id)
	}
	x.flush(nameAt)
}
