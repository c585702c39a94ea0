// Package compare finds out which texts say the same, which contradict each other, and which belong together.
//
// It knows no host and no memories: a text goes in as a Fact.
package compare

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/words"
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
	id       uint32 // of its stem, in the Reader that made it
	word     uint32 // of itself
	at       uint16 // which of the fact's tokens it is
	place    uint16 // how many tokens stand between it and the verb, if it is behind it
	kind     tokenKind
	light    bool
	label    bool // a number that is a name, as in build 512
	after    bool // behind the verb of its sentence
	sentence uint16
}

// Fact is what a text is compared by. Facts of the same Reader can be compared.
type Fact struct {
	tokens  []token
	ids     []uint32 // of the tokens that are not light, sorted, each once
	negated bool
	verbs   []verbKind // of each sentence
	bound   []bool     // of each sentence: what its subject has one of, as a port or an owner
	words   int        // of the text, those that are not compared too
	text    string
}

// Text is what the fact was read from.
func (f *Fact) Text() string { return f.text }

// Size is how many words of the text are compared.
func (f *Fact) Size() int { return len(f.ids) }

// maxTokens is how many words of a text are compared.
const maxTokens = 400

// Reader reads texts. What it read can be compared with each other.
type Reader struct {
	lexicon *lexicon
	ids     map[string]uint32
	stems   []string
	first   []string // for each stem, the first word that had it
	words   []string
	memo    map[string]known // of words that were seen before: a word costs its stemming once
}

type known struct {
	meaning
	id, word uint32
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
		stem := r.lexicon.stem(w)
		k = known{meaning: r.lexicon.words[w], word: uint32(len(r.words))}
		r.words = append(r.words, w)
		k.id, ok = r.ids[stem]
		if !ok {
			k.id = uint32(len(r.stems))
			r.ids[stem] = k.id
			r.stems, r.first = append(r.stems, stem), append(r.first, w)
		}
		if strings.HasSuffix(w, "ly") && len(w) > 5 {
			k.light = true
		}
		r.memo[w] = k
	}
	return k
}

// Read reads a text.
func (r *Reader) Read(text string) *Fact {
	list := words.Split(text)
	f := &Fact{text: text, words: len(list), tokens: make([]token, 0, len(list)), verbs: []verbKind{noVerb}, bound: []bool{false}}
	negations, after, label := 0, false, false
	for i, w := range list {
		if len(f.tokens) == maxTokens {
			break
		}
		k := r.know(w.Lower)
		if colon := i > 0 && isColon(text[list[i-1].To:w.From]); w.Start && i > 0 && !colon {
			f.verbs, f.bound = append(f.verbs, noVerb), append(f.bound, false)
			after = false
		} else if colon && !after {
			after = f.verb(isVerb)
		}
		if k.negates {
			negations++
		}
		if k.verb != noVerb && !after {
			verb := k.verb
			if !k.stop {
				f.take(w, k, false, label)
			}
			after, label = f.verb(verb), false
			continue
		}
		if k.stop && !w.Number && !isName(w) {
			continue
		}
		f.take(w, k, after, label)
		label = k.label
		if k.attribute && !after {
			f.bound[len(f.bound)-1] = true
		}
	}
	f.negated = negations%2 == 1
	f.ids = r.content(f)
	return f
}

// isName says whether a word that says nothing is a name here, as Go is.
func isName(w words.Word) bool { return w.Capital && !w.Start && len(w.Lower) > 1 && w.Lower[0] != 'i' }

// isColon says whether what stands between two words says that the second is the value of the first.
func isColon(between string) bool {
	between = strings.TrimSpace(between)
	return between == ":" || between == "=" || between == "->" || between == "→"
}

// verb notes the verb of the sentence, and is true.
func (f *Fact) verb(kind verbKind) bool {
	f.verbs[len(f.verbs)-1] = kind
	return true
}

func (f *Fact) take(w words.Word, k known, after, label bool) {
	t := token{id: k.id, word: k.word, at: uint16(len(f.tokens)), light: k.light, after: after, sentence: uint16(len(f.verbs) - 1)}
	if n := len(f.tokens); after && n > 0 && f.tokens[n-1].after && f.tokens[n-1].sentence == t.sentence {
		t.place = f.tokens[n-1].place + 1
	}
	switch {
	case w.Number || w.Mixed:
		t.kind, t.light, t.label = number, false, label
	case (w.Capital && !w.Start || w.Acronym) && !k.light:
		t.kind = name
	}
	f.tokens = append(f.tokens, t)
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
