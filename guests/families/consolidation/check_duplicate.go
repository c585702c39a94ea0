package consolidation

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// CheckDuplicate says whether something is known already, before it is stored. Nothing changes. The memories of the namespace that are
// nearest are listed, the nearest first: by the share of words in common or, where there is an embedder, by meaning, whichever is more. A
// duplicate says the same, or all of it; with a threshold below 0.85, it only has to be that near. What contradicts content is no duplicate of
// it, however near. suggested_merge is the memory to add it to instead.
//
//alcove:description Is this known already? The nearest memories, and the one to merge it into.
//alcove:title Check for duplicates
//alcove:tool read-only
type CheckDuplicate struct {
	Content   string  `alcove:"required,min=1,alias=text|value"`
	Threshold float64 `alcove:"min=0.5,max=1,default=0.85"`
	extent
}

type checked struct {
	IsDuplicate    bool
	Nearest        []near
	SuggestedMerge string `json:"suggested_merge,omitzero"`
}

// near is a memory that a text is near to.
type near struct {
	ID         alcove.ID
	Text       string
	Similarity float64
	Relation   string   `alcove:"enum=different|related|same|contained|contains|negated|opposite|other value"` // Of content to the memory.
	Why        []string `json:",omitempty"`                                                                    // What decided that, most of all first: words, meaning, numbers, names and the like.
}

// How many memories are compared with a text, how many of them by meaning too, and how many are listed.
const (
	mostCompared = 20
	mostMeant    = 10
	mostNear     = 5
)

// From strict on, a memory that is only near is no duplicate: one that names another service, day or person is very near. saysAll is how
// similar two texts are at least of which one says all that the other does.
const (
	strict  = .85
	saysAll = .9
)

// Call looks for them.
func (in CheckDuplicate) Call(c *alcove.Call) (out checked, err error) {
	found, err := c.MemorySearch(alcove.MemorySearchRequest{Query: in.Content, K: mostCompared, Features: true})
	if err != nil {
		return out, err
	}
	texts := textsOf(found.Hits)
	var means compare.Vectors
	if !slices.Contains(texts, in.Content) {
		if means, err = meanings(c, in.comparer, in.Content, texts[:min(len(texts), mostMeant)]); err != nil {
			return out, err
		}
	}
	out.Nearest = in.compare(found.Hits, texts, means)
	slices.SortStableFunc(out.Nearest, func(a, b near) int { return cmp.Compare(b.Similarity, a.Similarity) })
	out.Nearest = out.Nearest[:min(len(out.Nearest), mostNear)]
	for _, n := range out.Nearest {
		if n.Similarity >= in.Threshold && (isDuplicate(n.Relation) || in.Threshold < strict && !contradictory(n.Relation)) {
			out.IsDuplicate, out.SuggestedMerge = true, n.ID.String()
			break
		}
	}
	return out, nil
}

// compare compares the content with the memories that were found.
func (in CheckDuplicate) compare(hits []alcove.MemoryHit, texts []string, means compare.Vectors) (list []near) {
	for i, text := range texts {
		v := in.comparer.CompareBy(means, in.Content, text)
		switch v.Relation {
		case compare.Same:
			v.Similarity = 1
		case compare.Contained, compare.Contains:
			v.Similarity = max(v.Similarity, saysAll)
		}
		list = append(list, near{hits[i].Memory.ID(), shortened(text), max(v.Similarity, float64(hits[i].Features["semantic"])), v.Relation.String(), v.Why})
	}
	return list
}

func textsOf(hits []alcove.MemoryHit) []string {
	texts := make([]string, len(hits))
	for i := range hits {
		texts[i] = compare.Render(hits[i].Memory.Value)
	}
	return texts
}

func isDuplicate(relation string) bool {
	return relation == compare.Same.String() || relation == compare.Contained.String() || relation == compare.Contains.String()
}

func contradictory(relation string) bool {
	return relation == compare.Negated.String() || relation == compare.Opposite.String() || relation == compare.OtherValue.String()
}

// mostShown is how much of a memory's text is shown, in characters.
const mostShown = 200

func shortened(text string) string {
	if runes := []rune(text); len(runes) > mostShown {
		return string(runes[:mostShown]) + "…"
	}
	return text
}
