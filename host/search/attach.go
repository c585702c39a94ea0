package search

// Held is the content of an index when a Semantic attaches to it.
type Held struct {
	Numbers   uint32 // those of its documents are below; others below may be of none
	Documents int    // at most so many
	State     string // names the saved state that the numbers are of; empty: of none
}

// Attach sets the index's Semantic. It is called at most once.
func (x *Index) Attach(s Semantic) {
	_ = x.guardWrite(func() error { // the next search says that the index is broken
		x.mu.Lock()
		defer x.mu.Unlock()
		x.semantic.Store(&s)
		x.begin("")
		return nil
	})
}

// begin passes the index's documents to the Semantic. The caller holds mu.
func (x *Index) begin(state string) {
	s := x.vectors()
	if s == nil {
		return
	}
	s.Begin(x, Held{Numbers: x.table.rows.Len(), Documents: x.table.held(), State: state})
}

// beginWith is begin for a state that was just loaded.
func (x *Index) beginWith(state string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.begin(state)
}

// Refs implements Documents.
func (x *Index) Refs(numbers []uint32) (refs []Ref, err error) {
	err = x.guard(func() error {
		x.mu.RLock()
		defer x.mu.RUnlock()
		refs = make([]Ref, len(numbers))
		for i, number := range numbers {
			if number >= x.table.rows.Len() {
				continue
			}
			if r := x.table.row(number); r.name != none && !r.gone {
				refs[i] = x.ref(r)
			}
		}
		return nil
	})
	return refs, err
}

func (x *Index) semanticAdd(number uint32, e Embedding) {
	if s := x.vectors(); s != nil {
		s.Add(number, x.ref(x.table.row(number)), e)
	}
}

func (x *Index) semanticRemove(number uint32) {
	if s := x.vectors(); s != nil {
		s.Remove(number)
	}
}

// notifySaving notifies the Semantic that a save has collected the numbers. The caller holds mu.
func (x *Index) notifySaving() {
	if s := x.vectors(); s != nil {
		s.Saving()
	}
}

// notifySaved notifies the Semantic of the saved state that has the last collected numbers. The caller holds mu.
func (x *Index) notifySaved(state string) {
	if s := x.vectors(); s != nil {
		s.Saved(state)
	}
}
