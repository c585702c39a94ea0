package salvage

import (
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// orphanOf is the page that a damaged one referred to: the records below it have the sum that a bucket lacks. 0: not found.
func (s *survey) orphanOf(p layout.Table, lacks ...uint64) (found uint64) {
	s.eachUnvisited(func(id uint64, _ []byte) {
		if found != 0 {
			return
		}
		sum, whole := uint64(0), true
		s.probe(func() {
			s.walk("", id, 0, keyRange{}, func(e Element) {
				sum += layout.Weight(p.StoredSum(e.Value))
				whole = whole && !e.Bucket && p.Verify(e.Key, e.Value) == nil
			})
		})
		if whole && sum != 0 && (sum == lacks[0] || sum == lacks[len(lacks)-1]) {
			found = id
		}
	})
	return found
}

// eachUnvisited visits the pages that no other has referred to so far.
func (p *pages) eachUnvisited(visit func(id uint64, page []byte)) {
	known := p.visits
	p.probe(func() {
		p.eachPage(func(id uint64, page []byte, _ bool) {
			if id < uint64(len(known)) && known[id] == 0 {
				visit(id, page)
			}
		})
	})
}

// findBranch looks for the lost page of a branch: of all its pages, old ones included, the one with the newest change.
func (s *survey) findBranch(b *branch) {
	newest, twice := uint64(0), false
	var best map[layout.Kind]bucket
	s.eachUnvisited(func(id uint64, page []byte) {
		parts := s.partsIn(id, page)
		if len(parts) != len(layout.BranchKinds()) || !s.isBranch(b.id, parts) {
			return
		}
		switch at := s.lastChange(b.id, parts); {
		case at > newest:
			newest, twice, best = at, false, parts
		case at == newest:
			twice = true // it cannot be told which is newer
		}
	})
	if !twice && best != nil {
		b.parts = best
	}
}

// partsIn are the buckets in a page of a branch; nil for any other page.
func (s *survey) partsIn(id uint64, page []byte) map[layout.Kind]bucket {
	list, leaf := s.elements("", page, id)
	parts := map[layout.Kind]bucket{}
	for _, e := range list {
		k, ok := layout.KindOf(layout.BranchKinds(), e.Key)
		if !leaf || !ok || !e.Bucket {
			return nil
		}
		if part, ok := s.bucketOf("", e.Value); ok {
			parts[k] = part.kept()
		}
	}
	return parts
}

// lastChange is the newest version in the buckets of a branch. The change log may be some commits behind.
func (s *survey) lastChange(id store.BranchID, parts map[layout.Kind]bucket) (version uint64) {
	s.probe(func() {
		log, entries := layout.TableOf(layout.KindLog, uint64(id)), layout.TableOf(layout.KindEntries, 0)
		s.scan("", parts[layout.KindLog], func(e Element) {
			if log.Verify(e.Key, e.Value) == nil {
				version = max(version, layout.ChangeVersion(e.Key))
			}
		})
		s.scan("", parts[layout.KindEntries], func(e Element) {
			if _, at, err := keycode.SplitVersion(e.Key); err == nil && at > version && entries.Verify(e.Key, e.Value) == nil {
				version = at
			}
		})
	})
	return version
}
