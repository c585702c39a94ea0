package store

import "slices"

// Incarnation is the part of a space's history that one data directory wrote.
type Incarnation struct {
	ID   string `json:"id"`             // random
	From uint64 `json:"from,omitempty"` // the version that it continued from; 0: it created the space
}

// History identifies a space: it lists the incarnations that wrote it, oldest first. A directory restored from a copy
// continues in a new incarnation, so equal version numbers of different copies can be told apart.
type History []Incarnation

// Root returns the first incarnation's ID, common to all copies of the space; empty for an empty history.
func (h History) Root() string {
	if len(h) == 0 {
		return ""
	}
	return h[0].ID
}

// Continues reports whether a space with history h contains everything in a copy whose history was copied and whose
// newest version was until.
func (h History) Continues(copied History, until uint64) bool {
	if len(copied) == 0 || len(copied) > len(h) || !slices.Equal(h[:len(copied)], copied) {
		return false
	}
	return !slices.ContainsFunc(h[len(copied):], func(i Incarnation) bool { return i.From < until })
}
