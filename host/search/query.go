package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Limits of a query.
const (
	DefaultHits  = 10      // K, if it is 0
	LongestQuery = 4 << 10 // bytes of Text
	MostOffset   = 100_000

	mostWanted = 2 * MostOffset // K + Offset: to rank hits again, or leave some out, takes more of them
)

// Count counts the unexpired documents of a view, in any state.
func (x *Index) Count(ctx context.Context, view View) (n int, err error) {
	err = x.guard(func() error {
		n, err = x.count(ctx, view)
		return err
	})
	return n, err
}

func (x *Index) count(ctx context.Context, view View) (int, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	v := x.view(view.Lineage)
	all := x.statistics(v, v.selection(view), view.Now.UnixMicro(), choice.isSelected)
	return all.documents, ctx.Err()
}

// Search returns the documents of a view with at least one of the query's terms, best first. The score is BM25
// (Robertson and Zaragoza 2009, with the always positive idf of Lucene): the sum over the query's distinct terms, in
// sorted order, of
//
//	ln(1 + (N − df + ½) / (df + ½)) · tf·(k1 + 1) / (tf + k1·(1 − b + b·length/average))
//
// Lengths of 32 terms and more are rounded. Conversation describes the further scores of turns. Ties are ordered by
// namespace, collection and key. A Query beyond its limits is an error.
func (x *Index) Search(ctx context.Context, view View, q Query) (result Result, err error) {
	err = x.guard(func() error {
		result, err = x.rank(ctx, view, q)
		return err
	})
	return result, err
}

func (x *Index) rank(ctx context.Context, view View, q Query) (Result, error) {
	if len(q.Text) > LongestQuery {
		return Result{}, fmt.Errorf("search: the query has %d bytes: at most %d are allowed", len(q.Text), LongestQuery)
	}
	q.K = cmp.Or(q.K, DefaultHits)
	if q.K < 0 || q.Offset < 0 || q.K+q.Offset > mostWanted {
		return Result{}, fmt.Errorf("search: %d hits from %d on are asked for: at most %d in all are allowed", q.K, q.Offset, mostWanted)
	}
	asked := x.understand(view, q)
	x.want(view, &q)
	x.mu.RLock()
	defer x.mu.RUnlock()
	r, err := x.newRanking(ctx, view, q, asked)
	if err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	result, err := r.run(ctx)
	if r.turns != nil { // but not after a panic for a damaged file, which leaves its memory half used
		r.turns.release()
	}
	return result, err
}

// run scores the documents and ranks them.
func (r *ranking) run(ctx context.Context) (Result, error) {
	if err := r.score(ctx); err != nil {
		return Result{}, fmt.Errorf("search: %w", err)
	}
	r.addSubstituteScores()
	r.scoreTurns()
	if r.semantic != nil {
		if err := r.addMeaning(ctx); err != nil {
			return Result{}, fmt.Errorf("search: %w", err)
		}
	}
	return r.result(), nil
}

// questionAnalyser is the analyser of a query's text.
func (x *Index) questionAnalyser(v View, q Query) *Analyser {
	if q.Question != nil {
		return q.Question.by
	}
	return x.queryAnalyser(v)
}

// understand parses the text of a query.
func (x *Index) understand(view View, q Query) question {
	known := q.Question
	if known == nil {
		known = x.queryAnalyser(view).Question(q.Text)
	}
	asked := question{slices.Clone(known.asked.clauses), known.asked.conditions}
	asked.weigh(q.Weights)
	return asked
}

// ranking scores one query.
type ranking struct {
	index      *Index
	view       View
	visible    *visible
	query      Query
	now        int64   // µs
	columns    Columns // of wants
	asked      question
	test       *Test
	filtered   bool // documents must be tested, in some leaf one by one
	restricted bool // filters have narrowed the possible hits of a leaf
	onlyActive bool // the filter admits the state active alone
	total      sum
	leaves     []*leaf
	leafOf     map[uint32]*leaf // by part
	norms      map[string]*norm // by collection if their parameters differ; else under ""
	keepAll    bool             // every match is kept, not only the best
	best       heap
	bestPlain  float64 // the best score of a match that is no turn
	matches    int
	turns      *turnScorer // nil: there are none
	semantic   Semantic    // nil: lexical scores alone
	fusion     *Fusion     // nil: by semantic's Fuse
}

