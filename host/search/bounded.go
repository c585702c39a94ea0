package search

import (
	"cmp"
	"math/bits"
	"slices"
)

// bounded scores a leaf without reading most of its postings. It skips groups of documents whose score bound, from their frequencies and
// lengths, is below the worst hit so far (Ding and Suel 2011). In the other groups, it separates the clauses whose bounds together are below that
// hit (MaxScore: Turtle and Flood 1995): it adds the scores of the remaining clauses, and looks the separated ones up only for documents that can
// still become hits. Scores are summed in the order of the clauses, and matches are counted by sets, so the result is exact.
type bounded struct {
	*ranking
	leaf    *leaf
	lists   []clauseScorer
	ordered []*clauseScorer // by bound, the lowest first
	others  bitset          // of the window: documents that have a clause
	live    []bool          // of the window, by group: some of its documents may be hits
	bounds  []float64       // of the window, by group: what its documents score at most
	dead    int             // groups that are not
}

// groupSize is the number of documents that share a bound.
const groupSize = 64 * rankEach

// newBounded returns nil if all matches are needed, or if bounds would not save time.
func (r *ranking) newBounded(l *leaf, lists []clauseScorer) *bounded {
	if r.keepAll || l.tested || r.query.exhaustive || l.hits < l.part.docs()/setShare {
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
	b.others, b.live, b.bounds = newBitset(sheetSize), make([]bool, sheetSize/groupSize), make([]float64, sheetSize/groupSize)
	return b
}

// window scores the documents of a window. It reports false, and has done nothing, if the postings of all clauses are needed.
func (b *bounded) window(s *sheet, from, to uint32) bool {
	if b.best.isOpen() || b.best.most == 0 {
		return false
	}
	least := b.best.list[0].score * (1 - margin)
	few, rest := 0, 0.0
	for few < len(b.ordered) && rest+b.ordered[few].most < least {
		rest += b.ordered[few].most
		few++
	}
	for i := range b.lists {
		b.lists[i].keep(from, to)
	}
	b.judge(from, to, least)
	for _, c := range b.ordered[few:] {
		b.add(c, s, from, to)
	}
	b.count(s, from, to)
	b.evaluate(s, from, least, rest, b.ordered[:few])
	return true
}

// judge finds the groups of a window whose documents may score enough.
func (b *bounded) judge(from, to uint32, least float64) {
	bounds := b.bounds[:(to-from)/groupSize]
	clear(bounds)
	for i := range b.lists {
		c := &b.lists[i]
		if c.set == nil {
			last := none
			for _, doc := range c.near {
				if at := (doc - from) / groupSize; at != last {
					bounds[at] += c.most
					last = at
				}
			}
			continue
		}
		for i := range bounds {
			if at := int(from/groupSize) + i; at < len(c.set.groups) {
				bounds[i] += c.mostOf(&c.set.groups[at])
			}
		}
	}
	b.dead = 0
	for i, bound := range bounds {
		if b.live[i] = bound >= least; !b.live[i] {
			b.dead++
		}
	}
}

// mostOf returns an upper bound of the scores in a group.
func (c *clauseScorer) mostOf(g *group) float64 {
	if g.most == 0 {
		return 0
	}
	if c.small == nil || g.most == 255 {
		return c.most
	}
	most := max(c.small[0][g.shortest[0]], c.small[1][g.shortest[1]])
	if g.most == 3 {
		most = max(most, c.small[2][g.shortest[2]])
	} else if g.most > 3 {
		most = max(most, c.gain*c.norm.weight(uint32(g.most), g.shortest[2]))
	}
	return most
}

// add adds the scores of a clause in a window; if few of its groups are live, in these alone.
func (b *bounded) add(c *clauseScorer, s *sheet, from, to uint32) {
	switch {
	case c.set == nil:
		docs, tfs := c.docs, c.tfs
		c.docs, c.tfs = c.near, c.nearTimes
		c.addBlock(s, from, to)
		c.docs, c.tfs = docs, tfs
	case b.leaf.sparse || sparseShare*(len(b.bounds)-b.dead) >= len(b.bounds):
		c.add(s, from, to)
	default:
		for i := range (to - from) / groupSize {
			if b.live[i] {
				c.addAmong(s, from, from+i*groupSize, from+(i+1)*groupSize)
			}
		}
	}
}

// keep keeps the postings of a window of a clause without a set.
func (c *clauseScorer) keep(from, to uint32) {
	c.near, c.nearTimes = c.near[:0], c.nearTimes[:0]
	if c.set != nil {
		return
	}
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

// count counts the matches of a window.
func (b *bounded) count(s *sheet, from, to uint32) {
	first := int(from / 64)
	words := min(int(to-from)/64, len(b.leaf.matching)-first)
	if words <= 0 {
		return
	}
	others := b.others[:words]
	clear(others)
	for i := range b.lists {
		c := &b.lists[i]
		for _, doc := range c.near {
			if at := (doc - from) / 64; int(at) < words {
				others[at] |= 1 << (doc % 64)
			}
		}
		if c.set != nil {
			for i, word := range c.set.docs[first:min(first+words, len(c.set.docs))] {
				others[i] |= word
			}
		}
	}
	for i, word := range b.leaf.matching[first : first+words] {
		b.matches += bits.OnesCount64(word & others[i])
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

// reaches reports whether a document can still score enough, given its score from the added clauses.
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
