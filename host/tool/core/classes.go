package core

import (
	"math"
	"strings"
	"unicode"

	"github.com/alcove-memory/alcove/host/search"
)

// Weights of what a text has, beside a word that is no stop word, which has 1.
const (
	ofStopWord = .5
	ofPair     = .4 // two words that follow each other
	ofLetters  = .6 // all the runs of letters of a word
	runLength  = 4
)

const (
	usualTexts = 60. // texts of a family; one with fewer texts gets more weight for each
	unsure     = 8.  // texts' worth of features of a class that are as in all classes
	absence    = .5  // weight of a feature's being rarer in a class than in all
	mostParts  = 1024
)

// part is a feature of a text: a word, a pair of words, or a run of letters.
type part struct {
	name   string
	weight float64
}

// partsOf returns the features of a text, each once, the first mostParts.
func partsOf(text string) []part {
	p := parts{has: map[string]bool{}}
	keyword := map[string]bool{}
	for _, k := range search.Keywords(text) {
		keyword[k] = true
	}
	before := "^"
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' }) {
		term := word
		if terms := search.Terms(word); len(terms) > 0 {
			term = terms[0]
		}
		if isNumber(term) {
			term = "#"
		}
		weight := ofStopWord
		if keyword[term] {
			weight = 1
		}
		p.add("w:"+term, weight)
		p.add("b:"+before+" "+term, ofPair)
		p.letters("<" + word + ">")
		before = term
	}
	p.add("b:"+before+" $", ofPair)
	return p.list
}

// parts gathers features.
type parts struct {
	has  map[string]bool
	list []part
}

func (p *parts) add(name string, weight float64) {
	if !p.has[name] && len(p.list) < mostParts {
		p.has[name] = true
		p.list = append(p.list, part{name, weight})
	}
}

// letters adds the runs of letters of a word.
func (p *parts) letters(word string) {
	for i := 0; i+runLength <= len(word); i++ {
		p.add("c:"+word[i:i+runLength], ofLetters/float64(len(word)-runLength+1))
	}
}

// wording knows how often features are in the texts of classes.
type wording struct {
	counts map[string][]float32 // by class; the last is of all
	texts  []float64            // by class; the last is of all
}

func newWording(classes int) *wording {
	return &wording{counts: map[string][]float32{}, texts: make([]float64, classes+1)}
}

// add counts a text of a class.
func (w *wording) add(class int, text string, weight float64) {
	all := len(w.texts) - 1
	for _, p := range partsOf(text) {
		c := w.counts[p.name]
		if c == nil {
			c = make([]float32, len(w.texts))
			w.counts[p.name] = c
		}
		c[class] += float32(weight)
		c[all] += float32(weight)
	}
	w.texts[class] += weight
	w.texts[all] += weight
}

// odds adds to each class the logarithm of how much more often its texts have the features of a text than all texts have them.
func (w *wording) odds(text string, factor float64, sum []float64) {
	all := len(w.texts) - 1
	for _, p := range partsOf(text) {
		c := w.counts[p.name]
		if c == nil {
			continue
		}
		usual := float64(c[all]) / w.texts[all]
		for class := range sum {
			odds := math.Log((float64(c[class])/usual + unsure) / (w.texts[class] + unsure))
			if odds < 0 {
				odds *= absence
			}
			sum[class] += factor * p.weight * odds
		}
	}
}
