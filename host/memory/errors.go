package memory

import (
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/memory/fault"
	"github.com/alcove-memory/alcove/host/store"
)

// ErrRequestReused is wrapped by the conflict of a request id used before for a different request.
var ErrRequestReused = store.ErrRequestReused

// Error is the error of a space, and Code its kind.
type (
	Error = fault.Error
	Code  = fault.Code
)

// The codes of errors.
const (
	InvalidArgument = fault.InvalidArgument
	NotFound        = fault.NotFound
	Denied          = fault.Denied
	Conflict        = fault.Conflict
	Exhausted       = fault.Exhausted
	Unavailable     = fault.Unavailable
	Timeout         = fault.Timeout
	Internal        = fault.Internal
	InputRequired   = fault.InputRequired
)

func invalid(format string, args ...any) *Error { return fault.Invalid(format, args...) }

func notFound(format string, args ...any) *Error {
	return &Error{Code: NotFound, Message: fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) *Error {
	return &Error{Code: Conflict, Message: fmt.Sprintf(format, args...)}
}

// clip shortens text for a message.
func clip(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	return string(runes[:limit]) + "…"
}

// inItem names the item of several that an error is about.
func inItem(i, of int, err error) error {
	var e *Error
	if of == 1 || !errors.As(err, &e) {
		return err
	}
	placed := *e
	placed.Message = fmt.Sprintf("items[%d]: %s", i, e.Message)
	return &placed
}
