package search

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Limits of a query.
const (
	maxQuery  = 4 << 10 // bytes of its text
	maxWanted = 200_000 // K and Offset together
)

// Count counts the unexpired documents of a view, in any state.
func (x *Index) Count(ctx context.Context, view View) (int, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	all := x.sums(x.view(view.Lineage), view, func(scope) bool { return true })
	return all.documents, ctx.Err()
}

// Search finds the documents of a view that have at least one of the query's terms, best first. A document
// scores, by BM25 (Robertson and Zaragoza 2009, with the always positive idf of Lucene), the sum over the
// query's distinct terms, in their sorted order, of
//
//	ln(1 + (N − df + ½) / (df + ½)) · tf·(k1 + 1) / (tf + k1·(1 − b + b·length/average))
//
// Ties go by namespace, collection and key.
func (x *Index) Search(ctx context.Context, view View, q Query) (Result, error) {
	if len(q.Text) > maxQuery {
		return Result{}, fmt.Errorf("search: the query has %d bytes: at most %d are allowed", len(q.Text), maxQuery)
	}
	q.K = cmp.Or(q.K, 10)
	if q.K < 0 || q.Offset < 0 || q.K+q.Offset > maxWanted {
		return Result{}, fmt.Errorf("search: %d hits from %d on are asked for: at most %d in all are allowed", q.K, q.Offset, maxWanted)
	}
	terms := queryTerms(q.Text)
	x.mu.RLock()
	defer x.mu.RUnlock()
	r := x.newRanking(view, q, terms)
	for i := range terms {
		if err := ctx.Err(); err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
		r.addTerm(i)
	}
	r.converse()
	return r.result(), nil
}

// queryTerms are the distinct terms of a question, sorted; its stop words only when there is nothing else.
func queryTerms(text string) []string {
	var terms, stops []string
	eachWord(text, func(w word) {
		if w.stop {
			stops = append(stops, w.term)
			return
		}
		terms = append(terms, w.term)
	})
	if len(terms) == 0 {
		terms = stops
	}
	slices.Sort(terms)
	return slices.Compact(terms)
}

// ranking scores one query.
type ranking struct {
	index   *Index
	view    View
	visible *visible
	query   Query
	states  []string
	terms   []string
	found   []int // active documents that have each term
	total   sum
	scores  map[uint32]float64
	before  map[uint32]float64 // the scores of turns before their neighbours gave to them; nil: nothing was given
	date    day
}

func (x *Index) newRanking(view View, q Query, terms []string) *ranking {
	r := &ranking{index: x, view: view, visible: x.view(view.Lineage), query: q, terms: terms, states: q.States,
		found: make([]int, len(terms)), scores: map[uint32]float64{}}
	if len(r.states) == 0 {
		r.states = []string{Active}
	}
	r.total = x.statistics(r.visible, view)
	return r
}

// addTerm adds a term's part to the score of each document that has it.
func (r *ranking) addTerm(i int) {
	list := r.index.postings[r.terms[i]]
	matching := make([]posting, 0, len(list))
	for _, p := range list {
		d := &r.index.docs[p.doc]
		if !r.visible.has(p.doc) || !r.view.selects(d.name.namespace, d.name.collection) || d.expired(r.view) {
			continue
		}
		if d.state == Active {
			r.found[i]++
		}
		if r.wants(d) {
			matching = append(matching, p)
		}
	}
	idf := r.idf(i)
	for _, p := range matching {
		r.scores[p.doc] += idf * r.weight(&r.index.docs[p.doc], p.frequency)
	}
}

func (d *document) expired(v View) bool { return d.expires != 0 && d.expires <= v.Now.UnixMicro() }

// wants applies the query's filters.
func (r *ranking) wants(d *document) bool {
	q := &r.query
	if !slices.Contains(r.states, d.state) || (len(q.Types) > 0 && !slices.Contains(q.Types, d.kind)) {
		return false
	}
	if !q.Since.IsZero() && d.time < q.Since.UnixMicro() {
		return false
	}
	if !q.Until.IsZero() && d.time >= q.Until.UnixMicro() {
		return false
	}
	for _, tag := range q.Tags {
		if !slices.Contains(d.tags, tag) {
			return false
		}
	}
	return true
}

