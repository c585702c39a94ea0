package alcove

import (
	"errors"
	"fmt"
)

// Code is the code of an error, the same for guests and hosts.
type Code string

// Error is an error as it travels between guest and host. A handler that answers with one has it passed on; any other
// error becomes one with the code Internal.
type Error struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"` // what went wrong and what to do about it
	Retryable bool           `json:"retryable"`
	Details   map[string]any `json:"details,omitempty"`
}

// Error is the code and the message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Errorf makes an error.
func Errorf(code Code, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, arguments...), Retryable: code.Retryable()}
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
	return &Error{Code: Internal, Message: err.Error()}
}
