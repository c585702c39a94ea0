// Package compare finds out which texts say the same, which contradict each other, and which belong together.
//
// It knows no host and no memories: a text goes in as a Fact.
package compare

import (
	"strconv"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// tokenKind is what a word is by its form.
type tokenKind uint8

const (
	plain  tokenKind = iota
	name             // a capital letter where no sentence begins
	number           // also dates, versions and identifiers with digits
)

// token is a word that is compared.
type token struct {
	id    uint32 // of its stem, in the Reader that made it
	word  uint32 // of itself
	at    uint16 // which of the fact's tokens it is
	place uint16 // how many tokens stand between it and the verb, if it is behind it
	kind  tokenKind
	light bool
	verb  bool // as owned in is owned
	// attribute says that a thing has one of it.
	attribute bool
	label     bool // a number that is a name, as in build 512
	after     bool // behind the verb of its sentence
	sentence  uint16
	axis      uint16 // of which it is one side; 0: it has no opposite
	side      bool
	state     bool
	sole      bool // there is one: an owner, a port, where somebody lives
	acronym   bool
	language  bool
	initial   bool // a capital letter where a sentence begins
	role      role
}

// Fact is what a text is compared by. Facts of the same Reader can be compared.
type Fact struct {
	changed bool // it says that something became another
	tokens  []token
	ids     []uint32 // of the tokens that are not light, sorted, each once
	negated bool
	verbs   []verbKind // of each sentence
	bound   []bool     // of each sentence: what its subject has one of, as a port or an owner
	refuted []uint32   // what it says that it is not: X, not Y
	causes  []cause
	scopes  []uint32 // where or for whom it holds
	many    bool     // it may be said of several
	held    bool     // a verb whose subject there is one of
	repeats bool     // of what happens again and again
	past    bool     // of something that was
	moment  bool     // of a day or an hour
	words   int      // of the text, those that are not compared too
	cues    cue      // what it says of how much, of when and of whether
	text    string
	heavy   int       // tokens that are not light
	letters []uint32  // runs of three letters; nil: not looked at yet
	whole   []float32 // what the text means as a whole, as of lesson
	lesson  int
}

// Text is what the fact was read from.
func (f *Fact) Text() string { return f.text }

// Size is how many words of the text are compared.
func (f *Fact) Size() int { return len(f.ids) }

// maxTokens is how many words of a text are compared.
const maxTokens = 400

// Reader reads texts. What it read can be compared with each other.
type Reader struct {
	lexicon    *lexicon
	ids        map[string]uint32
	stems      []string
	first      []string // for each stem, the first word that had it
	words      []string
	joined     []float32        // what each word counted when pairs were found
	memo       map[string]known // of words that were seen before: a word costs its stemming once
	vectors    Vectors          // nil: what words mean is not known
	lesson     int              // how often vectors were given
	means      [][]float32      // of each word, as far as they were looked up
	kin        kinship
	difference difference // of the pair that was compared last
	buffers    [4][]token // which it is in
}

type known struct {
	meaning
	id, word uint32
	role     role
}

// NewReader makes a Reader that shares the lexicon with others.
func (c *Comparer) NewReader() *Reader {
	return &Reader{lexicon: c.lexicon, ids: map[string]uint32{}, memo: map[string]known{}}
}

// Comparer compares. It may be used any number of times.
type Comparer struct{ lexicon *lexicon }

// New makes one.
func New() *Comparer { return &Comparer{lexicon: newLexicon()} }

func (r *Reader) know(w string) known {
	k, ok := r.memo[w]
	if !ok {
		stem := w
		if w[0] < '0' || w[0] > '9' {
			stem = r.lexicon.stem(w)
		}
		k = known{meaning: r.lexicon.words[w], word: uint32(len(r.words))}
		r.words = append(r.words, w)
		k.id = r.intern(stem, w)
		if strings.HasSuffix(w, "ly") && len(w) > 5 && !k.noun {
			k.light = true
		}
		r.memo[w] = k
	}
	return k
}

// intern is the number of a stem.
func (r *Reader) intern(stem, word string) uint32 {
	id, ok := r.ids[stem]
	if !ok {
		id = uint32(len(r.stems))
		r.ids[stem] = id
		r.stems, r.first = append(r.stems, stem), append(r.first, word)
	}
	return id
}

// Read reads a text.
func (r *Reader) Read(text string) *Fact {
	list := r.lexicon.measures.normalized(text)
	f := &Fact{text: text, words: len(list), tokens: make([]token, 0, len(list)), verbs: []verbKind{noVerb}, bound: []bool{false}}
	p := sentence{colon: -1}
	for i, w := range list {
		if len(f.tokens) == maxTokens {
			break
		}
		k := r.know(w.Lower)
		if i > 0 {
			f.begin(&p, w, isColon(text[list[i-1].To:w.From]))
		}
		f.note(k)
		r.negate(text, &p, &k, list, i)
		k.attribute = k.attribute && r.ofSomething(text, list, i)
		k.role.owner = len(words.Possessive(text[w.From:w.To])) < w.To-w.From
		if i > 0 && r.lexicon.directs[list[i-1].Lower] {
			k.role.before = r.know(list[i-1].Lower).word + 1
		}
		f.read(&p, w, k)
	}
	f.negated = p.negations%2 == 1
	f.ids, f.heavy = r.content(f), heavies(f.tokens)
	return f
}

// note takes what a word says of the whole text.
func (f *Fact) note(k known) {
	f.cues |= k.cues
	f.past, f.moment, f.changed = f.past || k.past || k.verb == didVerb, f.moment || k.moment, f.changed || k.changed
	f.held, f.repeats, f.many = f.held || k.held, f.repeats || k.repeats, f.many || k.many
	if k.scope {
		f.scopes = append(f.scopes, k.id)
	}
	if k.cause {
		at := len(f.tokens)
		if !k.stop {
			at++ // it is a token itself
		}
		f.causes = append(f.causes, cause{k.word, at})
	}
}

// negate looks at how a word is negated or refuted, and which of two opposites it is.
func (r *Reader) negate(text string, p *sentence, k *known, list []words.Word, i int) {
	w := list[i]
	switch {
	case k.negates && refutes(text, list, i):
		p.refuting = true
	case k.negates:
		p.negations, p.negated = p.negations+1, i
	case p.refuting && (w.Start || isComma(text[list[i-1].To:w.From]) || w.Lower == "but" || w.Lower == "in" || w.Lower == "on" || w.Lower == "for"):
		p.refuting = false
	}
	if isJoined(text, w) {
		k.light, p.label = false, p.label || i > 0 && w.Number && !list[i-1].Number && text[w.From-1] == '-'
	}
	if k.axis > 0 {
		r.orient(p, k, i)
	} else if w.Lower == "on" || w.Lower == "off" {
		r.switched(p, k, list, i)
	}
}

// switched makes a word of on and off where they say in which state something is.
func (r *Reader) switched(p *sentence, k *known, list []words.Word, i int) {
	if i == 0 || i+1 < len(list) && !list[i+1].Start && !list[i+1].Apart && !afterSwitch(list[i+1].Lower) {
		return
	}
	switch list[i-1].Lower {
	case "turned", "switched", "turn", "switch", "is", "are", "be", "stays", "was", "not", "isn't", "aren't", "left":
		k.meaning = r.lexicon.words["enabled"]
		k.side = list[i].Lower == "on"
		r.orient(p, k, i)
	}
}

// afterSwitch says whether a word may stand behind on or off, where that is a state.
func afterSwitch(w string) bool {
	switch w {
	case "in", "for", "by", "per", "when", "at", "during", "everywhere", "again", "now", "and", "until", "since", "while", "because", "as":
		return true
	}
	return false
}

// ofSomething says whether an attribute is that of something: the owner of, Ann's drink, the default theme. Without that it
// is a thing by itself, as a database, of which more than one thing can be said.
func (r *Reader) ofSomething(text string, list []words.Word, i int) bool {
	if i+1 < len(list) && (list[i+1].Lower == "of" || list[i+1].Lower == "for") || i+1 < len(list) && isColon(text[list[i].To:list[i+1].From]) {
		return true
	}
	for j := max(i-2, 0); j < i; j++ {
		word := text[list[j].From:list[j].To]
		if len(words.Possessive(word)) < len(word) || r.lexicon.words[list[j].Lower].chooses {
			return true
		}
	}
	return false
}

// sentence is where the reader is in one.
type sentence struct {
	after bool // behind the verb
	label bool // behind a word that makes a number a name
	colon int  // the token behind a colon that stands for the verb; -1: none

	refuting           bool // what follows is what something is not
	negations, negated int  // of all sentences so far, and where the last one is
}

// reach is how many words before another a negation may be.
const reach = 3

// orient makes one word of all that are on a side of an axis: not successful is failed.
func (r *Reader) orient(p *sentence, k *known, i int) {
	if p.negations > 0 && i-p.negated <= reach {
		p.negations--
		p.negated = -reach - 1
		k.side = !k.side
	}
	name := "+"
	if !k.side {
		name = "-"
	}
	k.id, k.stop, k.light, k.verb = r.intern(strconv.Itoa(int(k.axis))+name, r.words[k.word]), false, false, noVerb
}

// begin looks at what stands in front of a word: the end of a sentence, or a colon, which stands for the verb as long as
// there is none.
func (f *Fact) begin(p *sentence, w words.Word, colon bool) {
	switch {
	case colon && !p.after:
		p.after, p.colon = true, len(f.tokens)
		f.verbs[len(f.verbs)-1] = isVerb
	case w.Start && !colon:
		f.verbs, f.bound = append(f.verbs, noVerb), append(f.bound, false)
		*p = sentence{colon: -1, negations: p.negations, negated: p.negated}
	}
}

// read takes a word.
func (f *Fact) read(p *sentence, w words.Word, k known) {
	here := len(f.verbs) - 1
	if p.colon >= 0 && (k.verb == isVerb || k.verb == hasVerb) { // what stood in front of the colon was not the subject
		for i := p.colon; i < len(f.tokens); i++ {
			t := &f.tokens[i]
			t.after, t.place = false, 0
			f.bound[here] = f.bound[here] || t.attribute
		}
		*p = sentence{colon: -1, negations: p.negations, negated: p.negated}
	}
	if k.verb != noVerb && !p.after {
		if !k.stop {
			f.take(p, w, k)
		}
		f.verbs[here] = k.verb
		p.after, p.label = true, false
		return
	}
	if k.stop && !w.Number && !isName(w) {
		return
	}
	f.take(p, w, k)
	p.label = k.label
	if k.attribute && !p.after {
		f.bound[here] = true
	}
}

// isName says whether a word that says nothing is a name here, as Go is.
func isName(w words.Word) bool {
	return w.Capital && !w.Start && (w.Acronym || w.Lower == "go") && w.Lower != "no"
}

// isJoined says whether a hyphen joins a word with another one.
func isJoined(text string, w words.Word) bool {
	return w.To+1 < len(text) && text[w.To] == '-' && text[w.To+1] != ' ' || w.From > 1 && text[w.From-1] == '-' && text[w.From-2] != ' '
}

func isComma(between string) bool { return strings.ContainsAny(between, ",;()–—") }

// refutes says whether a negation stands in front of what something is not, beside what it is: X, not Y; not Y but X; X instead of Y.
func refutes(text string, list []words.Word, i int) bool {
	w := list[i].Lower
	if w == "instead" || w == "rather" {
		return i+1 < len(list) && (list[i+1].Lower == "of" || list[i+1].Lower == "than")
	}
	if w != "not" || i+1 == len(list) {
		return false
	}
	for j := i + 1; j < min(i+6, len(list)); j++ {
		if list[j].Lower == "but" {
			return true
		}
	}
	if i == 0 {
		return false
	}
	return isComma(text[list[i-1].To:list[i].From]) || list[i-1].Lower == "and" || strings.ContainsAny(text[list[i-1].To:list[i].From], "-–")
}

// isColon says whether what stands between two words says that the second is the value of the first.
func isColon(between string) bool {
	between = strings.TrimSpace(between)
	return between == ":" || between == "=" || between == "->" || between == "→"
}

func (f *Fact) take(p *sentence, w words.Word, k known) {
	t := token{id: k.id, word: k.word, at: uint16(len(f.tokens)), light: k.light, attribute: k.attribute, after: p.after, sentence: uint16(len(f.verbs) - 1), axis: k.axis, side: k.side, state: k.state}
	switch {
	case w.Number || w.Mixed:
		t.kind, t.light, t.label = number, false, p.label
	case (w.Capital && !w.Start || w.Acronym) && !k.light:
		t.kind = name
	}
	if n := len(f.tokens); p.after && n > 0 {
		if last := f.tokens[n-1]; last.after && last.sentence == t.sentence {
			t.place = last.place + 1
			if last.verb || t.kind == name && last.kind == name && !w.Apart { // is owned by; Ann Lee
				t.place = last.place
			}
		}
	}
	t.verb = k.verb == isVerb
	t.sole, t.initial = k.attribute || k.sole, w.Capital && w.Start
	t.acronym, t.language, t.role = w.Acronym, k.language, k.role
	if k.weekday {
		t.kind = number
	}
	f.tokens = append(f.tokens, t)
	if p.refuting && !t.light {
		f.refuted = append(f.refuted, t.id)
	}
}

// content are the ids of what is not light; of everything where all is.
func (r *Reader) content(f *Fact) []uint32 {
	var ids []uint32
	for _, t := range f.tokens {
		if !t.light {
			ids = append(ids, t.id)
		}
	}
	if len(ids) == 0 {
		for _, t := range f.tokens {
			ids = append(ids, t.id)
		}
	}
	return sortedOnce(ids)
}
