package search

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/search/segment"
)

// PairQuery selects pairs of similar documents in a view.
type PairQuery struct {
	Filter     Filter  // the documents; Text is not used
	After      string  // only documents whose keys come after it
	Documents  int     // the most documents, the first in the order of their keys
	Similarity float64 // the least weighted Jaccard similarity, above 0
	// Missing is how many terms of one document of a pair the other may lack; of the two numbers, the smaller counts. Of other pairs, only
	// those are found of which no third document is nearly as similar to one of both: four fifths as much.
	Missing int
	Most    int // pairs
}

// Paired is the answer to a PairQuery.
type Paired struct {
	Keys  []string // of the documents that were compared
	Pairs []Pair   // the most similar first
	More  bool     // there are documents after the last key
}

// Pair is two documents by their places in Paired.Keys, the smaller first.
type Pair struct {
	A, B       uint32
	Similarity float32
}

// ErrTooLong is the error of Pairs for documents that have more than MostPairedTerms terms together.
var ErrTooLong = errors.New("the documents have too many terms to be compared at once")

// MostPairedTerms bounds the terms of the documents that are compared, each document's counted by themselves.
const MostPairedTerms = 8 << 20

// Pairs finds the documents of one namespace and collection that share many terms, of their texts alone: keys, tags and stop words do not
// count, unless a text has no other words. The rarer a term, the more it weighs.
//
// All pairs are found, except that a term which more than mostPosted documents have among their heaviest finds no others by itself, and that
// a document has at most mostPartners.
func (x *Index) Pairs(ctx context.Context, view View, q PairQuery) (Paired, error) {
	g, err := x.gatherTexts(ctx, view, q)
	if err != nil {
		return Paired{}, err
	}
	j := g.joiner(float32(q.Similarity))
	pairs, err := j.join(ctx, q.Missing)
	if err != nil {
		return Paired{}, err
	}
	slices.SortFunc(pairs, func(a, b Pair) int {
		return cmp.Or(cmp.Compare(b.Similarity, a.Similarity), cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B))
	})
	return Paired{g.keys, pairs[:min(len(pairs), q.Most)], g.more}, nil
}

// texts are the terms of documents.
type texts struct {
	keys  []string
	terms [][]occurrence // by document, in the order of their terms
	count int            // of different terms
	more  bool           // there are documents after the last one
}

// occurrence is a term of a document, and how often it is there.
type occurrence struct{ term, times uint32 }

// posted is a term of a document of which there is a posting.
type posted struct {
	document uint32
	occurrence
}

// chosen is a document that is gathered.
type chosen struct {
	key   string
	tags  []string
	part  int
	local uint32
	turn  bool
}

// gatherTexts reads what documents consist of from the postings of their terms.
func (x *Index) gatherTexts(ctx context.Context, view View, q PairQuery) (found *texts, err error) {
	err = x.guard(func() error {
		found, err = x.gatherFrom(ctx, view, q)
		return err
	})
	return found, err
}

func (x *Index) gatherFrom(ctx context.Context, view View, q PairQuery) (*texts, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	view.Lineage = x.present(view.Lineage)
	s := x.newSelecting(view, q.Filter)
	list, more, err := s.first(ctx, q)
	if err != nil {
		return nil, err
	}
	numbers := make([][]uint32, len(s.picked)) // by part and document; none: it was not chosen
	for i, p := range s.picked {
		numbers[i] = slices.Repeat([]uint32{none}, p.part.docs())
	}
	for n, d := range list {
		numbers[d.part][d.local] = uint32(n)
	}
	terms := map[string]uint32{}
	var all []posted
	for i, p := range s.picked {
		if all, err = p.part.post(ctx, numbers[i], terms, all); err != nil {
			return nil, err
		}
	}
	g := &texts{keys: make([]string, len(list)), terms: byDocument(all, len(list)), count: len(terms), more: more}
	by := x.queryAnalyser(view)
	stops := by.stopsAmong(terms)
	for n, d := range list {
		g.keys[n] = d.key
		if !d.turn {
			g.drop(n, by, terms, d.key)
		}
		for _, tag := range d.tags {
			g.drop(n, by, terms, tag)
		}
		g.terms[n] = contentTerms(g.terms[n], stops)
	}
	return g, ctx.Err()
}

