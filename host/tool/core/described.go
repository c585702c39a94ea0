package core

import (
	_ "embed"
	"math"
	"strings"

	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/tool"
)

// Weights of what describes a family, beside an example.
const (
	ofKeyword = .3
	ofTool    = .5 // its name and description
)

// asking are words by which people ask for anything.
const asking = `want need like let give show see tell say make use used know help try please able way thing something anything everything one memory memories`

// Vectors gives texts vectors of length 1: those of texts that mean similar things are near.
type Vectors interface {
	Vector(text string) []float32 // nil if it knows too few of the words
}

// others has requests, one a line, for what no memory does and other tools do, and words of such requests.
//
//go:embed elsewhere.txt
var others string

// intents knows how families of a snapshot, and what no family does, are asked for. Each is a class; what no family does is class 0. It does
// not change.
type intents struct {
	snapshot *tool.Snapshot
	vectors  Vectors // nil: words alone decide
	classes  map[*tool.Set]int
	terms    []map[string]bool // that a class is described with
	wording  *wording
	meanings *meanings // nil: no text has a vector

	asking []string // sorted terms
}

// saying is a text that describes a class.
type saying struct {
	text   string
	weight float64
}

func newIntents(s *tool.Snapshot, v Vectors) *intents {
	n := &intents{snapshot: s, vectors: v, classes: map[*tool.Set]int{}, asking: search.Keywords(asking)}
	var elsewhere []saying
	for line := range strings.Lines(others) {
		elsewhere = append(elsewhere, saying{line, 1})
	}
	sayings := [][]saying{elsewhere}
	for _, f := range s.Sets {
		n.classes[f] = len(sayings)
		sayings = append(sayings, describe(f))
	}
	n.learn(sayings)
	for _, f := range s.Sets {
		n.mention(n.classes[f], f)
	}
	return n
}

// learn learns from what describes each class.
func (n *intents) learn(sayings [][]saying) {
	n.wording = newWording(len(sayings))
	var phrases []phrase
	for class, list := range sayings {
		texts := 0.
		for _, s := range list {
			texts += s.weight
		}
		share := math.Sqrt(usualTexts / max(texts, 1))
		terms := map[string]bool{}
		for _, s := range list {
			n.wording.add(class, s.text, s.weight*share)
			for _, term := range search.Keywords(s.text) {
				terms[term] = true
			}
			if v := n.vectorOf(s.text); v != nil {
				phrases = append(phrases, phrase{class, s.weight, v})
			}
		}
		n.terms = append(n.terms, terms)
	}
	n.meanings = newMeanings(len(sayings), phrases)
}

// vectorOf returns the vector of a text; nil if it has none.
func (n *intents) vectorOf(text string) []float64 {
	if n.vectors == nil {
		return nil
	}
	var v []float64
	for _, x := range n.vectors.Vector(text) {
		v = append(v, float64(x))
	}
	return v
}

// mention adds the terms of a family's docs: they are a reason to suggest it, but too many to judge by.
func (n *intents) mention(class int, f *tool.Set) {
	if f.Deprecated {
		return
	}
	docs := []string{f.Docs}
	for _, t := range f.Tools {
		docs = append(docs, t.Docs)
	}
	for _, term := range search.Keywords(strings.Join(docs, " ")) {
		n.terms[class][term] = true
	}
}

// intents returns what is known of the families of a snapshot. It is worked out once.
func (k *kit) intents(s *tool.Snapshot) *intents {
	known := k.described.Load()
	if known == nil || known.snapshot != s {
		known = newIntents(s, k.Vectors)
		k.described.Store(known)
	}
	return known
}

// describe gathers what describes a family. What the tools of a deprecated family do, its successors do: it is found only by what its
// manifest says of the family.
func describe(f *tool.Set) []saying {
	list := []saying{{spaced(f.Name), ofKeyword}, {f.Description, 1}}
	for _, k := range f.Keywords {
		list = append(list, saying{k, ofKeyword})
	}
	for _, example := range f.Examples {
		list = append(list, saying{example, 1})
	}
	if f.Deprecated {
		return list
	}
	for _, t := range f.Tools {
		list = append(list, saying{spaced(strings.TrimPrefix(t.Name, "memory_")) + " " + t.Description, ofTool})
	}
	return list
}

// spaced returns a name as words.
func spaced(name string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("._-", r) {
			return ' '
		}
		return r
	}, name)
}
