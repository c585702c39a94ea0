package search

import "slices"

// sameness is the Jaccard similarity of their terms from which two texts are near-duplicates.
const sameness = .8

// Alike detects near-duplicates among texts that are added one by one.
type Alike struct {
	by   *Analyser
	seen [][]string
}

// Alike returns an empty Alike.
func (a *Analyser) Alike() *Alike { return &Alike{by: a} }

// Of returns the number of the earlier text that this one nearly duplicates, or -1 when the text is new. New texts are
// numbered from 0; duplicates get no number. Two texts without words are not alike.
func (a *Alike) Of(text []string) int {
	var terms []string
	for _, passage := range text {
		a.by.eachWord(passage, func(w word) { terms = append(terms, w.term) })
	}
	slices.Sort(terms)
	terms = slices.Compact(terms)
	for i, other := range a.seen {
		if shared := common(terms, other); shared > 0 && float64(shared) >= sameness*float64(len(terms)+len(other)-shared) {
			return i
		}
	}
	a.seen = append(a.seen, terms)
	return -1
}

// common counts the elements that two sorted lists share.
func common(a, b []string) (n int) {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n++
			a, b = a[1:], b[1:]
		}
	}
	return n
}
