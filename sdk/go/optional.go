package alcove

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
