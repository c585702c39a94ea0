package compare

import (
	"slices"
	"strconv"
	"strings"
)

// slack is how many words one of two facts may say more, when they are compared for one thing that they say differently.
const slack = 2

// oneSided says whether at most one of two facts says more than the other, and not much: what both say apart is of two things.
func oneSided(a, b []token) bool {
	if len(a) > 0 && len(b) > 0 {
		return false
	}
	rest := a
	if len(b) > 0 {
		rest = b
	}
	return len(rest) <= slack && !slices.ContainsFunc(rest, func(t token) bool { return t.kind != plain })
}

// denies says whether one of two facts says that something is so, and the other that it is not.
func (r *Reader) denies(a, b *Fact, d *difference, heavyA, heavyB []token) bool {
	if len(heavyA)+len(heavyB) == 0 {
		return min(len(a.ids), len(b.ids)) >= 2
	}
	return d.both >= 3 && oneSided(heavyA, heavyB)
}

// otherSlot says whether two facts give something that there is one of two values, however they word the rest.
func (r *Reader) otherSlot(a, b *Fact, d *difference, onlyA, onlyB []token) bool {
	if (a.moment || b.moment) && !a.changed && !b.changed || a.many || b.many || d.both < 1 || otherScope(a, b) {
		return false
	}
	if holders(a, b, onlyA, onlyB) {
		return true
	}
	x, restA := values(onlyA)
	y, restB := values(onlyB)
	if len(x) == 0 || len(y) == 0 || x[0].kind != y[0].kind || x[0].label || y[0].label {
		return false
	}
	if d.both < 2 && len(restA)+len(restB) > 0 {
		return false
	}
	if !oneSided(restA, restB) && (r.otherSubjects(restA, restB) || r.common(a, b, x, y) < aboutFrom) {
		return false
	}
	if x[0].kind == number {
		return len(x) == 1 && len(y) == 1 && !isYear(r.words[x[0].word]) && unequal(r.words[x[0].word], r.words[y[0].word]) &&
			(a.valued(x[0]) && b.valued(y[0])) && (!a.past && !b.past || a.changed || b.changed)
	}
	if x[0].language && y[0].language {
		return true
	}
	if x[0].after != y[0].after && !a.states(x[0]) && !b.states(y[0]) {
		return false
	}
	if !x[0].after && !y[0].after && !(a.held && b.held && x[0].at == 0 && y[0].at == 0) {
		return false
	}
	return together(x) && together(y) && sole(a, b)
}

// holders says whether two facts begin with another owner or leader of the same, and say no more.
func holders(a, b *Fact, onlyA, onlyB []token) bool {
	if !a.held || !b.held || len(onlyA) != len(onlyB) {
		return false
	}
	for i := range onlyA {
		x, y := onlyA[i], onlyB[i]
		if int(x.at) != i || int(y.at) != i || x.after || y.after || !x.initial && x.kind != name || !y.initial && y.kind != name {
			return false
		}
	}
	return len(onlyA) > 0
}

// valued says whether a number is what a fact says of something, and not what it says something of.
func (f *Fact) valued(t token) bool { return t.after || f.verbs[t.sentence] == noVerb }

// states says whether what is said of a thing stands in front of it: Dana is the owner.
func (f *Fact) states(t token) bool { return !t.after && f.verbs[t.sentence] == isVerb && t.at < 4 }

// values are the numbers and names of a list, and the rest.
func values(list []token) (values, rest []token) {
	for _, t := range list {
		if t.kind == plain || t.acronym && t.kind == name {
			rest = append(rest, t)
		} else {
			values = append(values, t)
		}
	}
	return values, rest
}

// together says whether names stand beside each other.
func together(list []token) bool {
	for i, t := range list {
		if t.kind != name || int(t.at) > int(list[0].at)+i {
			return false
		}
	}
	return len(list) <= valueWords
}

// sole says whether both facts speak of something that there is one of: an owner, a port, where somebody lives.
func sole(a, b *Fact) bool {
	for i := range a.tokens {
		if t := &a.tokens[i]; t.sole && has(b, t.id) {
			return true
		}
	}
	return false
}

