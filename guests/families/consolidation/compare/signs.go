package compare

import (
	"math"
	"slices"
	"strconv"
)

// cue is a set of what a text says of how much, of when and of whether: a bit for each line of cueWords.
type cue uint32

// Each line are words that may make another fact of the same words.
const cueWords = `all every each any always everything everyone whole entire everybody both
only just single sole alone exclusively merely solely
none nobody nothing never no neither without
some many most several few often sometimes mostly partly half
must should shall need needs required mandatory has-to obliged
may can could might allowed possible possibly perhaps optional
will going plan planned plans shall next tomorrow soon upcoming
ended cancelled canceled dropped stopped quit longer anymore off abandoned terminated
used former formerly previously earlier once old
before until till earlier prior ahead
after since afterwards later following past
more over above exceed exceeds least longer larger greater
less under below fewer within shorter smaller
because since due reason cause caused causes led
too also besides another additionally
now nowadays today currently changed switched instead moved
last yesterday ago week tonight morning recently
first then second step next
if unless when except`

const cues = 19

// Signs are what tells a pair of texts that say the same from one of texts that do not. They are the same whichever text is first.
const (
	signRuledSame = iota
	signRuledMore
	signRuledNegated
	signRuledOpposite
	signRuledValue
	signJaccard
	signInLeast
	signInMost
	signNearLeast
	signNearMost
	signRestLeast
	signRestMost
	signAlignedLeast
	signAlignedMost
	signStrangeLeast
	signStrangeMost
	signNearest
	signNearMean
	signTexts
	signRests
	signNumbersBoth
	signNumbersLeast
	signNumbersMost
	signNumbersClash
	signNumbersOther
	signNumbersAlone
	signNumbersMostAlone
	signNamesBoth
	signNamesLeast
	signNamesMost
	signNegated
	signCorrects
	signAxesSame
	signAxesOpposed
	signPrefixed
	signSwapped
	signCauses
	signScopes
	signOtherScope
	signMoments
	signPast
	signMany
	signHeld
	signSole
	signChanged
	signReplaced
	signReplacedNear
	signFrontLeast
	signFrontMost
	signBackLeast
	signBackMost
	signWordsLeast
	signWordsRatio
	signOrder
	signLetters
	signFirst
	signRoles
	signNewFront
	signNewFrontMost
	signNewBack
	signNewBackMost
	signCues // a sign for each cue
	signs    = signCues + cues
)

// Signs are the signs of a pair, by number.
type Signs [signs]float32

// signsOf reads the signs of a pair. ruled is what rules say of it.
func (r *Reader) signsOf(a, b *Fact, d *difference, ruled Relation) (s Signs) {
	s.ruled(ruled)
	r.overlaps(&s, a, b, d)
	r.meant(&s, a, b, d)
	r.values(&s, a, b, d)
	r.polarity(&s, a, b, d)
	r.places(&s, a, b)
	s.forms(a, b)
	return s
}

func (s *Signs) ruled(v Relation) {
	switch v {
	case Same:
		s[signRuledSame] = 1
	case Contained, Contains:
		s[signRuledMore] = 1
	case Negated:
		s[signRuledNegated] = 1
	case Opposite:
		s[signRuledOpposite] = 1
	case OtherValue:
		s[signRuledValue] = 1
	}
}

func (s *Signs) sides(least int, x, y float64) {
	s[least], s[least+1] = float32(min(x, y)), float32(max(x, y))
}

// overlaps is how many words both have.
func (r *Reader) overlaps(s *Signs, a, b *Fact, d *difference) {
	restA, restB := heavies(d.wordsA), heavies(d.wordsB)
	both := float64(a.heavy-restA+b.heavy-restB) / 2
	all := both + float64(restA+restB)
	if all > 0 {
		s[signJaccard] = float32(both / all)
	}
	s.sides(signInLeast, 1-part(restA, a.heavy), 1-part(restB, b.heavy))
	s.sides(signRestLeast, float64(restA), float64(restB))
	s.sides(signNearLeast, r.share(a, b, nil), r.share(b, a, nil))
	s.sides(signAlignedLeast, float64(heavies(d.a)), float64(heavies(d.b)))
}

