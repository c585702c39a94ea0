package suggest

import (
	"math"
	"slices"
	"strings"

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
func voting(list []marked, subjects []Subject) []string {
	var folds []string
	for _, s := range subjects {
		folds = append(folds, topicPrefix+s.Name)
	}
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

// topicPrefix begins what a topic of the thesaurus votes as.
const topicPrefix = "#"

// How sure a topic must be: the first of a text, and others.
const (
	sureFirst  = .4
	sureOthers = .5
	mostTopics = 3
)

// Likely gives the tags that a text likely has, the likeliest first. The weights are from a logistic regression on labelled texts.
func (t Topics) Likely(r Reading) []Candidate {
	list := make([]Candidate, len(t.Tags))
	odds, strengths := make([]float64, len(t.Tags)), make([]float64, len(t.Tags))
	centers, names := t.likeness()
	for i, topic := range t.Tags {
		fold := words.Fold(topic.Tag)
		list[i] = Candidate{Tag: topic.Tag, Fold: fold, Known: true, likely: true}
		byWords, bySubjects := t.votes(topic.Tag, r.Voting)
		called := called(r.Subjects, fold)
		odds[i] = .7*min(byWords, 4) + 1.02*min(bySubjects, 3) + 1.16*centers[i] + 1.16*called - 1.74
		if slices.Contains(r.Voting, fold) {
			odds[i] += 1.24
		}
		strengths[i] = .45*byWords + .5*bySubjects + 7*centers[i] + 4*names[i] + called
	}
	for i := range list {
		lead := strengths[i] - greatest(strengths, i)
		list[i].Score = share(odds[i] + .9*max(-3, min(lead, 3)))
	}
	sortCandidates(list)
	n := 0
	for n < min(len(list), mostTopics) && (list[n].Score > sureOthers || n == 0 && list[n].Score > sureFirst) {
		n++
	}
	return list[:n]
}

// called is how much a text shows what the thesaurus calls by a folded tag.
func called(subjects []Subject, fold string) float64 {
	most := 0.0
	for _, s := range subjects {
		if slices.Contains(s.Folds, fold) {
			most = max(most, min(s.Score, 2))
		}
	}
	return most
}

// greatest is the greatest of a list but for one; 0 where nothing is greater.
func greatest(list []float64, but int) float64 {
	most := 0.0
	for i, x := range list {
		if i != but {
			most = max(most, x)
		}
	}
	return most
}

// votes is how much the words of a text, and its topics of the thesaurus, speak for a tag: each by the share of its memories that have the
// tag, and by how rare it is. Of many words each counts less.
func (t Topics) votes(tag string, voting []string) (byWords, bySubjects float64) {
	for _, fold := range voting {
		v := t.Votes[fold]
		if v.Tags[tag] == 0 {
			continue
		}
		vote := math.Log1p(float64(t.Memories)/float64(v.Memories)) * float64(v.Tags[tag]) / float64(v.Memories+1)
		if strings.HasPrefix(fold, topicPrefix) {
			bySubjects += vote
		} else {
			byWords += vote
		}
	}
	const usual = 8
	return byWords * min(1, math.Sqrt(usual/float64(max(len(voting), 1)))), bySubjects
}

// likeness is how much more a text is like the texts of each tag, and its name, than it is like those of the others.
func (t Topics) likeness() (centers, names []float64) {
	centers, names = make([]float64, len(t.Tags)), make([]float64, len(t.Tags))
	if t.Vector == nil {
		return centers, names
	}
	for i, topic := range t.Tags {
		centers[i], names[i] = cosine(t.Vector, topic.Center), cosine(t.Vector, topic.Name)
	}
	center, name := mean(centers), mean(names)
	for i := range t.Tags {
		centers[i], names[i] = centers[i]-center, names[i]-name
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
