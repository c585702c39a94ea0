package workingmemory

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"slices"
)

// CognitiveStatus counts boundaries and measures the load of the buffer.
//
// associations counts the links that were made within finished topics. patterns are the kinds of thoughts that are more than a third of at
// least six in focus. load is the share of the capacity that is taken.
//
//alcove:title Cognitive status
//alcove:description Boundary counts and buffer load.
//alcove:tool read-only
type CognitiveStatus struct{}

type cognition struct {
	Boundaries   map[string]int // How often each type was found.
	Associations int
	Patterns     []pattern
	Load         float64
}

type pattern struct {
	Thought string
	Count   int
	Of      int
}

// leastThoughts are too few for a pattern.
const leastThoughts = 6

// Call reads buffer and focus.
func (in CognitiveStatus) Call(c *alcove.Call, cfg Config) (out cognition, err error) {
	b, err := load(c)
	if err != nil {
		return out, err
	}
	f, err := loadFocus(c)
	if err != nil {
		return out, err
	}
	out.Boundaries, out.Associations = f.Counts, f.Links
	out.Patterns, out.Load = b.patterns(), b.load(cfg)
	return out, nil
}

// patterns are the kinds of thoughts that dominate, in the order of their names.
func (b *buffer) patterns() (list []pattern) {
	if len(b.Items) < leastThoughts {
		return nil
	}
	counts := map[string]int{}
	for i := range b.Items {
		counts[string(b.Items[i].Thought)]++
	}
	for thought, n := range counts {
		if 3*n > len(b.Items) {
			list = append(list, pattern{thought, n, len(b.Items)})
		}
	}
	slices.SortFunc(list, func(x, y pattern) int {
		if x.Thought < y.Thought {
			return -1
		}
		return 1
	})
	return list
}