// first selects the first documents in the order of their keys, and reports whether there are more.
func (s *selectRun) first(ctx context.Context, q PairQuery) (list []chosen, more bool, err error) {
	for i, p := range s.picked {
		_, err := s.part(ctx, p, func(c *Columns) bool {
			if c.Key > q.After {
				isTurn := s.index.table.turnOf(p.part.rows[s.local]) != nil
				list = append(list, chosen{c.Key, slices.Clone(c.Tags), i, s.local, isTurn})
			}
			return true
		})
		if err != nil {
			return nil, false, err
		}
	}
	slices.SortFunc(list, func(a, b chosen) int { return cmp.Compare(a.key, b.key) })
	n := min(len(list), q.Documents)
	return list[:n], n < len(list), nil
}

// post appends the postings of a part whose documents have numbers. Terms get numbers in the order in which they come.
func (p *part) post(ctx context.Context, numbers []uint32, terms map[string]uint32, all []posted) ([]posted, error) {
	took := 0
	take := func(term string, r reader) bool {
		if took++; took%rowsPerCheck == 0 && ctx.Err() != nil {
			return false
		}
		number := none
		for docs, times := r.Next(); len(docs) > 0; docs, times = r.Next() {
			for i, doc := range docs {
				if numbers[doc] == none {
					continue
				}
				if number == none {
					number = intern32(terms, term)
				}
				all = append(all, posted{numbers[doc], occurrence{number, times[i]}})
			}
		}
		return len(all) <= MostPairedTerms
	}
	if p.sealed == nil {
		for i := range p.tail.entries {
			if e := &p.tail.entries[i]; !take(e.term, &listReader{list: &e.list}) {
				break
			}
		}
	} else {
		cursor := &segment.Cursor{}
		p.sealed.From("", func(term []byte, found segment.Postings) bool {
			cursor.Reset(found)
			return take(string(term), cursor)
		})
	}
	if len(all) > MostPairedTerms {
		return nil, ErrTooLong
	}
	return all, ctx.Err()
}

// intern32 returns the number of a term, the next one if it has none.
func intern32(numbers map[string]uint32, term string) uint32 {
	n, ok := numbers[term]
	if !ok {
		n = uint32(len(numbers))
		numbers[term] = n
	}
	return n
}

// byDocument sorts postings by document and term.
func byDocument(all []posted, documents int) [][]occurrence {
	ends := make([]int, documents+1)
	for _, p := range all {
		ends[p.document+1]++
	}
	for n := range documents {
		ends[n+1] += ends[n]
	}
	places, next := make([]occurrence, len(all)), slices.Clone(ends)
	for _, p := range all {
		places[next[p.document]] = p.occurrence
		next[p.document]++
	}
	terms := make([][]occurrence, documents)
	for n := range terms {
		terms[n] = places[ends[n]:ends[n+1]:ends[n+1]]
		if !slices.IsSortedFunc(terms[n], byTerm) { // of several parts
			slices.SortFunc(terms[n], byTerm)
		}
	}
	return terms
}

// contentTerms returns the remaining terms of a document, without stop words if there are others.
func contentTerms(terms []occurrence, stops bitset) []occurrence {
	terms = slices.DeleteFunc(terms, func(o occurrence) bool { return o.times == 0 })
	isStop := func(o occurrence) bool { return stops.has(o.term) }
	if slices.IndexFunc(terms, func(o occurrence) bool { return !isStop(o) }) < 0 {
		return terms
	}
	return slices.DeleteFunc(terms, isStop)
}

// stopsAmong returns the numbers of the terms that are stop words.
func (a *Analyser) stopsAmong(terms map[string]uint32) bitset {
	stops := newBitset(len(terms))
	for stop := range a.stops {
		if n, ok := terms[strings.ReplaceAll(stop, "'", "")]; ok {
			stops.add(n)
		}
	}
	return stops
}

func byTerm(a, b occurrence) int { return cmp.Compare(a.term, b.term) }

// drop takes a text's terms from those of a document that was indexed with it.
func (g *texts) drop(n int, by *Analyser, terms map[string]uint32, text string) {
	by.eachWord(text, func(w word) {
		number, ok := terms[w.term]
		if !ok {
			return
		}
		if at, found := slices.BinarySearchFunc(g.terms[n], occurrence{term: number}, byTerm); found && g.terms[n][at].times > 0 {
			g.terms[n][at].times--
		}
	})
}