func (r *ranking) idf(i int) float64 {
	n, df := float64(r.total.documents), float64(r.found[i])
	return math.Log(1 + (n-df+.5)/(df+.5))
}

func (r *ranking) average() float64 {
	if r.total.documents == 0 || r.total.length == 0 {
		return 1
	}
	return float64(r.total.length) / float64(r.total.documents)
}

func (r *ranking) params(d *document) Params {
	return r.index.collections[d.name.collection].of(r.average())
}

func (r *ranking) weight(d *document, frequency uint32) float64 {
	p, tf := r.params(d), float64(frequency)
	return tf * (p.K1 + 1) / (tf + p.K1*(1-p.B+p.B*float64(d.length)/r.average()))
}

// best takes the best of what was scored, best first.
func (r *ranking) best(wanted int, among func(uint32) bool) []candidate {
	best := &worstFirst{docs: r.index.docs}
	for doc, score := range r.scores {
		if !among(doc) {
			continue
		}
		heap.Push(best, candidate{doc, score})
		if best.Len() > wanted {
			heap.Pop(best)
		}
	}
	slices.SortFunc(best.list, func(a, b candidate) int { return -best.compare(a, b) })
	return best.list
}

// result takes the best hits.
func (r *ranking) result() Result {
	wanted := r.query.K + r.query.Offset
	best := r.best(wanted, func(uint32) bool { return true })
	result := Result{Total: len(r.scores)}
	for _, c := range best[min(r.query.Offset, len(best)):] {
		result.Hits = append(result.Hits, r.hit(c))
	}
	return result
}

func (r *ranking) hit(c candidate) Hit {
	d := &r.index.docs[c.doc]
	h := Hit{Branch: d.branch, Version: d.version, Namespace: d.name.namespace, Collection: d.name.collection, Key: d.name.key, Score: c.score, Lexical: c.score, Semantic: math.NaN(),
		Time: time.UnixMicro(d.time).UTC(), Type: d.kind, Importance: float64(d.importance), Length: d.length}
	if r.query.Explain {
		h.Why = r.explain(c.doc)
	}
	return h
}

func (r *ranking) explain(doc uint32) *Explanation {
	d := &r.index.docs[doc]
	p := r.params(d)
	e := &Explanation{Documents: r.total.documents, Length: d.length, Average: r.average(), K1: p.K1, B: p.B}
	for i, term := range r.terms {
		list := r.index.postings[term]
		at, found := slices.BinarySearchFunc(list, doc, func(p posting, want uint32) int { return cmp.Compare(p.doc, want) })
		if !found {
			continue
		}
		frequency := list[at].frequency
		e.Terms = append(e.Terms, Term{Term: term, Frequency: int(frequency), Documents: r.found[i], IDF: r.idf(i),
			Score: r.idf(i) * r.weight(d, frequency)})
	}
	r.explainTurn(doc, e)
	return e
}

type candidate struct {
	doc   uint32
	score float64
}

// worstFirst is a heap of the best candidates so far, with the worst of them on top.
type worstFirst struct {
	docs []document
	list []candidate
}

// compare is negative when a is worse than b. No two documents of a view compare as equal.
func (w *worstFirst) compare(a, b candidate) int {
	x, y := &w.docs[a.doc].name, &w.docs[b.doc].name
	return cmp.Or(cmp.Compare(a.score, b.score), strings.Compare(y.namespace, x.namespace),
		strings.Compare(y.collection, x.collection), strings.Compare(y.key, x.key))
}

func (w *worstFirst) Len() int           { return len(w.list) }
func (w *worstFirst) Less(i, j int) bool { return w.compare(w.list[i], w.list[j]) < 0 }
func (w *worstFirst) Swap(i, j int)      { w.list[i], w.list[j] = w.list[j], w.list[i] }
func (w *worstFirst) Push(c any)         { w.list = append(w.list, c.(candidate)) }
func (w *worstFirst) Pop() any {
	last := w.list[len(w.list)-1]
	w.list = w.list[:len(w.list)-1]
	return last
}
