package search

import (
	"context"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/search/segment"
	"github.com/alcove-memory/alcove/host/store"
)

// maxTailBytes bounds the positions of a tail, in bytes.
const maxTailBytes = 8 << 20

// mostSpare bounds the memory that is kept of a sealed tail for the next one, in bytes.
const mostSpare = 8 << 20

// mergeRun is the number of adjacent segments of one size class that are merged.
const mergeRun = 4

// full reports whether a tail is large enough to be sealed.
func (x *Index) full(p *part) bool { return p.docs() >= x.maxTail || p.tail.size >= maxTailBytes }

// Due signals that Maintain has work.
func (x *Index) Due() <-chan struct{} { return x.due }

func (x *Index) signalDue() {
	select {
	case x.due <- struct{}{}:
	default:
	}
}

// Maintain seals full tails, merges small segments, and reclaims the memory of removed documents. Searches and writes
// continue meanwhile.
func (x *Index) Maintain(ctx context.Context) error {
	x.maintaining.Lock()
	defer x.maintaining.Unlock()
	return x.maintain(ctx, x.full)
}

// maintain is Maintain with a choice of tails to seal. The caller holds maintaining.
func (x *Index) maintain(ctx context.Context, enough func(*part) bool) error {
	return x.guardWrite(func() error { return x.compact(ctx, enough) })
}

