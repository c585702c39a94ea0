package alcove

import "errors"

// Code is the code of an error, the same for guests and hosts.
type Code string

// String is the code.
func (c Code) String() string { return string(c) }

// String is the operation's name.
func (o Op) String() string { return string(o) }

// Error is the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Refusal is a store hook's decision that nothing of what it was asked about is stored. It is no failure of the hook.
type Refusal struct {
	Reason string // what the caller is told: at most 1,000 bytes of it
}

// Error is the reason.
func (r *Refusal) Error() string { return "refused: " + r.Reason }

// Refuse is what a handler of OnStore answers with so that nothing is stored. Any other error, one of the host's included, is
// a failure of the hook: whether the store then goes on without it is the operator's decision. Elsewhere a refusal is an error
// with the code Denied.
func Refuse(reason string) error { return &Refusal{reason} }

// Errorf returns an error of a code. A handler that returns it has it passed on to the host; any other error becomes one with the
// code Internal. It knows the verbs %s, %v, %q, %d, %x, %t, %g and %.2f, for text, errors, numbers, lists of text and what has a
// method String.
func Errorf(code Code, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: sprintf(format, arguments), Retryable: code.Retryable()}
}

// CodeOf is the code of an error; Internal where it has none, empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return asError(err).Code
}

func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	var refused *Refusal
	if errors.As(err, &refused) {
		return Errorf(Denied, "%s", refused.Reason)
	}
	return &Error{Code: Internal, Message: err.Error()}
}