// otherScope says whether two facts hold elsewhere.
func otherScope(a, b *Fact) bool {
	return len(a.scopes) > 0 && len(b.scopes) > 0 && !slices.ContainsFunc(a.scopes, func(id uint32) bool { return slices.Contains(b.scopes, id) })
}

// unequal says whether two numbers count the same, and are not about as many: a gigabyte is 1,000 megabytes, or 1,024, and seven o'clock in
// the morning or in the evening.
func unequal(x, y string) bool {
	if dimension(x) != dimension(y) {
		return false
	}
	if dimension(x) == "t" {
		return x[3:] != y[3:] || (int(x[1]-'0')*10+int(x[2]-'0'))%12 != (int(y[1]-'0')*10+int(y[2]-'0'))%12
	}
	a, errA := strconv.ParseFloat(strings.TrimSuffix(x, dimension(x)), 64)
	b, errB := strconv.ParseFloat(strings.TrimSuffix(y, dimension(y)), 64)
	return errA != nil || errB != nil || dimension(x) != "B" || max(a, b) > 1.1*min(a, b)
}

// isYear says whether a number is a year: what was so in one may be otherwise in another.
func isYear(w string) bool {
	return len(w) == 4 && digits(w) && (strings.HasPrefix(w, "19") || strings.HasPrefix(w, "20"))
}

// dimension is what the number counts that a word is.
func dimension(w string) string {
	if strings.Contains(w, "/") {
		return "/"
	}
	for i := range len(w) {
		if c := w[i]; (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' {
			if i == 0 && len(w) > 1 && (c == 'd' || c == 't' || c == 'm') && '0' <= w[1] && w[1] <= '9' {
				return w[i : i+1]
			}
			if i == 0 {
				return "name"
			}
			return w[i:]
		}
	}
	return ""
}

// corrects says whether a says that it is not what b says: it is X, not Y.
func corrects(a, b *Fact) bool {
	if len(a.refuted) == 0 {
		return false
	}
	for _, id := range a.refuted {
		if !slices.Contains(b.ids, id) || slices.Contains(b.refuted, id) {
			return false
		}
	}
	both, more := 0, 0
	for _, id := range a.ids {
		switch {
		case slices.Contains(a.refuted, id):
		case slices.Contains(b.ids, id):
			both++
		default:
			more++
		}
	}
	return both > 0 && more > 0
}

// appended says whether what a fact says more stands behind all else that it says.
func appended(f *Fact, more []token) bool {
	if len(more) == 0 {
		return true
	}
	first := more[0].at
	for _, t := range f.tokens {
		if t.at > first && !t.light && !slices.ContainsFunc(more, func(m token) bool { return m.at == t.at }) {
			return false
		}
	}
	return true
}

// swapped says whether two facts have the same words in another order that makes them another fact: who did what, and what caused what.
func swapped(a, b *Fact) bool {
	for _, c := range a.causes {
		i := slices.IndexFunc(b.causes, func(o cause) bool { return o.word == c.word })
		if i >= 0 && !slices.ContainsFunc(c.next(a), func(id uint32) bool { return slices.Contains(b.causes[i].next(b), id) }) {
			return true
		}
	}
	for i, t := range a.tokens {
		if t.kind == plain && !t.initial || i+1 == len(a.tokens) {
			continue
		}
		for j, u := range a.tokens[:i] {
			if (u.kind != plain || u.initial) && u.id != t.id && b.precedes(t.id, a.tokens[j+1].id) && b.precedes(u.id, a.tokens[i+1].id) && a.tokens[j+1].id != a.tokens[i+1].id && j+1 != i {
				return true
			}
		}
	}
	return false
}

// precedes says whether a token stands right in front of another.
func (f *Fact) precedes(first, second uint32) bool {
	for i := range len(f.tokens) - 1 {
		if f.tokens[i].id == first && f.tokens[i+1].id == second {
			return true
		}
	}
	return false
}

// cause is where because, after or before stands.
type cause struct {
	word uint32
	at   int // the token behind it
}

// next are the first words behind it.
func (c cause) next(f *Fact) (ids []uint32) {
	for _, t := range f.tokens[min(c.at, len(f.tokens)):min(c.at+2, len(f.tokens))] {
		ids = append(ids, t.id)
	}
	return ids
}
