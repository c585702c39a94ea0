package bolt

import "github.com/alcove-memory/alcove/host/store"

// orphanOf is the page that a damaged one led to: what is below it has the sum that a bucket lacks. 0 for none.
func (s *survey) orphanOf(p place, lacks ...uint64) (found uint64) {
	s.eachUnvisited(func(id uint64, _ []byte) {
		if found != 0 {
			return
		}
		sum, whole := uint64(0), true
		s.quietly(func() {
			s.walk("", id, 0, span{}, func(e element) {
				sum += weight(p.stored(e.value))
				whole = whole && !e.bucket && p.whole(e.key, e.value) == nil
			})
		})
		if whole && sum != 0 && (sum == lacks[0] || sum == lacks[len(lacks)-1]) {
			found = id
		}
	})
	return found
}

// eachUnvisited visits the pages that nothing led to so far.
func (p *pages) eachUnvisited(visit func(id uint64, page []byte)) {
	known := p.visits
	p.quietly(func() {
		p.eachPage(func(id uint64, page []byte, _ bool) {
			if id < uint64(len(known)) && known[id] == 0 {
				visit(id, page)
			}
		})
	})
}

// findBranch looks for the page of a branch that nothing leads to any more: of all that were its, the one with the newest change.
func (s *survey) findBranch(b *branch) {
	newest, twice := uint64(0), false
	var best map[kind]bucket
	s.eachUnvisited(func(id uint64, page []byte) {
		parts := s.partsIn(id, page)
		if len(parts) != len(branchKinds()) || !s.isBranch(b.id, parts) {
			return
		}
		switch at := s.lastChange(b.id, parts[kindLog]); {
		case at > newest:
			newest, twice, best = at, false, parts
		case at == newest:
			twice = true // nothing tells which came later
		}
	})
	if !twice && best != nil {
		b.parts = best
	}
}

// partsIn are the buckets of a branch in a page, if it is one of a branch.
func (s *survey) partsIn(id uint64, page []byte) map[kind]bucket {
	list, leaf := s.elements("", page, id)
	parts := map[kind]bucket{}
	for _, e := range list {
		k, ok := kindNamed(branchKinds(), e.key)
		if !leaf || !ok || !e.bucket {
			return nil
		}
		if part, ok := s.bucketOf("", e.value); ok {
			parts[k] = part.kept()
		}
	}
	return parts
}

func (s *survey) lastChange(id store.BranchID, log bucket) (version uint64) {
	p := placeOf(kindLog, uint64(id))
	s.quietly(func() {
		s.scan("", log, func(e element) {
			if p.whole(e.key, e.value) == nil {
				version = max(version, changedAt(e.key))
			}
		})
	})
	return version
}
