package kind

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// Emit receives the signs of a text, as hashes. A sign may come more than once.
type Emit func(sign uint32)

// mostWords is how many words of a text are looked at: what a text is shows early.
const mostWords = 48

// beginning is how many bytes of a word make a sign.
const beginning = 4

// lastWords is how many words at the end make signs of their own.
const lastWords = 2

// token is a word as the signs see it.
type token struct {
	word, stem, form uint32 // hashes
	beginning        uint32 // of the first letters, which a word shares with its other forms; 0: it has no more
	group            group
	part             Part
	comma            bool // a comma or another sign that joins stands before it
}

// Part is a rough part of speech, by a word's form.
type Part uint8

// The parts of speech.
const (
	Other Part = iota
	Function
	Number
	Identifier
	Name
	Base // a verb in its base form
	Past // a verb in a past form
	Gerund
	Third // ends with s
	Adverb
)

// signer knows the words that make signs. It is not changed once it is made.
type signer struct {
	groups map[string]group
	parts  map[string]Part
}

func newSigner() *signer {
	s := &signer{groups: map[string]group{}, parts: map[string]Part{}}
	for i, list := range groupLists() {
		for w := range strings.FieldsSeq(list) {
			s.groups[w] = group(i + 1)
		}
	}
	// In this order: "cut" is in two lists, and what it is has to be the same each time.
	for _, l := range []struct {
		part  Part
		words string
	}{{Base, baseVerbs}, {Past, pastVerbs}, {Function, functionWords}} {
		for w := range strings.FieldsSeq(l.words) {
			s.parts[w] = l.part
		}
	}
	return s
}

// Kinds of signs. The hash of a sign begins with one.
const (
	signWord uint32 = iota + 1
	signStem
	signPair
	signForms
	signThreeForms
	signGroup
	signGroups
	signFirst
	signFirstTwo
	signFirstGroup
	signFirstForms
	signSecond
	signHead
	signHeadGroup
	signPasts
	signCommas
	signContrast
	signLength
	signEnd
	signSentences
	signVerb
	signLater
	signAlways
	signBeginning
	signLast
)

// signs gives the signs of a text that was split into words.
func (s *signer) signs(text string, list []words.Word, emit Emit) {
	list = list[:min(len(list), mostWords)]
	if len(list) == 0 {
		return
	}
	var room [mostWords]token
	tokens := room[:len(list)]
	for i := range list {
		tokens[i] = s.token(text, list, i)
	}
	emit(signAlways)
	each(tokens, emit)
	start(text, list, tokens, emit)
	whole(text, list, tokens, emit)
}

func (s *signer) token(text string, list []words.Word, i int) token {
	w := &list[i]
	stem := words.Stem(w.Lower)
	t := token{word: hash(w.Lower), stem: hash(stem), part: s.part(w)}
	if len(w.Lower) > beginning {
		t.beginning = hash(w.Lower[:beginning])
	}
	if t.group = s.groups[w.Lower]; t.group == 0 {
		t.group = s.groups[stem]
	}
	t.form = 0x100 + uint32(t.part)
	if t.part == Function {
		t.form = t.word
	}
	if i > 0 {
		t.comma = strings.ContainsAny(text[list[i-1].To:w.From], ",;–—")
	}
	return t
}

func (s *signer) part(w *words.Word) Part {
	switch {
	case w.Number:
		return Number
	case w.Acronym || w.Mixed && !strings.ContainsAny(w.Lower, "'’"):
		return Identifier
	}
	if p := s.parts[w.Lower]; p != 0 {
		return p
	}
	switch n := len(w.Lower); {
	case w.Capital && !w.Start:
		return Name
	case n > 4 && strings.HasSuffix(w.Lower, "ing"):
		return Gerund
	case n > 3 && strings.HasSuffix(w.Lower, "ed"):
		return Past
	case n > 4 && strings.HasSuffix(w.Lower, "ly"):
		return Adverb
	case n > 3 && w.Lower[n-1] == 's' && w.Lower[n-2] != 's':
		return Third
	}
	return Other
}

