package search

// Attach sets the index's Semantic and adds every live document to it. It is called at most once.
func (x *Index) Attach(s Semantic) {
	_ = x.guardWrite(func() error { // the next search says that the index is broken
		x.attach(s)
		return nil
	})
}

func (x *Index) attach(s Semantic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.semantic.Store(&s)
	x.addToSemantic()
}

// addToSemantic adds every document to the index's Semantic. The caller holds mu.
func (x *Index) addToSemantic() {
	for _, b := range x.branches {
		b.each(func(number uint32) {
			if !x.table.row(number).gone {
				x.semanticAdd(number, Embedding{})
			}
		})
	}
}
