package search

import "context"

// rowsPerRegistration is how many rows are registered before waiting writers go on.
const rowsPerRegistration = 1 << 8

// Attach sets the index's Semantic and adds every live document to it. It is called at most once.
func (x *Index) Attach(s Semantic) {
	_ = x.guardWrite(func() error { // the next search says that the index is broken
		x.attach(s)
		return x.register(context.Background())
	})
}

func (x *Index) attach(s Semantic) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.semantic.Store(&s)
	x.expectAll()
}

// expectAll notes that all documents are to be registered. The caller holds mu.
func (x *Index) expectAll() {
	s := x.vectors()
	if s == nil {
		return
	}
	x.unregistered, x.expected = x.table.rows.Len(), 0
	for _, p := range x.parts {
		x.expected += p.docs() - p.dead
	}
	s.Expect(x.expected)
}

// Register adds the documents that Load found to the index's Semantic, the newest first. Searches and writes go on meanwhile.
func (x *Index) Register(ctx context.Context) error {
	return x.guard(func() error { return x.register(ctx) })
}

func (x *Index) register(ctx context.Context) error {
	x.registering.Lock()
	defer x.registering.Unlock()
	for more := true; more; {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		more = x.registerSome()
	}
	return nil
}

// registerSome registers some rows, and reports whether others are left. Semantic knows those that were added since already. The caller
// holds registering.
func (x *Index) registerSome() (more bool) {
	x.mu.RLock() // nothing is added or removed meanwhile
	defer x.mu.RUnlock()
	s, from := x.vectors(), x.unregistered-min(x.unregistered, rowsPerRegistration)
	if s == nil || x.unregistered == 0 {
		return false
	}
	for number := from; number < x.unregistered; number++ {
		if r := x.table.row(number); r.name != none && !r.gone {
			x.semanticAdd(number, Embedding{})
			x.expected--
		}
	}
	if x.unregistered = from; from == 0 {
		x.expected = 0 // some may have been removed since, and others added
	}
	s.Expect(max(0, x.expected))
	return from > 0
}