// each gives the signs of single words and of those that follow each other.
func each(tokens []token, emit Emit) {
	last := group(0)
	for i := range tokens {
		t := &tokens[i]
		emit(mix(signWord, t.word))
		if t.stem != t.word {
			emit(mix(signStem, t.stem))
		}
		if t.beginning != 0 {
			emit(mix(signBeginning, t.beginning))
		}
		if i >= len(tokens)-lastWords {
			emit(mix(signLast, t.stem))
		}
		if t.group != 0 {
			emit(mix(signGroup, uint32(t.group)))
			if last != 0 && last != t.group {
				emit(mix(signGroups, uint32(last)<<8|uint32(t.group)))
			}
			last = t.group
		}
		if i == 0 {
			continue
		}
		emit(mix(signPair, mix(tokens[i-1].stem, t.stem)))
		emit(mix(signForms, mix(tokens[i-1].form, t.form)))
		if i > 1 {
			emit(mix(signThreeForms, mix(mix(tokens[i-2].form, tokens[i-1].form), t.form)))
		}
	}
}

// start gives the signs of how a text begins: its first words, and what stands before a colon.
func start(text string, list []words.Word, tokens []token, emit Emit) {
	emit(mix(signFirst, tokens[0].word))
	emit(mix(signFirst, 0x200+uint32(tokens[0].part)))
	emit(mix(signFirstGroup, uint32(tokens[0].group)))
	if len(tokens) > 1 {
		emit(mix(signFirstTwo, mix(tokens[0].word, tokens[1].word)))
		emit(mix(signFirstForms, mix(tokens[0].form, tokens[1].form)))
		emit(mix(signSecond, tokens[1].form))
		emit(mix(signSecond, 0x300+uint32(tokens[1].group)))
	}
	for i := range min(len(list)-1, 6) {
		if strings.HasPrefix(text[list[i].To:], ":") || strings.HasPrefix(text[list[i].To:], " – ") {
			emit(mix(signHead, 0))
			for j := range i + 1 {
				emit(mix(signHead, tokens[j].stem))
				emit(mix(signHeadGroup, uint32(tokens[j].group)))
			}
			return
		}
	}
}

// whole gives the signs of the form of a text: how many verbs are past, how long it is, how it ends, and what it denies.
func whole(text string, list []words.Word, tokens []token, emit Emit) {
	pasts, commas, sentences, verb := 0, 0, 0, false
	for i := range tokens {
		t := &tokens[i]
		if t.part == Past {
			pasts++
		}
		if t.comma {
			commas++
		}
		if list[i].Start && i > 0 {
			sentences++
			emit(mix(signLater, t.word))
			emit(mix(signLater, 0x400+uint32(t.part)))
		}
		if !verb && isVerb(t, &list[i]) {
			verb = true
			emit(mix(signVerb, t.form))
			emit(mix(signVerb, mix(0x500, t.stem)))
		}
		if list[i].Lower == "not" {
			emit(mix(signContrast, contrast(tokens, i)))
		}
	}
	emit(mix(signPasts, uint32(min(pasts, 4))))
	emit(mix(signCommas, uint32(min(commas, 4))))
	emit(mix(signPasts, 0x10+uint32(min(pasts, 3))*4+uint32(min(commas, 3))))
	emit(mix(signSentences, uint32(min(sentences, 3))))
	emit(mix(signLength, uint32(min(len(list)/4, 8))))
	end := strings.TrimSpace(text)
	emit(mix(signEnd, uint32(end[len(end)-1])))
}

// isVerb says whether a word may be the first verb of a text.
func isVerb(t *token, w *words.Word) bool {
	switch w.Lower {
	case "is", "are", "was", "were", "has", "have", "had", "will", "must", "should", "can", "may", "shall", "does", "do", "did", "would", "needs", "need", "wants", "want",
		"it's", "i'm", "we're", "we'll", "i'll", "don't", "won't", "doesn't", "didn't", "cannot", "can't", "isn't", "gets", "got", "get":
		return true
	}
	return t.part == Past || t.part == Base || t.part == Third && !w.Start
}

// contrast is how "not" stands: after a comma, after "and", before a later "but".
func contrast(tokens []token, i int) uint32 {
	switch {
	case tokens[i].comma:
		return 1
	case i > 0 && (tokens[i-1].word == hash("and") || tokens[i-1].word == hash("but")):
		return 2
	case i == 0:
		return 3
	}
	for j := i + 1; j < len(tokens); j++ {
		if tokens[j].word == hash("but") || tokens[j].comma {
			return 4
		}
	}
	return 5
}

// hash is FNV-1a.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// mix makes one hash of two.
func mix(a, b uint32) uint32 {
	h := (a ^ 2166136261) * 16777619
	h ^= b
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
