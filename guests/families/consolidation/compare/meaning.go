package compare

import "slices"

// Vectors are what words and texts mean, as an embedder sees them, by the text; each has length 1.
type Vectors map[string][]float32

// cosine is how near two texts are by meaning; 0 where one has no vector.
func cosine(x, y []float32) float32 {
	if len(x) != len(y) {
		return 0
	}
	var dot float32
	for i := range x {
		dot += x[i] * y[i]
	}
	return dot
}

// unknown is the vector of what has none.
var unknown = []float32{}

// mean is the vector of a word, of no length where it has none.
func (r *Reader) mean(word uint32) []float32 {
	for int(word) >= len(r.means) {
		r.means = append(r.means, make([][]float32, len(r.words)-len(r.means))...)
	}
	if r.means[word] == nil {
		if r.means[word] = r.vectors[r.words[word]]; r.means[word] == nil {
			r.means[word] = unknown
		}
	}
	return r.means[word]
}

// texts is how near two texts are by meaning as a whole.
func (r *Reader) texts(a, b *Fact) float64 { return float64(cosine(r.whole(a), r.whole(b))) }

func (r *Reader) whole(f *Fact) []float32 {
	if f.lesson != r.lesson {
		f.whole, f.lesson = r.vectors[f.text], r.lesson
	}
	return f.whole
}

// Near is what meanings have to be for words, and texts, to be taken for the same.
const (
	nearFrom     = .5  // words that stand for each other, where the rest agrees
	leastNear    = .3  // words whose nearness counts
	anchoredFrom = .7  // how much of both texts is in the other, where they share a number or a name
	anchorsFrom  = .62 // the same, where they share several
	unanchored   = .76 // the same, where they share none
	aboutFrom    = .6  // how much of both texts is in the other but for what they say differently, where that is a number or an opposite
	deniedFrom   = .65 // the same, where one of them says that it is not so
	textFrom     = .85 // how near such texts are as a whole
)

// Learn gives the reader vectors of words and texts.
func (r *Reader) Learn(v Vectors) {
	r.vectors, r.means = v, r.means[:0]
	clear(r.means[:cap(r.means)])
	r.lesson++
	r.kin = kinship{}
}

// Words are the words of a fact whose meaning is compared.
func (r *Reader) Words(f *Fact) (list []string) {
	for _, t := range f.tokens {
		if t.kind != number {
			list = append(list, r.words[t.word])
		}
	}
	return list
}

// near is how near two words are by meaning.
func (r *Reader) near(x, y token) float64 {
	if x.kind != plain || y.kind != plain || x.axis > 0 || y.axis > 0 || r.vectors == nil {
		return 0
	}
	return r.nearWords(x.word, y.word)
}

// substituted says whether two tokens stand between the same words of both facts: whoever wrote both texts meant two things.
func substituted(a, b *Fact, x, y token) bool {
	if x.verb || y.verb || x.sole || y.sole {
		return false
	}
	return beside(a, b, x, -1) == beside(b, a, y, -1) && beside(a, b, x, 1) == beside(b, a, y, 1)
}

// replaced is substituted for texts in other words: only what stands right beside the tokens counts.
func replaced(a, b *Fact, x, y token) bool {
	return !x.verb && !y.verb && !x.sole && !y.sole && beside(a, a, x, -1) == beside(b, b, y, -1) && beside(a, a, x, 1) == beside(b, b, y, 1)
}

// none and aNumber stand for what is beside a token at the end of a text, and for any number.
const (
	none    = ^uint32(0)
	aNumber = none - 1
)

// beside is the next word of a fact, to the left or to the right of a token, that another fact has too, or a number.
func beside(f, other *Fact, t token, step int) uint32 {
	for i := int(t.at) + step; i >= 0 && i < len(f.tokens); i += step {
		switch u := f.tokens[i]; {
		case u.light:
		case u.kind == number:
			return aNumber
		case has(other, u.id):
			return u.id
		}
	}
	return none
}

