package compare

import (
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// Relation is how two facts stand to each other.
type Relation uint8

const (
	Different Relation = iota
	Related            // about the same
	Same
	Contained  // the second says all that the first does, and more
	Contains   // the first says all that the second does, and more
	Negated    // one says that it is so, the other that it is not
	Opposite   // they differ in two words that contradict each other
	OtherValue // the same has another number, date, name or value
)

// Duplicate says whether one of the two facts can stand for both.
func (r Relation) Duplicate() bool { return r == Same || r == Contained || r == Contains }

// Contradiction says whether not both can be true at once.
func (r Relation) Contradiction() bool { return r == Negated || r == Opposite || r == OtherValue }

// String is the relation for reports.
func (r Relation) String() string {
	return [...]string{"different", "related", "same", "contained", "contains", "negated", "opposite", "other value"}[r]
}

// Verdict is what came of a comparison.
type Verdict struct {
	Relation   Relation
	Similarity float64  // the weighted share of words that both have, 0 to 1
	A, B       []string // of contradictions: the words in which they differ
}

// When two facts are what they are.
const (
	sameFrom      = .6  // similarity of duplicates that differ in light words only
	containedFrom = .55 // similarity of a fact and one that says more
	preciseFrom   = .7  // the same, when what it says more has a name or a number
	surely        = 3   // words that are enough to be sure of
	valueWords    = 4   // of a value
	valuePlace    = 1   // words between a value and the verb, where the value is no number
)

// judge compares two facts whose similarity is known.
func (r *Reader) judge(a, b *Fact, o overlap, weights []float32) Verdict {
	onlyA, onlyB := r.differences(a, b, &o, weights)
	similarity := o.similarity()
	v := Verdict{Relation: Related, Similarity: similarity}
	heavyA, heavyB := heavy(onlyA), heavy(onlyB)
	plainTwo := len(heavyA)+len(heavyB) == 0
	if a.negated != b.negated {
		if plainTwo && min(len(a.ids), len(b.ids)) >= 2 {
			v.Relation = Negated
		}
		return v
	}
	switch {
	case plainTwo && similarity >= sameFrom && (min(len(a.ids), len(b.ids)) >= surely || a.words == b.words):
		v.Relation = Same
	case r.opposed(heavyA, heavyB):
		v.Relation = Opposite
	case r.otherValue(a, b, heavyA, heavyB):
		v.Relation = OtherValue
	case len(heavyA) == 0 && saysMore(a, heavyB, similarity):
		v.Relation = Contained
	case len(heavyB) == 0 && saysMore(b, heavyA, similarity):
		v.Relation = Contains
	}
	if v.Relation.Contradiction() {
		v.A, v.B = r.stemsOf(heavyA), r.stemsOf(heavyB)
	}
	return v
}

// saysMore says whether a fact with more words says the same as a shorter one and more.
func saysMore(short *Fact, more []token, similarity float64) bool {
	from := containedFrom
	if slices.ContainsFunc(more, func(t token) bool { return t.kind != plain }) {
		from = preciseFrom
	}
	return similarity >= from && len(short.ids) >= surely
}

// differences are the tokens that only one of two facts has. A word with a slip of a key is the word that it should be,
// also in their overlap.
func (r *Reader) differences(a, b *Fact, o *overlap, weights []float32) (onlyA, onlyB []token) {
	onlyA, onlyB = without(a.tokens, b.tokens), without(b.tokens, a.tokens)
	for i := 0; i < len(onlyA); i++ {
		for j := range onlyB {
			if onlyA[i].kind != number && onlyB[j].kind != number && words.Near(r.words[onlyA[i].word], r.words[onlyB[j].word]) {
				o.slip(weights[onlyA[i].id], weights[onlyB[j].id])
				onlyA, onlyB = slices.Delete(onlyA, i, i+1), slices.Delete(onlyB, j, j+1)
				i--
				break
			}
		}
	}
	return onlyA, onlyB
}

// without are the tokens of a list that another does not have, or not as often.
func without(list, other []token) []token {
	var rest []token
	for i, t := range list {
		if count(list[:i+1], t.id) > count(other, t.id) {
			rest = append(rest, t)
		}
	}
	return rest
}

func count(list []token, id uint32) int {
	n := 0
	for _, t := range list {
		if t.id == id {
			n++
		}
	}
	return n
}

func heavy(list []token) []token {
	var rest []token
	for _, t := range list {
		if !t.light {
			rest = append(rest, t)
		}
	}
	return rest
}

// opposed says whether all that two facts differ in are two words that contradict each other.
func (r *Reader) opposed(a, b []token) bool {
	return len(a) == 1 && len(b) == 1 && !a[0].label && r.lexicon.opposite(r.stems[a[0].id], r.stems[b[0].id], a[0].after && b[0].after)
}

// otherValue says whether two facts say something else of the same: they differ only in a value, and that is something
// there is one of.
func (r *Reader) otherValue(a, b *Fact, onlyA, onlyB []token) bool {
	if !isValue(onlyA) || !isValue(onlyB) || len(a.ids)-len(onlyA) < 2 {
		return false
	}
	x, y := onlyA[0], onlyB[0]
	verb, other := a.verbs[x.sentence], b.verbs[y.sentence]
	if verb == noVerb || verb == didVerb || other == noVerb || other == didVerb {
		return false
	}
	bound := a.bound[x.sentence] && b.bound[y.sentence]
	switch {
	case x.kind == number && y.kind == number:
		return !x.label && !y.label
	case verb == hasVerb || other == hasVerb || max(x.place, y.place) > valuePlace:
		return false
	}
	return bound || x.kind == name && y.kind == name
}

// isValue says whether tokens stand together, behind the verb, and are of one kind.
func isValue(only []token) bool {
	if len(only) == 0 || len(only) > valueWords {
		return false
	}
	for i, t := range only {
		if !t.after || t.kind != only[0].kind || int(t.at) > int(only[0].at)+i+1 {
			return false
		}
	}
	return true
}

func (r *Reader) stemsOf(list []token) []string {
	stems := make([]string, len(list))
	for i, t := range list {
		stems[i] = r.stems[t.id]
	}
	return stems
}
