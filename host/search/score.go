package search

import (
	"context"
	"math/bits"
	"slices"
)

// sheetSize is the number of documents scored at a time, chosen so that their scores stay in the processor's cache.
const sheetSize = 1 << 15

// sparseShare is up to which share of a part possible hits are looked up in postings, which is then faster than to read them.
const sparseShare = 4

// firstSheet is the number of documents scored at a time until there are as many hits as are wanted.
const firstSheet = 1 << 12

// sheet accumulates the scores of a window of documents.
type sheet struct {
	scores  [sheetSize]float64
	touched [sheetSize / 64]uint64
}

// score collects the matches leaf by leaf, without the turns that pruning collects.
func (r *ranking) score(ctx context.Context) error {
	if r.turns != nil {
		if err := r.turns.prepare(ctx); err != nil {
			return err
		}
	}
	s, ok := r.index.sheets.Get().(*sheet)
	if !ok {
		s = &sheet{}
	}
	for _, l := range r.leaves {
		if r.prunes() && !l.mixed {
			continue
		}
		lists := r.open(l)
		l.hits = l.matching.count()
		l.sparse = sparseShare*l.hits < l.part.docs()
		if r.keepAll {
			l.matches = make([]match, 0, l.mostMatches())
		}
		b := r.newBounded(l, lists)
		for from, to := uint32(0), uint32(0); int(from) < l.part.docs() && len(lists) > 0; from = to {
			if err := ctx.Err(); err != nil {
				return err
			}
			if to = from + sheetSize; b != nil && r.best.isOpen() {
				to = from + firstSheet
			}
			if b != nil && b.window(s, from, to) {
				continue
			}
			for i := range lists {
				lists[i].add(s, from, to)
			}
			r.collect(l, s, from)
		}
	}
	r.index.sheets.Put(s) // collect has zeroed it
	return nil
}

// prunes reports whether the turns are not scored like other documents first.
func (r *ranking) prunes() bool { return r.turns != nil && r.turns.pruned }

// mostMatches bounds the leaf's matches.
func (l *leaf) mostMatches() (n int) {
	for _, o := range l.opened {
		n += o.documents
	}
	return min(n, l.part.docs())
}

// open returns the postings of the clauses that occur in a leaf.
func (r *ranking) open(l *leaf) (lists []clauseScorer) {
	for i := range r.asked.clauses {
		c := &r.asked.clauses[i]
		if list := l.unread(c, i); list != nil {
			o := &l.opened[i]
			if o.set == nil {
				o.set = l.part.set(c, o.documents)
			}
			lists = append(lists, clauseScorer{list: list, set: o.set, leaf: l, ranking: r, gain: c.idf * c.weight, norm: r.norms[""], lengths: l.part.lengths(), small: c.small})
		}
	}
	return lists
}

// clauseScorer is a clause's postings in a leaf with what their scores need.
type clauseScorer struct {
	list      reader
	set       *postingSet // nil: none
	docs, tfs []uint32    // the rest of the current block
	done      bool
	at        uint32 // the postings before this document have been read, or passed over
	leaf      *leaf
	ranking   *ranking
	norm      *norm // nil: per document
	lengths   []byte
	gain      float64
	most      float64  // a score that no document exceeds
	near      []uint32 // documents of the window, if there is no set, with their frequencies
	nearTimes []uint32
	small     *[3][256]float64 // scores of the frequencies 1, 2 and 3; nil: not tabulated
}

// tabulated is the number of postings from which a table of scores pays.
const tabulated = 2 * 3 * 256

// tabulate computes the scores of the frequencies 1, 2 and 3 for a clause with many postings.
func (r *ranking) tabulate(i int) {
	c, n, postings := &r.asked.clauses[i], r.norms[""], 0
	for _, l := range r.leaves {
		postings += l.opened[i].documents
	}
	if n == nil || postings < tabulated {
		return
	}
	c.small = &[3][256]float64{}
	for f := range c.small {
		for code := range c.small[f] {
			c.small[f][code] = c.idf * c.weight * n.weight(uint32(f+1), byte(code))
		}
	}
}

