// Package fault has the errors that callers of a space can act on.
package fault

import "fmt"

// Code is the kind of an Error, for programs and models.
type Code string

// The codes of errors, the same on every interface.
const (
	InvalidArgument Code = "invalid_argument" // the caller must change the request
	NotFound        Code = "not_found"        // the request names something that does not exist
	Denied          Code = "denied"           // the caller may not do this
	Conflict        Code = "conflict"         // the state is not what the request expects
	Exhausted       Code = "exhausted"        // a limit is used up
	Unavailable     Code = "unavailable"      // not now; later perhaps
	Timeout         Code = "timeout"          // took too long
	Internal        Code = "internal"         // a fault of the server
	InputRequired   Code = "input_required"   // a tool of a family asks its caller's client first, as the details say
)

// Error is a failure that its caller can act on: the message says what was wrong and what to do next.
type Error struct {
	Code      Code
	Message   string
	Retryable bool           // the same request may succeed later
	Details   map[string]any // JSON values for programs
	// Rule is the rule that refused the request, for operators: clients are not told. Empty: the message says what there is to say.
	Rule string
	// Cause is what Unwrap returns: for the log, not for the caller. It may be nil.
	Cause error `json:"-"`
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause of the error, if any.
func (e *Error) Unwrap() error { return e.Cause }

// Invalid returns an error of a wrong request.
func Invalid(format string, args ...any) *Error {
	return &Error{Code: InvalidArgument, Message: fmt.Sprintf(format, args...)}
}
