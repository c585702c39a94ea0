package consolidation

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// CheckDuplicate says whether something is known already, before it is stored. Nothing changes. The memories of the namespace that are
// nearest are listed, the nearest first: by the share of words in common or, where there is an embedder, by meaning, whichever is more. What
// contradicts content is no duplicate of it, however near. suggested_merge is the memory to add it to instead.
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
	Relation   string `alcove:"enum=different|related|same|contained|contains|negated|opposite|other value"` // Of content to the memory.
}

// How many memories are compared with a text, and how many of them are listed.
const (
	mostCompared = 50
	mostNear     = 5
)

// Call looks for them.
func (in CheckDuplicate) Call(c *alcove.Call) (out checked, err error) {
	found, err := c.MemorySearch(alcove.MemorySearchRequest{Query: in.Content, K: mostCompared, Features: true})
	if err != nil {
		return out, err
	}
	for i := range found.Hits {
		out.Nearest = append(out.Nearest, in.compare(&found.Hits[i]))
	}
	slices.SortStableFunc(out.Nearest, func(a, b near) int { return cmp.Compare(b.Similarity, a.Similarity) })
	out.Nearest = out.Nearest[:min(len(out.Nearest), mostNear)]
	for _, n := range out.Nearest {
		if n.Similarity >= in.Threshold && !contradictory(n.Relation) {
			out.IsDuplicate, out.SuggestedMerge = true, n.ID.String()
			break
		}
	}
	return out, nil
}

// compare compares the content with a memory that was found.
func (in CheckDuplicate) compare(hit *alcove.MemoryHit) near {
	text := compare.Render(hit.Memory.Value)
	v := in.comparer.Compare(in.Content, text)
	if v.Relation == compare.Same {
		v.Similarity = 1
	}
	return near{hit.Memory.ID(), shortened(text), max(v.Similarity, float64(hit.Features["semantic"])), v.Relation.String()}
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

// DetectContradiction compares two memories. reason says in which words they differ. Nothing changes.
//
//alcove:description Say whether two memories contradict each other, and why.
//alcove:title Compare two memories
//alcove:tool read-only
type DetectContradiction struct {
	A alcove.ID `alcove:"name=id_a,required,alias=a"`
	B alcove.ID `alcove:"name=id_b,required,alias=b"`
	extent
}

type detected struct {
	Contradicts bool
	Reason      string
}

// Call compares them.
func (in DetectContradiction) Call(c *alcove.Call) (out detected, err error) {
	var texts [2]string
	for i, id := range [2]alcove.ID{in.A, in.B} {
		m, err := c.Memory(id)
		if err != nil {
			return out, err
		}
		texts[i] = compare.Render(m.Value)
	}
	v := in.comparer.Compare(texts[0], texts[1])
	return detected{v.Relation.Contradiction(), reason(v)}, nil
}

// reason is a verdict in words.
func reason(v compare.Verdict) string {
	switch v.Relation {
	case compare.Negated:
		return "one says that it is so, the other that it is not"
	case compare.Opposite:
		return "they say opposite things: " + list(v.A) + " and " + list(v.B)
	case compare.OtherValue:
		return "the same has another value: " + list(v.A) + " and " + list(v.B)
	case compare.Same:
		return "they say the same"
	case compare.Contained, compare.Contains:
		return "one says all that the other does, and more"
	case compare.Related:
		return "they are about the same, and both can be true"
	}
	return "they are about different things"
}

func list(words []string) string {
	text := ""
	for i, w := range words {
		if i > 0 {
			text += ", "
		}
		text += w
	}
	return cmp.Or(text, "nothing")
}
