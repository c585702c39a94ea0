package segment

import "bytes"

// Merge calls do for each term of several segments, in ascending order, with its postings in each segment; zero Postings
// for a segment without the term.
func Merge(segments []*Segment, do func(term string, of []Postings)) {
	walks := make([]walk, len(segments))
	for i, s := range segments {
		walks[i].segment = s
		walks[i].advance()
	}
	of := make([]Postings, len(segments))
	for {
		least := -1
		for i := range walks {
			if walks[i].left && (least < 0 || bytes.Compare(walks[i].term, walks[least].term) < 0) {
				least = i
			}
		}
		if least < 0 {
			return
		}
		term := string(walks[least].term)
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

// walk iterates over a segment's terms.
type walk struct {
	segment *Segment
	next    int    // the number of the next term
	data    []byte // of the rest of its run
	left    bool
	entry
}

func (w *walk) advance() {
	if w.left = w.next < w.segment.count; !w.left {
		return
	}
	if w.next%restartEach == 0 {
		w.data, w.entry = w.segment.run(w.next / restartEach)
	}
	w.data = w.segment.next(w.data, &w.entry)
	w.next++
}
