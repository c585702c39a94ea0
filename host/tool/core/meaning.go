package core

import (
	"context"
	"slices"

	"github.com/alcove-memory/alcove/host/memory"
)

// Meaning says how searches by meaning are configured. The zero Meaning is the usual one.
type Meaning struct {
	Off   bool    // searches that name no mode are by words alone
	Least float64 // likeness, from 0 to 1, of what is found by meaning alone
}

// configured applies the settings to a search, and returns the least likeness of what is found by meaning alone. What the caller says,
// a mode or a vector, is done as said.
func (c *call) configured(ctx context.Context, q *memory.Search) (least float64, err error) {
	if c.kit.Meaning == nil || q.Events {
		return 0, nil
	}
	namespace := ""
	if len(q.Namespaces) == 1 && q.Namespaces[0] != memory.AllNamespaces {
		namespace = q.Namespaces[0]
	}
	m, err := c.kit.Meaning(ctx, namespace, c.Caller.Agent)
	if err != nil {
		return 0, err
	}
	if m.Off && q.Mode == "" && q.Vector == nil {
		q.Mode = memory.Lexical
	}
	if q.Mode == memory.Lexical {
		return 0, nil
	}
	q.Features = q.Features || m.Least > 0
	return m.Least, nil
}

// alike returns the hits without those that share no word with the question and are less like it than the least likeness.
func alike(hits []memory.Hit, least float64) []memory.Hit {
	if least <= 0 {
		return hits
	}
	return slices.DeleteFunc(hits, func(h memory.Hit) bool {
		likeness, known := h.Features["semantic"]
		return known && float64(likeness) < least && h.Features["lexical"] == 0
	})
}
