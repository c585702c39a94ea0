package consolidation

import (
	"cmp"

	"github.com/alcove-memory/alcove/guests/families/consolidation/compare"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

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
	means, err := meanings(c, in.comparer, texts[0], texts[1:])
	if err != nil {
		return out, err
	}
	v := in.comparer.CompareBy(means, texts[0], texts[1])
	out = detected{v.Relation.Contradiction(), reason(v)}
	if len(v.Why) > 0 {
		out.Reason += "; what decided: " + list(v.Why)
	}
	return out, nil
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
