package search

import "slices"

// sameness is from which part of their words on that two texts share they are near-duplicates.
const sameness = .8

// Alike finds near-duplicates, text by text.
type Alike struct {
	by   *Analyser
	seen [][]string
}

// Alike makes an Alike for texts of a collection.
func (x *Index) Alike(collection string) *Alike { return &Alike{by: x.analyserOf(collection)} }

// Of is which of the texts before it a text is nearly the same as: its number, from 0 on, or -1 for one that is new. Only
// new ones are numbered. Two texts without words are not alike.
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

// common counts what two sorted lists have in common.
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
