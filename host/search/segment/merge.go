package segment

// Merge calls do for each term of several segments, in ascending order, with its postings in each; those of a segment that
// does not have it are zero.
func Merge(segments []*Segment, do func(term string, of []Postings)) {
	walks := make([]walk, len(segments))
	for i, s := range segments {
		walks[i].segment = s
		walks[i].advance()
	}
	of := make([]Postings, len(segments))
	for {
		term, any := "", false
		for i := range walks {
			if walks[i].left && (!any || string(walks[i].term) < term) {
				term, any = string(walks[i].term), true
			}
		}
		if !any {
			return
		}
		for i := range walks {
			of[i] = Postings{}
			if walks[i].left && string(walks[i].term) == term {
				of[i] = walks[i].Postings
				walks[i].advance()
			}
		}
		do(term, of)
	}
}

// walk goes through a segment's terms.
type walk struct {
	segment *Segment
	next    int // the term after this one
	at      int // where it is
	left    bool
	entry
}

func (w *walk) advance() {
	if w.left = w.next < w.segment.count; !w.left {
		return
	}
	if w.next%restartEach == 0 {
		w.at, w.entry = w.segment.restart(w.next / restartEach)
	}
	at, err := w.segment.next(w.at, &w.entry)
	if w.left = err == nil; w.left { // Open has checked that there is no error
		w.at = at
		w.next++
	}
}