// leaf is a searched part.
type leaf struct {
	part     *part
	picked   *partSelection
	active   bitset           // the documents that statistics count
	matching bitset           // the possible hits, before per-document filters
	tested   bool             // they are tested one by one
	hits     int              // the number of possible hits, when the leaf is scored
	sparse   bool             // these are few
	mixed    bool             // documents that are no turns have a clause; known once the turns' postings have been read
	whole    bool             // every document of the part is active and unexpired
	own      bool             // active is shared with other searches: nothing in the part has expired
	opened   []clausePostings // of each clause
	matches  []match
}

// clausePostings is a clause's postings in a leaf; list is nil when there are none.
type clausePostings struct {
	list      reader
	documents int
	read      bool
	set       *postingSet // nil: not asked for, or none
}

// match is a document that contains at least one clause.
type match struct {
	local, row uint32
	score      float64
}

// newRanking prepares the ranking of a view. The caller holds mu for reading as long as it uses the ranking.
func (x *Index) newRanking(ctx context.Context, view View, q Query, asked question) (*ranking, error) {
	r := &ranking{index: x, view: view, query: q, asked: asked, now: view.Now.UnixMicro(), test: q.filter().At(view.Now), leafOf: map[uint32]*leaf{}, best: heap{index: x, most: q.K + q.Offset}}
	if s := x.vectors(); s != nil && q.Vector != nil && q.Mode != Lexical {
		r.semantic = s
		if r.fusion = s.Fusion(q); r.fusion != nil {
			r.best.most = fusedDepthOf(q)
		}
	}
	r.onlyActive = onlyActive(&r.test.filter)
	r.filtered = !r.onlyActive || q.selected != nil || q.Prefix != "" || len(q.Types)+len(q.Tags)+len(q.NoTags)+len(q.Agents) > 0 || !q.Since.IsZero() || !q.Until.IsZero() || q.MinImportance != nil
	r.resolveView()
	if r.turns != nil {
		r.turns.nameSpeakers()
	}
	r.addSubstitutes()
	r.keepAll = r.turns != nil || r.fuses() || r.asked.hasSubstitutes() || q.selected != nil
	for _, l := range r.leaves {
		r.leafOf[l.part.id] = l
		r.prepareLeaf(l)
	}
	r.restrict()
	if err := r.countFound(ctx); err != nil {
		return nil, err
	}
	r.makeNorms()
	for i := range r.asked.clauses {
		r.tabulate(i)
	}
	return r, nil
}

// resolveView finds what the view sees, from the cache if it has that.
func (r *ranking) resolveView() {
	x := r.index
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	r.visible = x.view(r.view.Lineage)
	chosen := x.choose(r.visible, r.view)
	r.total = x.statistics(r.visible, chosen, r.now, choice.isActive)
	for _, segment := range r.view.Lineage {
		if b := x.branches[segment.Branch]; b != nil {
			for _, p := range b.parts {
				r.leaves = append(r.leaves, &leaf{part: p, picked: chosen.parts[p.id]})
			}
		}
	}
	r.turns = r.newTurnScorer(chosen)
}

// prepareLeaf computes the leaf's bitsets: documents that statistics count, and possible hits.
func (r *ranking) prepareLeaf(l *leaf) {
	l.active, l.matching, l.own = l.picked.active, l.picked.all, true
	r.index.eachExpired(l.part, r.now, func(local uint32) {
		if !l.picked.all.has(local) {
			return
		}
		if l.own {
			l.active, l.matching, l.own = slices.Clone(l.active), slices.Clone(l.matching), false
		}
		l.active.remove(local)
		l.matching.remove(local)
	})
	l.whole = l.own && l.picked.count == l.part.docs()
	if r.onlyActive {
		l.matching = l.active
	}
	for _, c := range r.asked.conditions {
		l.matching = c.apply(l.part, l.matching)
	}
}

// countFound counts each clause's active documents.
func (r *ranking) countFound(ctx context.Context) error {
	for i := range r.asked.clauses {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := &r.asked.clauses[i]
		c.found = 0
		for _, l := range r.leaves {
			list, documents := c.open(l.part)
			l.opened = append(l.opened, clausePostings{list: list, documents: documents})
			c.found += l.count(c, &l.opened[i])
		}
		n, df := float64(r.total.documents), float64(c.found)
		c.idf = math.Log(1 + (n-df+.5)/(df+.5))
	}
	return nil
}

