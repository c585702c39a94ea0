package alcove

import "github.com/alcove-memory/alcove/sdk/go/scan"

// Optional is a parameter that may be absent, or, where its tag says clear, null to take away what there is.
type Optional[T any] struct {
	value T
	state optionalState
}

type optionalState uint8

const (
	absent optionalState = iota
	given
	cleared
)

// Some is a value that is given.
func Some[T any](value T) Optional[T] { return Optional[T]{value, given} }

// Clear is null: it takes away what there is.
func Clear[T any]() Optional[T] { return Optional[T]{state: cleared} }

// Get is the value, if one is given.
func (o Optional[T]) Get() (value T, ok bool) { return o.value, o.state == given }

// Or is the value, or another one when none is given.
func (o Optional[T]) Or(otherwise T) T {
	if o.state == given {
		return o.value
	}
	return otherwise
}

// Cleared reports whether null is given.
func (o Optional[T]) Cleared() bool { return o.state == cleared }

// IsZero reports whether nothing is given.
func (o Optional[T]) IsZero() bool { return o.state == absent }

// Given is an Optional as a value: null gives nothing. Code that alcove family gen writes calls it.
func Given[T any](at *Optional[T], code func(*T, *scan.Coder)) scan.Value {
	return scan.Of(at, func(o *Optional[T], c *scan.Coder) { o.code(absent, code, c) })
}

// Clearable is an Optional as a value: null takes away what there is. Code that alcove family gen writes calls it.
func Clearable[T any](at *Optional[T], code func(*T, *scan.Coder)) scan.Value {
	return scan.Of(at, func(o *Optional[T], c *scan.Coder) { o.code(cleared, code, c) })
}

// code reads or writes the value. Null stands for a state.
func (o *Optional[T]) code(null optionalState, code func(*T, *scan.Coder), c *scan.Coder) {
	switch {
	case !c.Reading() && o.state != given:
		c.Writer.Null()
		return
	case c.Reading() && c.Scanner.Null():
		*o = Optional[T]{state: null}
		return
	case c.Reading():
		*o = Optional[T]{state: given}
	}
	code(&o.value, c)
}