func (x *Index) compact(ctx context.Context, enough func(*part) bool) error {
	for _, p := range x.freeze(enough) {
		if err := x.seal(p); err != nil {
			return err
		}
	}
	for ctx.Err() == nil {
		run := x.mergeable()
		if run == nil {
			x.addAllWanted(ctx)
			x.compactTable()
			return x.unmapRetired()
		}
		if err := x.merge(run); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (x *Index) compactTable() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table.compact()
}

// freeze stops the growth of tails and returns them. The caller holds maintaining.
func (x *Index) freeze(which func(*part) bool) (frozen []*part) {
	x.adding.Lock() // which waits for documents whose rows are still missing
	defer x.adding.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, b := range x.branches {
		for _, p := range b.parts {
			if p.tail == nil {
				continue
			}
			if p.frozen = p.frozen || p.purged || which(p); p.frozen {
				frozen = append(frozen, p)
			}
		}
	}
	return frozen
}

// seal compresses a frozen tail. Documents keep their local numbers.
func (x *Index) seal(p *part) error {
	w := &segment.Writer{}
	x.storeColumns(w, p)
	sealed, err := p.tail.write(w, x.describe(p))
	if err != nil {
		return fmt.Errorf("seal a part of the index: %w", err)
	}
	was := p.tail
	x.mu.Lock() // which waits for those who read the tail
	p.tail, p.frozen, p.sealed = nil, false, sealed
	p.expiring = inOrder(p.expiring)
	x.mu.Unlock()
	x.addWanted(p)
	if was.reset() <= mostSpare {
		x.spare.Store(was)
	}
	return nil
}

// mergeable returns adjacent segments of one size class, or one segment with many removed documents.
func (x *Index) mergeable() []*part {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, b := range x.branches {
		var run []*part
		for i := len(b.parts) - 1; i >= 0; i-- { // the newest are the smallest
			p := b.parts[i]
			if p.sealed == nil {
				run = nil
				continue
			}
			if p.dead > 0 && p.dead*8 >= p.docs() || p.purged {
				return []*part{p}
			}
			if len(run) > 0 && x.class(p) != x.class(run[len(run)-1]) {
				run = nil
			}
			if run = append(run, p); len(run) == mergeRun {
				slices.Reverse(run)
				return run
			}
		}
	}
	return nil
}

// class is a part's size class: the logarithm of its size to base mergeRun.
func (x *Index) class(p *part) (class int) {
	for size := p.docs() + len(p.ghosts); size >= mergeRun*x.maxTail*3/4; size /= mergeRun {
		class++
	}
	return class
}

// mergePlan is the plan of a merge.
type mergePlan struct {
	into   *part
	moved  [][]uint32    // by part and document, the number in the new part, or none
	shift  []uint32      // by part: how much greater these are, if the part has no removed documents; otherwise none
	ghosts []ghostSource // of the tombstones of the new part
}

// ghostSource is where a tombstone was: a part, by its place among those merged, and its place there.
type ghostSource struct{ part, at int }

// refresh omits documents that were removed since plan: their rows may have been reused.
func (m *mergePlan) refresh(parts []*part) {
	m.into.dead, m.into.ghosts, m.into.facets, m.into.expiring = 0, nil, nil, nil
	for i, p := range parts {
		for local, to := range m.moved[i] {
			if to == none {
				continue
			}
			if m.into.rows[to] = p.rows[local]; p.rows[local] == none {
				m.into.dead++
			}
		}
		p.facets.each(func(facet uint32) bool {
			m.into.facets.add(facet)
			return true
		})
		for _, e := range p.expiring {
			if to := m.moved[i][e.local]; to != none && m.into.rows[to] != none {
				m.into.expiring = append(m.into.expiring, expiry{e.at, to})
			}
		}
	}
	for _, from := range m.ghosts {
		m.into.ghosts = append(m.into.ghosts, parts[from.part].ghosts[from.at])
	}
	m.into.expiring = inOrder(m.into.expiring)
}

// merge merges parts of a branch without their removed documents.
func (x *Index) merge(parts []*part) error {
	m := x.plan(parts)
	sealed, err := x.join(m, parts)
	if err != nil {
		return fmt.Errorf("merge parts of the index: %w", err)
	}
	m.into.sealed = sealed
	x.addWanted(m.into)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	x.swap(m, parts)
	return nil
}

// plan numbers the documents of the merged part.
func (x *Index) plan(parts []*part) mergePlan {
	x.mu.Lock()
	x.lastPart++
	m := mergePlan{into: &part{id: x.lastPart, branch: parts[0].branch, first: store.Latest}}
	x.mu.Unlock()
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i, p := range parts {
		for at, number := range p.ghosts {
			if number != none {
				m.ghosts = append(m.ghosts, ghostSource{i, at})
			}
		}
		moved, shift := make([]uint32, p.docs()), uint32(len(m.into.rows))
		for local, number := range p.rows {
			if number == none {
				moved[local], shift = none, none
				continue
			}
			moved[local] = uint32(len(m.into.rows))
			m.into.rows = append(m.into.rows, number)
		}
		m.moved, m.shift = append(m.moved, moved), append(m.shift, shift)
		m.into.first, m.into.last = min(m.into.first, p.first), max(m.into.last, p.last)
	}
	return m
}

// join writes the merged segment.
func (x *Index) join(m mergePlan, parts []*part) (*segment.Segment, error) {
	w := &segment.Writer{}
	lengths, digests := make([]byte, len(m.into.rows)), make([]uint64, len(m.into.rows))
	sources, positions := make([]*segment.Segment, len(parts)), 0
	for i, p := range parts {
		sources[i] = p.sealed
		positions += p.sealed.Positions()
		for local, to := range m.moved[i] {
			if to != none {
				lengths[to] = p.sealed.Lengths()[local]
				digests[to], _ = p.sealed.Digest(uint32(local))
			}
		}
	}
	w.Reserve(positions)
	w.Digests(digests)
	var list segment.Cursor
	segment.Merge(sources, func(term string, of []segment.Postings) {
		w.Term(term)
		for i, postings := range of {
			if postings.Count == 0 {
				continue
			}
			if list.Reset(postings); m.shift[i] != none {
				w.AddShifted(&list, m.shift[i])
			} else {
				copyPostings(w, &list, m.moved[i])
			}
		}
	})
	x.mergeColumns(w, m, parts)
	return w.Finish(lengths, x.describeMerged(m, parts))
}

// describeMerged encodes the payload of a merged part.
func (x *Index) describeMerged(m mergePlan, parts []*part) []byte {
	x.mu.RLock()
	defer x.mu.RUnlock()
	m.refresh(parts)
	return m.into.describe()
}

func copyPostings(w *segment.Writer, list *segment.Cursor, moved []uint32) {
	for docs, frequencies := list.Next(); len(docs) > 0; docs, frequencies = list.Next() {
		list.Positions(func(i int, positions []byte) {
			if to := moved[docs[i]]; to != none {
				w.Add(to, frequencies[i], positions)
			}
		})
	}
}

// swap replaces the source parts by the merged one, unless one of them was dropped. Documents removed meanwhile are
// removed from it too.
func (x *Index) swap(m mergePlan, parts []*part) {
	b := x.branches[m.into.branch]
	if b == nil {
		return
	}
	at := slices.Index(b.parts, parts[0])
	if at < 0 || at+len(parts) > len(b.parts) || !slices.Equal(b.parts[at:at+len(parts)], parts) {
		return
	}
	m.refresh(parts)
	for _, p := range parts {
		m.into.purged = m.into.purged || m.into.dead > 0 && p.purged // meanwhile
		x.retire(p)
		delete(x.parts, p.id)
		x.forgetPart(p.id)
	}
	x.relocate(m.into)
	x.parts[m.into.id] = m.into
	b.parts = slices.Replace(b.parts, at, at+len(parts), m.into)
}

// relocate updates the rows of a part to point to it.
func (x *Index) relocate(p *part) {
	for local, number := range p.rows {
		if number != none {
			*x.table.places.Edit(number) = place{p.id, uint32(local)}
		}
	}
	for local, number := range p.ghosts {
		if number == none {
			continue
		}
		*x.table.places.Edit(number) = place{p.id, uint32(local)}
	}
}