// count counts the active documents of a leaf that have a clause. It does not advance the list.
func (l *leaf) count(c *clause, o *clausePostings) int {
	if l.whole || o.list == nil {
		return o.documents
	}
	if !l.own {
		return l.countAgain(c, o)
	}
	l.picked.mu.Lock()
	n, ok := l.picked.found[c.label]
	l.picked.mu.Unlock()
	if ok {
		return n
	}
	n = l.countAgain(c, o)
	l.picked.mu.Lock()
	defer l.picked.mu.Unlock()
	if l.picked.found == nil || len(l.picked.found) > maxFound {
		l.picked.found = map[string]int{}
	}
	l.picked.found[c.label] = n
	return n
}

// maxFound bounds the cached document frequencies of a part, in terms.
const maxFound = 10_000

// countAgain counts by the clause's set, or its postings.
func (l *leaf) countAgain(c *clause, o *clausePostings) (n int) {
	if o.set = l.part.set(c, o.documents); o.set != nil {
		return o.set.docs.shared(l.active)
	}
	list, _ := c.open(l.part)
	if list == nil {
		return 0
	}
	for docs, _ := list.Next(); len(docs) > 0; docs, _ = list.Next() {
		for _, doc := range docs {
			if l.active.has(doc) {
				n++
			}
		}
	}
	return n
}

// frequency is how often a document has clause i. It reads the postings that were opened: what scores documents is through with them.
func (l *leaf) frequency(i int, doc uint32) uint32 {
	switch o := &l.opened[i]; {
	case o.list == nil:
		return 0
	case o.set != nil:
		return o.set.frequency(doc)
	default:
		o.read = true
		o.list.Rewind()
		return frequencyIn(o.list, doc)
	}
}

func (r *ranking) average() float64 {
	if r.total.documents == 0 || r.total.length == 0 {
		return 1
	}
	return float64(r.total.length) / float64(r.total.documents)
}

// norm is BM25's length normalisation by length code.
type norm struct {
	Params
	of [256]float64
}

func (r *ranking) newNorm(p Params) *norm {
	n := &norm{Params: p.of(r.average())}
	for code := range n.of {
		n.of[code] = n.K1 * (1 - n.B + n.B*float64(lengthOf(byte(code)))/r.average())
	}
	return n
}

func (n *norm) weight(frequency uint32, length byte) float64 {
	tf := float64(frequency)
	return tf * (n.K1 + 1) / (tf + n.of[length])
}

// makeNorms computes one norm for all collections, or one each if their parameters differ.
func (r *ranking) makeNorms() {
	r.norms = map[string]*norm{}
	if len(r.index.collections) > 0 {
		for _, s := range r.index.table.spaces {
			if r.norms[s.collection] == nil && r.view.selects(s.namespace, s.collection) {
				r.norms[s.collection] = r.newNorm(r.index.collections[s.collection])
			}
		}
	}
	if len(r.norms) == 1 {
		for _, n := range r.norms {
			r.norms = map[string]*norm{"": n}
		}
	}
	if len(r.norms) == 0 {
		r.norms[""] = r.newNorm(Params{})
	}
}

// normOf returns a document's norm.
func (r *ranking) normOf(number uint32) *norm {
	if n := r.norms[""]; n != nil {
		return n
	}
	return r.norms[r.index.table.space(r.index.table.row(number)).collection]
}

// wants applies the query's filters to a document that is visible and unexpired.
func (r *ranking) wants(number uint32) bool {
	if !r.filtered {
		return true
	}
	r.index.columns(r.index.table.row(number), &r.columns, r.test)
	return r.test.Admits(&r.columns)
}

// result returns the best hits after Offset.
func (r *ranking) result() Result {
	list := r.best.sorted()
	result := Result{Total: r.matches}
	for _, c := range list[min(r.query.Offset, len(list)):] {
		result.Hits = append(result.Hits, r.hit(c))
	}
	return result
}

func (r *ranking) hit(c candidate) Hit {
	t := r.index.table
	d := t.row(c.row)
	s := t.space(d)
	h := Hit{Branch: d.branch, Version: d.version, Namespace: s.namespace, Collection: s.collection, Key: strings.Clone(t.key(d)),
		Score: c.score, Lexical: c.lexical, Semantic: c.semantic,
		Time: time.UnixMicro(d.time).UTC(), Type: t.facets[d.facet].kind, Importance: d.importance, Length: lengthOf(d.length)}
	switch {
	case r.fuses():
		h.Meaning = math.NaN()
	case c.score > 0:
		h.Meaning = (c.score - c.lexical) / c.score
	}
	if r.query.Explain {
		h.Why = r.explain(c.row)
	}
	return h
}