// otherSubjects says whether both facts have words in front of their verbs that the other lacks.
func (r *Reader) otherSubjects(restA, restB []token) bool {
	front := func(t token) bool { return !t.after && !t.verb && !t.sole && t.kind != number && t.axis == 0 }
	return slices.ContainsFunc(restA, front) && slices.ContainsFunc(restB, front)
}

// align takes from both lists the words that mean the same, the nearest first.
func (r *Reader) align(a, b *Fact, d *difference, o *overlap, weights []float32) {
	if r.vectors == nil {
		return
	}
	for {
		at, to, most := -1, -1, nearFrom
		for i, x := range d.a {
			for j, y := range d.b {
				if n := r.near(x, y); n > most && !substituted(a, b, x, y) {
					at, to, most = i, j, n
				}
			}
		}
		if at < 0 {
			return
		}
		o.slip(weights[d.a[at].id], weights[d.b[to].id])
		d.a, d.b = slices.Delete(d.a, at, at+1), slices.Delete(d.b, to, to+1)
		d.aligned = true
	}
}

// rephrased says whether two facts say the same in other words: with the same numbers and names, and with words for all others that mean
// nearly the same.
func (r *Reader) rephrased(a, b *Fact) bool {
	if r.vectors == nil || len(a.causes)+len(b.causes) > 0 && sharedAnchors(a, b) < 2 {
		return false
	}
	if r.misses(a, b, nil, nil, replaced) || r.misses(b, a, nil, nil, replaced) {
		return false
	}
	in := (r.share(a, b, nil) + r.share(b, a, nil)) / 2
	switch n := sharedAnchors(a, b); {
	case n > 1:
		return in >= anchorsFrom
	case n > 0:
		return in >= anchoredFrom
	}
	return in >= unanchored && r.texts(a, b) >= textFrom
}

// common is how much of two facts is in both of them, but for some words; 0 where they are of two things.
func (r *Reader) common(a, b *Fact, butA, butB []token) float64 {
	if r.misses(a, b, butA, butB, substituted) || r.misses(b, a, butB, butA, substituted) {
		return 0
	}
	return (r.share(a, b, butA) + r.share(b, a, butB)) / 2
}

func among(list []token, t token) bool {
	for i := range list {
		if list[i].at == t.at {
			return true
		}
	}
	return false
}

// misses says whether a fact has a number, a name or an opposite that another has not, or a word in the place of another one.
func (r *Reader) misses(f, other *Fact, but, butOther []token, instead func(a, b *Fact, x, y token) bool) bool {
	for _, t := range f.tokens {
		if t.light || has(other, t.id) || among(but, t) {
			continue
		}
		if t.kind == number || t.axis > 0 || t.kind == name && !t.acronym || t.initial && r.vectors != nil && len(r.mean(t.word)) == 0 {
			return true
		}
		for _, u := range other.tokens {
			if !u.light && !has(f, u.id) && !among(butOther, u) && !r.alike(t, u) && instead(f, other, t, u) {
				return true
			}
		}
	}
	return false
}

func has(f *Fact, id uint32) bool {
	for i := range f.tokens {
		if f.tokens[i].id == id {
			return true
		}
	}
	return false
}

// sharedAnchors are the numbers and names that two facts have both.
func sharedAnchors(a, b *Fact) (n int) {
	for _, t := range a.tokens {
		if t.kind != plain && has(b, t.id) {
			n++
		}
	}
	return n
}

// share is how much of a fact is in another: of each word, how near the nearest one is.
func (r *Reader) share(f, other *Fact, but []token) float64 {
	sum, n := 0.0, 0
	for _, t := range f.tokens {
		if t.light || among(but, t) {
			continue
		}
		n++
		best := 0.0
		for _, u := range other.tokens {
			if u.id == t.id || r.alike(t, u) {
				best = 1
				break
			}
			best = max(best, r.near(t, u))
		}
		if best >= leastNear {
			sum += best
		}
	}
	return sum / float64(max(n, 1))
}
