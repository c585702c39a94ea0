package suggest

import (
	"cmp"
	"math"
	"slices"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// Topics are the tags that people gave in a collection, and what the texts that have them are like.
type Topics struct {
	Memories int // with tags that people gave
	Tags     []Topic
	// Votes are what is known of words of a text, by what they fold to.
	Votes map[string]Votes
	// Vector is the text as an embedder sees it; nil: there is none.
	Vector []float32
}

// Topic is a tag that people gave.
type Topic struct {
	Tag    string
	Center []int8 // where the texts that have the tag are, in the embedder's space; nil: unknown
	Name   []int8 // where the tag's name is
}

// Votes are in how many memories a word is, and how many of these have which tag.
type Votes struct {
	Memories int
	Tags     map[string]int
}

// mostVoting is how many words of a text vote.
const mostVoting = 24

// voting is what the words fold to that may tell a text's topics, each once.
func voting(list []marked) []string {
	var folds []string
	for i := range list {
		w := &list[i]
		if w.stop || w.Number || len(w.Lower) < 3 && !w.Acronym || len(w.Lower) > maxTag {
			continue
		}
		if fold := words.Stem(w.Lower); !slices.Contains(folds, fold) {
			if folds = append(folds, fold); len(folds) == mostVoting {
				break
			}
		}
	}
	return folds
}

// How sure a topic must be: the first of a text, and others.
const (
	sureFirst  = .2
	sureOthers = .4
	mostTopics = 3
)

// Likely gives the topics that a text likely has, the likeliest first. The weights are from a logistic regression on labelled texts.
func (t Topics) Likely(voting []string) []Candidate {
	list := make([]Candidate, 0, len(t.Tags))
	centers, names := t.likeness()
	for i, topic := range t.Tags {
		votes := t.votes(topic.Tag, voting)
		z := .8*votes - 2.52
		if t.Vector != nil && topic.Center != nil {
			z = .45*votes + 1.75*centers[i] + 7.53*(centers[i]-mean(centers)) + 2.22*names[i] + 4.42*(names[i]-mean(names)) - 3.44
		}
		list = append(list, Candidate{Tag: topic.Tag, Fold: words.Fold(topic.Tag), Score: 1 / (1 + math.Exp(-z)), Known: true})
	}
	slices.SortStableFunc(list, func(a, b Candidate) int { return cmp.Compare(b.Score, a.Score) })
	n := 0
	for n < min(len(list), mostTopics) && (list[n].Score > sureOthers || n == 0 && list[n].Score > sureFirst) {
		n++
	}
	return list[:n]
}

// votes is how much the words of a text speak for a tag: each by the share of its memories that have the tag, and by how rare it is.
// Of many words each counts less.
func (t Topics) votes(tag string, voting []string) float64 {
	sum := 0.0
	for _, fold := range voting {
		if v := t.Votes[fold]; v.Tags[tag] > 0 {
			sum += math.Log1p(float64(t.Memories)/float64(v.Memories)) * float64(v.Tags[tag]) / float64(v.Memories)
		}
	}
	const usual = 8
	return sum * min(1, math.Sqrt(usual/float64(max(len(voting), 1))))
}

// likeness is how like the text is to the texts of each topic, and to its name.
func (t Topics) likeness() (centers, names []float64) {
	for _, topic := range t.Tags {
		centers, names = append(centers, cosine(t.Vector, topic.Center)), append(names, cosine(t.Vector, topic.Name))
	}
	return centers, names
}

func cosine(a []float32, b []int8) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa float32
	bb := int32(0)
	for i, x := range a {
		y := b[i]
		dot, aa, bb = dot+float32(x*float32(y)), aa+float32(x*x), bb+int32(y)*int32(y)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}

func mean(list []float64) float64 {
	sum := 0.0
	for _, x := range list {
		sum += x
	}
	return sum / float64(max(len(list), 1))
}

// Small is a vector with a byte for each component, as a topic has it.
func Small(v []float32) []int8 {
	most := float32(0)
	for _, x := range v {
		most = max(most, x, -x)
	}
	if most == 0 {
		return nil
	}
	out := make([]int8, len(v))
	for i, x := range v {
		out[i] = int8(math.Round(float64(127 * x / most)))
	}
	return out
}
