package search

import "context"

// Frequencies counts the active, unexpired documents of a view, and for each term, as Terms returns it, those of them
// that contain it.
func (x *Index) Frequencies(ctx context.Context, view View, terms []string) (documents int, counts []int, err error) {
	asked := question{clauses: make([]clause, len(terms))}
	for i, term := range terms {
		asked.clauses[i].label = term
	}
	counts = make([]int, len(terms))
	err = x.guard(func() error {
		x.mu.RLock()
		defer x.mu.RUnlock()
		r, err := x.newRanking(ctx, view, Query{}, asked)
		if err != nil {
			return err
		}
		for i, c := range r.asked.clauses {
			counts[i] = c.found
		}
		documents = r.total.documents
		return ctx.Err()
	})
	return documents, counts, err
}
