package threeway

import "slices"

// States are the states of one key at the merge bases and on both sides. Equal strings are equal states; the empty one is a missing key.
type States struct {
	Bases          []string // the newest first; none when the sides have nothing in common
	Source, Target string
}

// Agree reports whether both sides have the same state.
func (s States) Agree() bool { return s.Source == s.Target }

// SourceChanged reports whether the source has a state that no base had.
func (s States) SourceChanged() bool { return !s.wasBase(s.Source) }

// Clash says how the sides disagree. With several bases each side may have kept another base's state, knowing the other: that was
// decided before, and is no clash.
func (s States) Clash() Clash {
	if s.Agree() || s.wasBase(s.Source) || s.wasBase(s.Target) {
		return NoClash
	}
	switch {
	case s.Source == "" || s.Target == "":
		return EditDelete
	case len(s.Bases) > 0 && s.Bases[0] != "":
		return EditEdit
	}
	return AddAdd
}

// wasBase reports whether a base had a state. Without a base, the key was missing.
func (s States) wasBase(state string) bool {
	if len(s.Bases) == 0 {
		return state == ""
	}
	return slices.Contains(s.Bases, state)
}

// Clash says how two sides changed the same key differently.
type Clash string

// The kinds of clashes.
const (
	NoClash    Clash = ""
	EditEdit   Clash = "edit/edit"
	EditDelete Clash = "edit/delete"
	AddAdd     Clash = "add/add"
)
