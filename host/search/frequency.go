package search

import "context"

// Frequencies counts the active, unexpired documents of a view, and of these those that have each of some terms, as Terms
// makes them.
func (x *Index) Frequencies(ctx context.Context, view View, terms []string) (documents int, counts []int, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	visible := x.view(view.Lineage)
	counts = make([]int, len(terms))
	for i, term := range terms {
		if err := ctx.Err(); err != nil {
			return 0, nil, err
		}
		for _, p := range x.postings[term] {
			d := &x.docs[p.doc]
			if visible.has(p.doc) && d.state == Active && view.selects(d.name.namespace, d.name.collection) && !d.expired(view) {
				counts[i]++
			}
		}
	}
	return x.statistics(visible, view).documents, counts, nil
}
