package search

import (
	"context"
	"math"
)

// depthOf is the number of lexical matches, and of nearest vectors, that are combined for a query.
func depthOf(q Query) int { return max(4*(q.K+q.Offset), 200) }

// fuses reports whether the scores of all lexical matches are needed.
func (r *ranking) fuses() bool { return r.semantic != nil && r.fusion == nil }

// addMeaning combines lexical and vector scores.
func (r *ranking) addMeaning(ctx context.Context) error {
	if r.fusion != nil {
		return r.addNearest(ctx)
	}
	return r.fuse(ctx)
}

// fuse ranks the best lexical matches and the nearest vectors by the fused score of the index's Semantic.
func (r *ranking) fuse(ctx context.Context) error {
	wanted, most := r.query.K+r.query.Offset, depthOf(r.query)
	near, err := r.semantic.Nearest(ctx, r.query, r.members(), most)
	if err != nil {
		return err
	}
	list := r.candidates(most, near)
	r.semantic.Fuse(r.query, list)
	r.best = heap{index: r.index, most: wanted}
	for _, c := range list {
		r.best.push(candidate{c.Number, c.Score, c.Lexical, c.Semantic})
	}
	return nil
}

// candidates merges the best lexical matches with the nearest vectors.
func (r *ranking) candidates(most int, near []Near) (list []Candidate) {
	at := map[uint32]int{}
	add := func(number uint32, lexical, semantic float64) {
		at[number] = len(list)
		list = append(list, Candidate{Number: number, Collection: r.index.collectionOf(number), Lexical: lexical, Semantic: semantic})
	}
	if r.query.Mode != Dense {
		best := heap{index: r.index, most: most}
		r.eachScored(func(c candidate) { best.push(c) })
		for _, c := range best.sorted() {
			add(c.row, c.score, math.NaN())
		}
	}
	matched := 0
	for _, n := range near {
		if i, ok := at[n.Number]; ok {
			list[i].Semantic = n.Score
			continue
		}
		lexical := r.lexical(n.Number)
		if lexical == 0 {
			matched++
		}
		add(n.Number, lexical, n.Score)
	}
	r.matches += matched
	return list
}

func (r *ranking) eachScored(do func(candidate)) {
	for _, l := range r.leaves {
		for _, m := range l.matches {
			if r.slotOf(m.row) == none {
				do(plain(m.row, m.score))
			}
		}
	}
	if r.turns != nil {
		r.turns.each(do)
	}
}

// lexical is a document's lexical score; 0 when it does not match.
func (r *ranking) lexical(number uint32) float64 {
	if slot := r.slotOf(number); slot != none {
		return r.turns.sheet.scores[slot].score
	}
	d := r.index.table.placeOf(number)
	if at, found := r.leafOf[d.part].find(d.local); found {
		return r.leafOf[d.part].matches[at].score
	}
	return 0
}
