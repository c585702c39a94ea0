package suggest

import (
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

// mostPhrases is how many tags are made of a text's own words, beside its topics.
const mostPhrases = 3

// Tags gives up to n tags of a text: the topics that it likely has, then the best of its own words.
func (s Statistics) Tags(r Reading, there []string, n int) []Candidate {
	there = slices.Clone(there)
	var chosen []Candidate
	for _, c := range s.Topics.Likely(r.Voting) {
		if len(chosen) < n && !slices.ContainsFunc(there, func(t string) bool { return words.Fold(t) == c.Fold }) {
			chosen, there = append(chosen, c), append(there, c.Tag)
		}
	}
	own := min(n-len(chosen), max(mostPhrases-len(chosen), 1))
	if len(r.Voting) == 0 { // a language model chose the words
		own = n
	}
	return append(chosen, s.Choose(r.Candidates, there, own)...)
}

// Choose gives up to n tags, the best of the candidates in the form that the collection has, without those that are
// there already and without two that mean the same.
func (s Statistics) Choose(candidates []Candidate, there []string, n int) []Candidate {
	taken := map[string]bool{}
	for _, tag := range there {
		taken[words.Fold(tag)] = true
	}
	ranked := s.rank(candidates)
	var chosen []Candidate
	for _, c := range ranked {
		if len(chosen) >= n || c.Score < .3*ranked[0].Score {
			break
		}
		fold := c.Fold
		if c.Known { // under another form it may be there already
			fold = words.Fold(c.Tag)
		}
		if taken[fold] || within(taken, fold) {
			continue
		}
		taken[fold] = true
		chosen = append(chosen, c)
	}
	return chosen
}

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

func (s Statistics) rank(candidates []Candidate) []Candidate {
	ranked := make([]Candidate, len(candidates))
	for i, c := range candidates {
		if s.common(c.Fold) {
			c.Score *= .25
		}
		if rarity, ok := s.Rarity[c.Fold]; ok {
			c.Score *= .4 + .8*rarity
		}
		if known, ok := s.Known[c.Fold]; ok {
			c.Tag, c.Known = known.Tag, true
			if known.Given > 0 {
				c.Score *= 1.35
			}
		}
		ranked[i] = c
	}
	sortCandidates(ranked)
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