func part(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// meant is how near by meaning what only one of two facts has is to the other.
func (r *Reader) meant(s *Signs, a, b *Fact, d *difference) {
	near := nearness{least: 2}
	s.sides(signStrangeLeast, r.strange(d.wordsA, b, &near), r.strange(d.wordsB, a, &near))
	s[signNearest], s[signNearMean] = 1, 1
	if near.n > 0 {
		s[signNearest], s[signNearMean] = float32(near.least), float32(near.sum/near.n)
	}
	s[signTexts] = float32(r.texts(a, b))
	s[signRests] = r.restsNear(d)
}

// nearness is how near some words are to another fact.
type nearness struct{ least, sum, n float64 }

// strange is how many words of a list have none in a fact that means nearly the same.
func (r *Reader) strange(rest []token, other *Fact, near *nearness) (n float64) {
	for i := range rest {
		x := &rest[i]
		if x.light || x.kind == number {
			continue
		}
		best := 0.0
		for j := range other.tokens {
			best = max(best, r.nearWords(x.word, other.tokens[j].word))
		}
		near.least, near.sum, near.n = min(near.least, best), near.sum+best, near.n+1
		if best < leastNear {
			n++
		}
	}
	return n
}

// restsNear is how near what only one of two facts has is to what only the other has, as a whole.
func (r *Reader) restsNear(d *difference) float32 {
	x, y := r.sum(d.wordsA), r.sum(d.wordsB)
	if x == nil && y == nil {
		return 1
	}
	if x == nil || y == nil {
		return 0
	}
	var dot, xx, yy float64
	for i := range x {
		dot, xx, yy = dot+float64(x[i]*y[i]), xx+float64(x[i]*x[i]), yy+float64(y[i]*y[i])
	}
	return float32(dot / math.Sqrt(xx*yy+1e-12))
}

func (r *Reader) sum(list []token) (sum []float32) {
	for _, t := range list {
		v := r.mean(t.word)
		if t.kind == number || len(v) == 0 {
			continue
		}
		if sum == nil {
			sum = make([]float32, len(v))
		}
		for i := range v {
			sum[i] += v[i]
		}
	}
	return sum
}

// isNamed says whether a token is a name: also one that begins a sentence, and is no word that is known or owns something.
func (r *Reader) isNamed(t *token) bool {
	return t.kind == name || t.initial && t.kind == plain && (t.role.owner || r.vectors != nil && len(r.mean(t.word)) == 0)
}

// values are the numbers and names that both have, or only one.
func (r *Reader) values(s *Signs, a, b *Fact, d *difference) {
	isNumber := func(t *token) bool { return t.kind == number }
	s[signNumbersBoth] = float32(countOf(a.tokens, isNumber) - countOf(d.wordsA, isNumber))
	s.sides(signNumbersLeast, float64(countOf(d.wordsA, isNumber)), float64(countOf(d.wordsB, isNumber)))
	for i := range d.wordsA {
		for j := range d.wordsB {
			x, y := &d.wordsA[i], &d.wordsB[j]
			if x.kind != number || y.kind != number {
				continue
			}
			if unequal(r.words[x.word], r.words[y.word]) {
				s[signNumbersClash] = 1
			} else {
				s[signNumbersOther] = 1
			}
		}
	}
	s.sides(signNumbersAlone, r.alone(d.wordsA, d.wordsB), r.alone(d.wordsB, d.wordsA))
	s[signNamesBoth] = float32(countOf(a.tokens, r.isNamed) - countOf(d.wordsA, r.isNamed))
	s.sides(signNamesLeast, float64(countOf(d.wordsA, r.isNamed)), float64(countOf(d.wordsB, r.isNamed)))
}

// alone is how many numbers of a list are of no amount that another has, as the second milestone is milestone 2.
func (r *Reader) alone(list, other []token) (n float64) {
	for _, x := range list {
		if x.kind != number {
			continue
		}
		amount, ok := r.lexicon.amount(r.words[x.word])
		if !ok || !slices.ContainsFunc(other, func(y token) bool {
			found, ok := r.lexicon.amount(r.words[y.word])
			return ok && found == amount
		}) {
			n++
		}
	}
	return n
}

// amount is the number that a word stands for.
func (l *lexicon) amount(w string) (float64, bool) {
	if n, ok := l.measures.ordinals[w]; ok {
		return float64(n), true
	}
	end := 0
	for end < len(w) && (w[end] >= '0' && w[end] <= '9' || w[end] == '.') {
		end++
	}
	v, err := strconv.ParseFloat(w[:end], 64)
	return v, err == nil
}

func countOf(list []token, is func(*token) bool) (n int) {
	for i := range list {
		if is(&list[i]) {
			n++
		}
	}
	return n
}

// polarity is what turns a fact into its opposite, or limits where and when it holds.
func (r *Reader) polarity(s *Signs, a, b *Fact, d *difference) {
	set := func(sign int, is bool) {
		if is {
			s[sign] = 1
		}
	}
	set(signNegated, a.negated != b.negated)
	set(signCorrects, corrects(a, b) || corrects(b, a))
	for i := range a.tokens {
		x := &a.tokens[i]
		if x.axis == 0 {
			continue
		}
		for j := range b.tokens {
			if y := &b.tokens[j]; x.axis == y.axis {
				set(signAxesSame, x.side == y.side)
				set(signAxesOpposed, x.side != y.side)
			}
		}
	}
	for _, x := range d.wordsA {
		for _, y := range d.wordsB {
			set(signPrefixed, prefixed(r.stems[x.id], r.stems[y.id]))
			if substituted(a, b, x, y) {
				s[signReplaced] = 1
				s[signReplacedNear] = max(s[signReplacedNear], float32(r.nearWords(x.word, y.word)))
			}
		}
	}
	set(signSwapped, swapped(a, b))
	set(signRoles, otherRoles(a, b))
	set(signCauses, len(a.causes) > 0 && len(b.causes) > 0)
	set(signScopes, len(a.scopes) > 0 != (len(b.scopes) > 0))
	set(signOtherScope, otherScope(a, b))
	set(signMoments, a.moment || b.moment)
	set(signPast, a.past != b.past)
	set(signMany, a.many || b.many)
	set(signHeld, a.held || b.held)
	set(signSole, sole(a, b))
	set(signChanged, a.changed || b.changed)
	for i := range cues {
		set(signCues+i, a.cues>>i&1 != b.cues>>i&1)
	}
}

// otherRoles says whether two words that two facts share have changed places: from A to B, and from B to A.
func otherRoles(a, b *Fact) bool {
	for i := range a.tokens {
		x := &a.tokens[i]
		for j := range a.tokens[:i] {
			y := &a.tokens[j]
			if x.role == y.role || x.light || y.light || x.id == y.id {
				continue
			}
			if b.plays(x.id, y.role) && b.plays(y.id, x.role) && !b.plays(x.id, x.role) && !b.plays(y.id, y.role) {
				return true
			}
		}
	}
	return false
}

func (f *Fact) plays(id uint32, r role) bool {
	for i := range f.tokens {
		if t := &f.tokens[i]; t.id == id && t.role == r {
			return true
		}
	}
	return false
}

// role is what a word is in its sentence, by what stands beside it: a preposition in front of it, or that it owns something.
type role struct {
	before uint32
	owner  bool
}

// places is how much of what stands before the verb of a fact, and behind it, is in the other.
func (r *Reader) places(s *Signs, a, b *Fact) {
	x, y := placesOf(a, b), placesOf(b, a)
	s.sides(signFrontLeast, x[0].in(), y[0].in())
	s.sides(signBackLeast, x[1].in(), y[1].in())
	s.sides(signNewFront, float64(x[0].all-x[0].found), float64(y[0].all-y[0].found))
	s.sides(signNewBack, float64(x[1].all-x[1].found), float64(y[1].all-y[1].found))
	if len(a.tokens) > 0 && len(b.tokens) > 0 && a.tokens[0].id == b.tokens[0].id {
		s[signFirst] = 1
	}
}

// place is how many words a fact has somewhere, and how many of them are in another.
type place struct{ found, all int }

func (p place) in() float64 {
	if p.all == 0 {
		return 1
	}
	return part(p.found, p.all)
}

// placesOf are what stands before the verb of a fact, and what stands behind it.
func placesOf(f, other *Fact) (places [2]place) {
	for i := range f.tokens {
		t := &f.tokens[i]
		if t.light || t.verb {
			continue
		}
		p := &places[0]
		if t.after {
			p = &places[1]
		}
		if p.all++; has(other, t.id) {
			p.found++
		}
	}
	return places
}

// forms is how alike two texts are as they are written.
func (s *Signs) forms(a, b *Fact) {
	s[signWordsLeast] = float32(min(len(a.tokens), len(b.tokens), 30))
	s[signWordsRatio] = float32(part(min(a.words, b.words), max(a.words, b.words)))
	next := 0
	for i := range len(a.tokens) - 1 {
		if b.precedes(a.tokens[i].id, a.tokens[i+1].id) {
			next++
		}
	}
	s[signOrder] = float32(part(next, max(len(a.tokens), len(b.tokens), 2)-1))
	s[signLetters] = float32(alikeLetters(a.trigrams(), b.trigrams()))
}

// alikeLetters is the share of runs of three letters and digits that two texts have both.
func alikeLetters(x, y []uint32) float64 {
	both := 0
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			both, i, j = both+1, i+1, j+1
		case x[i] < y[j]:
			i++
		default:
			j++
		}
	}
	return part(both, len(x)+len(y)-both)
}

// trigrams are those of a text, sorted. Of a long one they are made anew each time, so that they take little memory.
func (f *Fact) trigrams() []uint32 {
	if f.letters != nil {
		return f.letters
	}
	list := trigrams(f.text)
	if len(list) <= mostLetters {
		f.letters = list
	}
	return list
}

// mostLetters is of how many trigrams a fact keeps them.
const mostLetters = 300

func trigrams(text string) []uint32 {
	list := make([]uint32, 0, len(text))
	run := uint32(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c >= 0x80 || 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		default:
			continue
		}
		run = run<<8 | uint32(c)
		list = append(list, run&0xffffff)
	}
	return sortedOnce(list)
}

// SignsOf reads the signs of two texts by themselves.
func (c *Comparer) SignsOf(means Vectors, a, b string) Signs {
	r, first, second, weights := c.alone(means, a, b)
	o := overlapOf(first, second, weights)
	d := r.differences(first, second, &o, weights)
	return r.signsOf(first, second, d, r.relation(first, second, d, heavy(d.a), heavy(d.b), o.similarity()))
}
