package search

// Attach gives the index what ranks by meaning, and tells it of all documents. Nothing is attached before.
func (x *Index) Attach(s Semantic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.semantic = s
	for _, b := range x.branches {
		for _, number := range b.rows {
			if !x.table.row(number).gone {
				x.tellAdded(number)
			}
		}
	}
}
