package memory

import (
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
)

func invalid(format string, args ...any) *Error { return fault.Invalid(format, args...) }

func notFound(format string, args ...any) *Error {
	return &Error{Code: NotFound, Message: fmt.Sprintf(format, args...)}
}

func conflict(format string, args ...any) *Error {
	return &Error{Code: Conflict, Message: fmt.Sprintf(format, args...)}
}
