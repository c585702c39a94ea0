package suggest

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/guests/lib/words"
)

// Statistics are what a collection of memories has in common.
type Statistics struct {
	// Known are the tags that the collection has, by what they fold to.
	Known map[string]Known
	// Common are folded words that so many memories hold that they tell nothing.
	Common map[string]bool
	// Rarity is how rare a candidate is, by what it folds to: 1 for what no other memory holds, towards 0 for what
	// all do. Those that are not in it count as unknown.
	Rarity map[string]float64
	// Topics are the tags that people gave.
	Topics Topics
}

// Known is a tag of a collection.
type Known struct {
	Tag  string `json:"tag"`  // how it is written
	Uses int    `json:"uses"` // how many memories have it
	// Given is to how many of these somebody gave it: the tags that were only ever guessed draw no others to them.
	Given int `json:"given"`
}

// mostNew is how many tags are given that the collection does not have.
const mostNew = 3

// leastLikely is how likely a person would give a tag, for it to be given after others: better none than a silly one.
func leastLikely(others int) float64 {
	switch others {
	case 0:
		return .5
	case 1:
		return .82
	}
	return .9
}

// Tags gives up to n tags of a text, the likeliest first: those that the collection has, topics of the thesaurus and the text's own words.
// It leaves out what is there already.
func (s Statistics) Tags(r Reading, there []string, n int) []Candidate {
	own := mostNew
	if len(r.Voting) == 0 { // a language model chose the tags
		own = n
	}
	return choose(append(s.Topics.Likely(r), s.rank(r.Candidates)...), there, n, own)
}

// choose gives the best of the candidates, up to n, and up to own that the collection does not have, without two that mean the same.
func choose(ranked []Candidate, there []string, n, own int) []Candidate {
	taken := map[string]bool{}
	for _, tag := range there {
		taken[words.Fold(tag)] = true
	}
	slices.SortFunc(ranked, func(a, b Candidate) int { return cmp.Or(b.rank()-a.rank(), ahead(&a, &b)) })
	var chosen []Candidate
	for _, c := range ranked {
		if len(chosen) >= n || c.Score < leastLikely(len(chosen)+min(len(there), 1)) && !c.likely {
			continue
		}
		fold := words.Fold(c.Tag) // under another form it may be there already
		if taken[fold] || within(taken, fold) || !c.Known && (own == 0 || slices.ContainsFunc(c.Also, func(f string) bool { return taken[f] })) {
			continue
		}
		if !c.Known {
			own--
		}
		for _, f := range append([]string{c.Fold, fold}, c.Also...) {
			taken[f] = true
		}
		c.Score = math.Round(1000*c.Score) / 1000
		chosen = append(chosen, c)
	}
	return chosen
}

// rank is what comes first: what people gave in the collection, then what the text is about, then its words.
func (c *Candidate) rank() int {
	switch {
	case c.likely:
		return 2
	case c.topic && c.Score >= surely:
		return 1
	}
	return 0
}

// surely is how likely a topic of the thesaurus must be to come before a text's own words.
const surely = .75

// within says whether a folded tag is a part of another, or another of it, word by word.
func within(taken map[string]bool, fold string) bool {
	for t := range taken {
		if has(t, fold) || has(fold, t) {
			return true
		}
	}
	return false
}

func has(long, short string) bool {
	return len(long) > len(short) && (strings.HasPrefix(long, short+"-") || strings.HasSuffix(long, "-"+short))
}

// How much it says, in logarithms of odds, that a word is in most memories, how rare it is, and that somebody gave the tag before.
const (
	commonness = -1.5
	rareness   = 2
	usualRare  = .8
	givenness  = 1.5
)

// rank gives candidates the form that the collection has, and likelihoods by what it has in common.
func (s Statistics) rank(candidates []Candidate) []Candidate {
	ranked := make([]Candidate, len(candidates))
	for i, c := range candidates {
		odds := math.Log(c.Score / (1 - c.Score))
		if s.common(c.Fold) {
			odds += commonness
		}
		if rarity, ok := s.Rarity[c.Fold]; ok {
			odds += rareness * (rarity - usualRare)
		}
		for _, fold := range append([]string{c.Fold}, c.Also...) {
			if known, ok := s.Known[fold]; ok {
				c.Tag, c.Known = known.Tag, true
				if known.Given > 0 {
					odds += givenness
				}
				break
			}
		}
		c.Score = share(odds)
		ranked[i] = c
	}
	return ranked
}

// common says whether a word of a folded tag is in so many memories that it tells nothing.
func (s Statistics) common(fold string) bool {
	for word := range strings.SplitSeq(fold, "-") {
		if s.Common[word] {
			return true
		}
	}
	return false
}
