package store

import "slices"

// Incarnation is the stretch of a space's history that one data directory wrote.
type Incarnation struct {
	ID   string `json:"id"`             // random
	From uint64 `json:"from,omitempty"` // the version that it went on from; 0: it began the space
}

// History tells spaces apart that have versions of the same numbers: it names the directories that wrote a space, the one
// that began it first. A directory that is made from a copy goes on in an incarnation of its own.
type History []Incarnation

// Root names the space, in all directories that go on from it; empty when nothing is known.
func (h History) Root() string {
	if len(h) == 0 {
		return ""
	}
	return h[0].ID
}

// Continues reports whether a space with history h has all that a copy holds: one that was taken when the history was
// copied and the newest version until.
func (h History) Continues(copied History, until uint64) bool {
	if len(copied) == 0 || len(copied) > len(h) || !slices.Equal(h[:len(copied)], copied) {
		return false
	}
	return !slices.ContainsFunc(h[len(copied):], func(i Incarnation) bool { return i.From < until })
}
