package search

import (
	"context"
	"math"
	"slices"
)

// Fusion combines scores in the units of the lexical ones. With I, the sum of the idf of the question's terms, best, the
// highest lexical score of a document that is no turn, and
//
//	g = max(0, 1 − best / (Full · I))
//
// a document that is no turn scores
//
//	lexical + I · Weight · g² · max(0, similarity)
//
// So a document that has the question's words keeps its lead, and meaning decides where nothing matches well. Turns keep
// their lexical scores: the words around a turn tell more than its vector.
type Fusion struct {
	Weight float64
	Full   float64 // the part of I from which on the words decide alone
	Floor  float64 // the least similarity of a hit without any of the words,
	Least  float64 // and its least score, as a part of the best

	// A vector score of Zero is a similarity of 0, one of One a similarity of 1, and scores beyond these are at most that. Both zero: a score
	// is the similarity.
	Zero, One float64
	Gate      func(collection string) float64 // how much the similarity of a collection's documents counts, from 0 to 1; nil: 1
}

// similarity returns the similarity of a vector score, at most 1.
func (f *Fusion) similarity(score float64) float64 {
	if f.Zero == f.One {
		return score
	}
	return min(1, (score-f.Zero)/(f.One-f.Zero))
}

// meaning returns the share of the gain for a document's vector score.
func (f *Fusion) meaning(collection string, score float64) float64 {
	s := max(0, f.similarity(score))
	if f.Gate != nil {
		s *= f.Gate(collection)
	}
	return s
}

// collectionOf is the collection of a row's document.
func (x *Index) collectionOf(number uint32) string {
	return x.table.space(x.table.row(number)).collection
}

// addNearest adds the scores of the nearest vectors to the best lexical matches, and documents without a match.
func (r *ranking) addNearest(ctx context.Context) error {
	list := r.best.sorted()
	r.best = heap{index: r.index, most: r.query.K + r.query.Offset}
	gain, err := r.gain(), error(nil)
	if gain > 0 {
		list, err = r.withNearest(ctx, list, gain)
	}
	for _, c := range r.dropWeak(list) {
		r.best.push(c)
	}
	return err
}

// dropWeak drops the candidates without any of the words that score too little beside the best.
func (r *ranking) dropWeak(list []candidate) []candidate {
	best := 0.0
	for _, c := range list {
		best = max(best, c.score)
	}
	kept := slices.DeleteFunc(list, func(c candidate) bool { return c.lexical == 0 && c.score < r.fusion.Least*best })
	r.matches -= len(list) - len(kept)
	return kept
}

// gain returns the score of a similarity of 1.
func (r *ranking) gain() float64 {
	ideal := 0.0
	for i := range r.asked.clauses {
		if c := &r.asked.clauses[i]; !c.added {
			ideal += c.idf * c.weight
		}
	}
	if ideal == 0 { // a question of stop words
		ideal = 1
	}
	gate := max(0, 1-r.bestPlain/(r.fusion.Full*ideal))
	return r.fusion.Weight * gate * gate * ideal
}

// fusedDepthOf is the number of the best matches, and of nearest vectors, that a Fusion combines for a query.
func fusedDepthOf(q Query) int { return max(2*(q.K+q.Offset), 40) }

// withNearest adds the scores of similarity to the best matches, at most fusedDepthOf, and adds further documents.
func (r *ranking) withNearest(ctx context.Context, list []candidate, gain float64) ([]candidate, error) {
	cut := 0.0 // the most that a match scores which is not in the list
	if len(list) == fusedDepthOf(r.query) {
		cut = list[len(list)-1].score
	}
	found := r.addEstimates(list, gain)
	least := leastScore(list, r.query.K+r.query.Offset)
	if cut+gain < least { // not even a similarity of 1 would do
		return list, nil
	}
	near, err := r.semantic.Nearest(ctx, r.query, r.plainMembers(), fusedDepthOf(r.query))
	if err != nil {
		return list, err
	}
	for _, n := range near {
		meaning := gain * r.fusion.meaning(r.index.collectionOf(n.Number), n.Score)
		if found[n.Number] || cut+meaning < least {
			continue
		}
		lexical := 0.0
		if cut > 0 {
			lexical = r.lexicalOf(n.Number)
		}
		if lexical == 0 {
			if r.fusion.similarity(n.Score) < r.fusion.Floor {
				continue
			}
			r.matches++
		}
		list = append(list, candidate{n.Number, lexical + meaning, lexical, n.Score})
	}
	return list, nil
}

// addEstimates adds the scores of similarity to the matches that are not turns, and returns these.
func (r *ranking) addEstimates(list []candidate, gain float64) (found map[uint32]bool) {
	found = make(map[uint32]bool, len(list))
	numbers := make([]uint32, 0, len(list))
	for _, c := range list {
		if r.slotOf(c.row) == none {
			numbers, found[c.row] = append(numbers, c.row), true
		}
	}
	estimates := r.semantic.Estimate(r.query, numbers)
	for i := range list {
		if c := &list[i]; found[c.row] {
			if s := estimates[0]; !math.IsNaN(s) {
				c.semantic, c.score = s, c.score+gain*r.fusion.meaning(r.index.collectionOf(c.row), s)
			}
			estimates = estimates[1:]
		}
	}
	return found
}

// leastScore is the score that a candidate must reach to be among the best of a list and others; 0 if there are too few.
func leastScore(list []candidate, wanted int) float64 {
	if len(list) < wanted {
		return 0
	}
	scores := make([]float64, len(list))
	for i, c := range list {
		scores[i] = c.score
	}
	slices.Sort(scores)
	return scores[len(scores)-wanted]
}

// lexicalOf is the lexical score of a document that is no turn; 0 when it does not match.
func (r *ranking) lexicalOf(number uint32) (score float64) {
	if r.keepAll {
		return r.lexical(number)
	}
	d, at := r.index.table.row(number), r.index.table.placeOf(number)
	l, n := r.leafOf[at.part], r.normOf(number)
	for i := range r.asked.clauses {
		c := &r.asked.clauses[i]
		if frequency := l.frequency(i, at.local); frequency > 0 {
			score += float64(c.idf * c.weight * n.weight(frequency, d.length))
		}
	}
	return score
}
