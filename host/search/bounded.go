package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// bounded scores a leaf without most of its postings (MaxScore: Turtle and Flood 1995). The clauses with the lowest bounds may together score
// less than the worst hit so far: then documents with none of the other clauses are no hits, so these alone are read, and a clause of the first
// kind is looked up for the few documents that it may raise high enough. The scores of those are sums over the clauses in their order, and
// matches are counted by sets, so the result is the same as without bounds.
type bounded struct {
	*ranking
	leaf    *leaf
	lists   []clauseScorer
	ordered []*clauseScorer // by bound, the lowest first
	others  bitset          // of the window: documents that the clauses have which were not scored
}

// newBounded returns nil if all matches are wanted, or bounds do not pay.
func (r *ranking) newBounded(l *leaf, lists []clauseScorer) *bounded {
	if r.keepAll || l.tested || r.query.exhaustive || len(lists) < 2 {
		return nil
	}
	b := &bounded{ranking: r, leaf: l, lists: lists}
	paid := false
	for i := range lists {
		s := &lists[i]
		if !(s.gain >= 0) {
			return nil
		}
		for _, n := range r.norms {
			most := n.K1 + 1
			if s.set != nil {
				most = s.set.most(n)
			}
			s.most = max(s.most, s.gain*most)
		}
		paid = paid || s.set != nil
		b.ordered = append(b.ordered, s)
	}
	if !paid {
		return nil
	}
	slices.SortStableFunc(b.ordered, func(a, b *clauseScorer) int { return cmp.Compare(a.most, b.most) })
	b.others = newBitset(sheetSize)
	return b
}

// window scores the documents of a window. It reports false, and has done nothing, if the postings of all clauses are needed.
func (b *bounded) window(s *sheet, from uint32) bool {
	if len(b.best.list) < b.best.most || b.best.most == 0 {
		return false
	}
	to := min(from+sheetSize, uint32(b.leaf.part.docs()))
	least := b.best.list[0].score * (1 - margin)
	few, rest := 0, 0.0
	for few < len(b.ordered) && rest+b.ordered[few].most < least {
		rest += b.ordered[few].most
		few++
	}
	if few == 0 {
		return false
	}
	for _, c := range b.ordered[few:] {
		c.read(s, from, to)
	}
	b.count(s, from, b.ordered[:few])
	b.evaluate(s, from, least, rest, b.ordered[:few])
	return true
}

// read adds the scores of the postings in a window. Those of a clause without a set are kept for look-ups.
func (c *clauseScorer) read(s *sheet, from, to uint32) {
	c.near, c.nearTimes = c.near[:0], c.nearTimes[:0]
	if c.set != nil {
		c.add(s, from, to)
		return
	}
	c.keep(from, to)
	docs, tfs := c.docs, c.tfs
	c.docs, c.tfs = c.near, c.nearTimes
	c.addBlock(s, from, to)
	c.docs, c.tfs = docs, tfs
}

// keep keeps the postings of a window.
func (c *clauseScorer) keep(from, to uint32) {
	c.near, c.nearTimes = c.near[:0], c.nearTimes[:0]
	if c.at < from {
		c.skip(from)
	}
	c.at = to
	for !c.done {
		if len(c.docs) == 0 {
			if c.docs, c.tfs = c.list.Next(); len(c.docs) == 0 {
				c.done = true
				return
			}
		}
		n := len(c.docs)
		if c.docs[n-1] >= to {
			n, _ = slices.BinarySearch(c.docs, to)
		}
		c.near, c.nearTimes = append(c.near, c.docs[:n]...), append(c.nearTimes, c.tfs[:n]...)
		if c.docs, c.tfs = c.docs[n:], c.tfs[n:]; len(c.docs) > 0 {
			return
		}
	}
}

// frequency is how often a document of the window has the clause.
func (c *clauseScorer) frequency(doc uint32) uint32 {
	if c.set != nil {
		return c.set.frequency(doc)
	}
	if at, found := slices.BinarySearch(c.near, doc); found {
		return c.nearTimes[at]
	}
	return 0
}

// count counts the matches of a window, given the clauses that were not scored.
func (b *bounded) count(s *sheet, from uint32, unscored []*clauseScorer) {
	first := int(from / 64)
	words := min(len(s.touched), len(b.leaf.matching)-first)
	if words <= 0 {
		return
	}
	others := b.others[:words]
	clear(others)
	for _, c := range unscored {
		if c.set == nil {
			c.keep(from, min(from+sheetSize, uint32(b.leaf.part.docs())))
			for _, doc := range c.near {
				if at := (doc - from) / 64; int(at) < words {
					others[at] |= 1 << (doc % 64)
				}
			}
			continue
		}
		for i, word := range c.set.docs[first:min(first+words, len(c.set.docs))] {
			others[i] |= word
		}
	}
	for i, word := range b.leaf.matching[first : first+words] {
		b.matches += bits.OnesCount64(word&others[i] | s.touched[i])
	}
}

// evaluate scores the documents of a window that may be hits, and zeroes the sheet.
func (b *bounded) evaluate(s *sheet, from uint32, least, rest float64, unscored []*clauseScorer) {
	for i, word := range s.touched {
		if word == 0 {
			continue
		}
		s.touched[i] = 0
		for ; word != 0; word &= word - 1 {
			at := uint32(i*64 + bits.TrailingZeros64(word))
			score := s.scores[at]
			s.scores[at] = 0
			if score+rest >= least && b.reaches(from+at, score, least, rest, unscored) {
				b.offer(from + at)
			}
		}
	}
}

// reaches reports whether a document may score enough, given what it has from the scored clauses.
func (b *bounded) reaches(doc uint32, score, least, rest float64, unscored []*clauseScorer) bool {
	for i := len(unscored) - 1; i >= 0; i-- {
		c := unscored[i]
		if f := c.frequency(doc); f > 0 {
			score += c.score(doc, f)
		}
		if rest -= c.most; score+rest < least {
			return false
		}
	}
	return true
}

// offer offers a document as a hit, with its score.
func (b *bounded) offer(doc uint32) {
	score := 0.0
	for i := range b.lists {
		c := &b.lists[i]
		if f := c.frequency(doc); f > 0 {
			score += c.score(doc, f)
		}
	}
	b.bestPlain = max(b.bestPlain, score)
	if b.best.accepts(score) {
		b.best.push(plain(b.leaf.part.rows[doc], score))
	}
}
