package compare

import (
	"slices"
	"strings"
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
	Sure       bool     // of duplicates: meaning and words agree so much that one can stand for both
	Why        []string // which signs decided, most of all first; none where rules alone did
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

// judge compares two facts whose similarity is known: by rules, and by all signs where it is known what words mean.
func (r *Reader) judge(a, b *Fact, o overlap, weights []float32) Verdict {
	d := r.differences(a, b, &o, weights)
	v := Verdict{Relation: Related, Similarity: o.similarity()}
	heavyA, heavyB := heavy(d.a), heavy(d.b)
	v.Relation = r.relation(a, b, d, heavyA, heavyB, v.Similarity)
	if r.vectors != nil {
		v = r.tell(a, b, d, v)
	}
	if v.Relation.Contradiction() {
		v.A, v.B = r.wordsOf(heavyA), r.wordsOf(heavyB)
	}
	return v
}

func (r *Reader) relation(a, b *Fact, d *difference, heavyA, heavyB []token, similarity float64) Relation {
	plainTwo := len(heavyA)+len(heavyB) == 0
	if corrects(a, b) || corrects(b, a) {
		return OtherValue
	}
	if a.negated != b.negated {
		if r.denies(a, b, d, heavyA, heavyB) {
			return Negated
		}
		return Related
	}
	switch {
	case swapped(a, b):
		return Related
	case plainTwo && !d.aligned && similarity >= sameFrom && (min(len(a.ids), len(b.ids)) >= surely || a.words == b.words):
		return Same
	case r.opposed(a, b, d, heavyA, heavyB):
		return Opposite
	case r.otherValue(a, b, heavyA, heavyB) || r.otherSlot(a, b, d, heavyA, heavyB):
		return OtherValue
	case r.rephrased(a, b):
		return Same
	case len(heavyA) == 0 && !d.aligned && saysMore(a, b, heavyB, similarity):
		return Contained
	case len(heavyB) == 0 && !d.aligned && saysMore(b, a, heavyA, similarity):
		return Contains
	}
	return Related
}

// saysMore says whether a fact with more words says the same as a shorter one and more.
func saysMore(short, long *Fact, more []token, similarity float64) bool {
	if !appended(long, more) {
		return false
	}
	from := containedFrom
	if slices.ContainsFunc(more, func(t token) bool { return t.kind != plain }) {
		from = preciseFrom
	}
	return similarity >= from && len(short.ids) >= surely
}

// difference is what only one of two facts has, and how many words of both mean the same.
type difference struct {
	a, b           []token
	wordsA, wordsB []token // the same with words that mean the same
	both           int
	aligned        bool // some words are not the same, but only mean it
}

// differences are the tokens that only one of two facts has. A word with a slip of a key is the word that it should be, also in their
// overlap, as are words that are written apart in one of them. They are valid until the next call.
func (r *Reader) differences(a, b *Fact, o *overlap, weights []float32) *difference {
	d := &r.difference
	*d = difference{a: without(r.buffers[0][:0], a.tokens, b.tokens), b: without(r.buffers[1][:0], b.tokens, a.tokens)}
	r.buffers[0], r.buffers[1] = d.a, d.b
	r.join(&d.a, &d.b, o, weights)
	r.join(&d.b, &d.a, o, weights)
	for i := 0; i < len(d.a); i++ {
		for j := range d.b {
			if r.alike(d.a[i], d.b[j]) {
				o.slip(weights[d.a[i].id], weights[d.b[j].id])
				d.a, d.b = slices.Delete(d.a, i, i+1), slices.Delete(d.b, j, j+1)
				i--
				break
			}
		}
	}
	r.buffers[2], r.buffers[3] = append(r.buffers[2][:0], d.a...), append(r.buffers[3][:0], d.b...)
	d.wordsA, d.wordsB = r.buffers[2], r.buffers[3]
	r.align(a, b, d, o, weights)
	d.both = min(a.heavy-heavies(d.a), b.heavy-heavies(d.b))
	return d
}

// alike says whether two words are the same but for a slip of a key, or one is made of the other, as collection of collect.
func (r *Reader) alike(x, y token) bool {
	if x.kind == number || y.kind == number || x.axis > 0 || y.axis > 0 {
		return false
	}
	k := r.kinOf(x.word, y.word)
	return k.near || x.kind == plain && y.kind == plain && (x.word <= y.word && k.derived || y.word <= x.word && k.derives)
}

// derived says whether two words begin alike, and end as words that are made of each other do.
func derived(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for n < len(a) && a[n] == b[n] {
		n++
	}
	if n < 5 || len(a)-n > 3 {
		return false
	}
	switch b[n:] {
	case "ion", "ions", "ation", "ations", "ment", "ments", "ing", "ings", "er", "ers", "or", "al", "ly", "d", "ed", "s", "es", "tion", "ement", "y", "ally":
		return true
	}
	return false
}

// join takes words that are apart in one text and together in the other from both.
func (r *Reader) join(apart, together *[]token, o *overlap, weights []float32) {
	for i := 0; i+1 < len(*apart); i++ {
		x, y := (*apart)[i], (*apart)[i+1]
		if x.at+1 != y.at {
			continue
		}
		word := r.words[x.word] + r.words[y.word]
		if j := slices.IndexFunc(*together, func(t token) bool { return strings.ReplaceAll(r.words[t.word], "_", "") == word }); j >= 0 {
			o.slip(weights[x.id]+weights[y.id], weights[(*together)[j].id])
			*apart, *together = slices.Delete(*apart, i, i+2), slices.Delete(*together, j, j+1)
			i--
		}
	}
}

// without are the tokens of a list that another does not have, or not as often.
func without(rest, list, other []token) []token {
	for i := range list {
		id := list[i].id
		if there := count(other, id); there == 0 || count(list[:i+1], id) > there {
			rest = append(rest, list[i])
		}
	}
	return rest
}

func count(list []token, id uint32) int {
	n := 0
	for i := range list {
		if list[i].id == id {
			n++
		}
	}
	return n
}

// heavies is how many tokens of a list are not light.
func heavies(list []token) (n int) {
	for i := range list {
		if !list[i].light {
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
func (r *Reader) opposed(f, g *Fact, d *difference, a, b []token) bool {
	for i, x := range a {
		for j, y := range b {
			if x.axis > 0 && x.axis == y.axis && x.side != y.side && (!x.state || !y.state || x.after && y.after) {
				return d.both > 0 && (!f.moment && !g.moment || f.changed || g.changed) && !otherScope(f, g) && !(f.repeats && g.repeats && !x.state) && (d.both > 1 && oneSided(slices.Delete(slices.Clone(a), i, i+1), slices.Delete(slices.Clone(b), j, j+1)) || !r.otherSubjects(a, b) && r.common(f, g, []token{x}, []token{y}) >= aboutFrom)
			}
		}
	}
	if len(a) != 1 || len(b) != 1 || a[0].label {
		return false
	}
	x, y := a[0], b[0]
	return x.axis == 0 && y.axis == 0 && prefixed(r.stems[x.id], r.stems[y.id])
}

// otherValue says whether two facts say something else of the same: they differ only in a value, and that is something
// there is one of.
func (r *Reader) otherValue(a, b *Fact, onlyA, onlyB []token) bool {
	if a.moment || b.moment || a.many || b.many || otherScope(a, b) || !isValue(onlyA) || !isValue(onlyB) || len(a.ids)-len(onlyA) < 2 {
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
		return !x.label && !y.label && !isYear(r.words[x.word]) && unequal(r.words[x.word], r.words[y.word])
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

func (r *Reader) wordsOf(list []token) []string {
	said := make([]string, len(list))
	for i, t := range list {
		said[i] = r.words[t.word]
	}
	return said
}