// add adds the scores of the postings in a window, to which it skips.
func (s *clauseScorer) add(sheet *sheet, from, to uint32) {
	if s.set != nil && s.leaf.sparse {
		s.addAmong(sheet, from, from, to)
		return
	}
	if s.at < from {
		s.skip(from)
	}
	s.at = to
	for !s.done {
		if len(s.docs) == 0 {
			if s.docs, s.tfs = s.list.Next(); len(s.docs) == 0 {
				s.done = true
				return
			}
		}
		n := s.addBlock(sheet, from, to)
		if s.docs, s.tfs = s.docs[n:], s.tfs[n:]; len(s.docs) > 0 {
			return // the rest is for a later window
		}
	}
}

// addAmong adds the scores of the possible hits in a part of the window that begins at a document, and reads no other postings.
func (s *clauseScorer) addAmong(sheet *sheet, window, from, to uint32) {
	set, matching := s.set, s.leaf.matching
	before := set.rank(int(from / 64))
	for i := int(from / 64); i < min(int(to+63)/64, len(set.docs), len(matching)); i++ {
		word := set.docs[i]
		for both := word & matching[i]; both != 0; both &= both - 1 {
			bit := both & -both
			doc := uint32(i*64 + bits.TrailingZeros64(both))
			frequency := set.postings.Frequency(before + bits.OnesCount64(word&(bit-1)))
			sheet.touched[i-int(window/64)] |= bit
			sheet.scores[doc-window] += s.score(doc, frequency)
		}
		before += bits.OnesCount64(word)
	}
}

// skip advances to the postings from a document on.
func (s *clauseScorer) skip(from uint32) {
	if n := len(s.docs); n == 0 || s.docs[n-1] < from {
		s.list.Skip(from)
		if s.docs, s.tfs = s.list.Next(); len(s.docs) == 0 {
			s.done = true
			return
		}
	}
	n, _ := slices.BinarySearch(s.docs, from)
	s.docs, s.tfs = s.docs[n:], s.tfs[n:]
}

// addBlock adds the scores of a block and returns how many of its postings are in the window.
func (s *clauseScorer) addBlock(sheet *sheet, from, to uint32) int {
	matching := s.leaf.matching
	tfs := s.tfs[:len(s.docs)]
	for i, doc := range s.docs {
		if doc >= to {
			return i
		}
		if word := int(doc / 64); word >= len(matching) || matching[word]&(1<<(doc%64)) == 0 {
			continue
		}
		at := doc - from
		sheet.touched[at/64] |= 1 << (at % 64)
		sheet.scores[at] += s.score(doc, tfs[i])
	}
	return len(s.docs)
}

// score is what a frequency scores in a document.
func (s *clauseScorer) score(doc, frequency uint32) float64 {
	if s.small != nil && frequency <= 3 {
		return s.small[frequency-1][s.lengths[doc]]
	}
	return float64(s.gain * s.normOf(doc).weight(frequency, s.lengths[doc])) // rounded as in the table: no fused multiply-add
}

func (s *clauseScorer) normOf(doc uint32) *norm {
	if s.norm != nil {
		return s.norm
	}
	return s.ranking.normOf(s.leaf.part.rows[doc])
}

// collect records the matches of a window and zeroes the sheet.
func (r *ranking) collect(l *leaf, s *sheet, from uint32) {
	for i, word := range s.touched[:min(len(s.touched), (l.part.docs()-int(from)+63)/64)] {
		for word != 0 {
			at := uint32(i*64 + bits.TrailingZeros64(word))
			word &= word - 1
			score := s.scores[at]
			s.scores[at] = 0
			number := l.part.rows[from+at]
			if r.prunes() && r.slotOf(number) != none || l.tested && !r.wants(number) {
				continue
			}
			r.matches++
			if score > r.bestPlain && r.slotOf(number) == none {
				r.bestPlain = score
			}
			if r.keepAll {
				l.matches = append(l.matches, match{from + at, number, score})
				continue
			}
			if r.best.accepts(score) {
				r.best.push(plain(number, score))
			}
		}
		s.touched[i] = 0
	}
}
