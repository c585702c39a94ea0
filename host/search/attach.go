package search

// Attach sets the index's Semantic and adds every live document to it. It is called at most once.
func (x *Index) Attach(s Semantic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.semantic.Store(&s)
	for _, b := range x.branches {
		b.each(func(number uint32) {
			if !x.table.row(number).gone {
				x.semanticAdd(number, Embedding{})
			}
		})
	}
}
