package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"
)

// Code classifies an Error.
type Code string

const (
	InvalidArgument Code = "E_INVALID_ARGUMENT"
	NotFound        Code = "E_NOT_FOUND"
	Denied          Code = "E_DENIED"
	Conflict        Code = "E_CONFLICT"
	Exhausted       Code = "E_EXHAUSTED"
	Unavailable     Code = "E_UNAVAILABLE"
	Timeout         Code = "E_TIMEOUT"
	Internal        Code = "E_INTERNAL"
)

// Error is the error of an operation, or of the connection to the server.
type Error struct {
	Code      Code           `json:"code"`
	Message   string         `json:"message"`
	Retryable bool           `json:"retryable"` // whether the same request may succeed later
	Details   map[string]any `json:"details"`

	cause error
}

func (e *Error) Error() string { return e.Message }

// Unwrap returns why the server could not be reached, if that is the error.
func (e *Error) Unwrap() error { return e.cause }

// CodeOf returns the code of an error that is an Error or wraps one; empty: it is neither.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// normal gives an error the codes of operations: refusals of connections and of HTTP requests have them in lower case.
func (e *Error) normal() *Error {
	e.Code = Code(cmp.Or(strings.ToUpper(string(e.Code)), string(Internal)))
	if !strings.HasPrefix(string(e.Code), "E_") {
		e.Code = "E_" + e.Code
	}
	return e
}

// decodeError returns the error that an answer has; nil: it has none.
func decodeError(answer []byte) *Error {
	var read struct{ Error *Error }
	if json.Unmarshal(answer, &read) != nil || read.Error == nil {
		return nil
	}
	return read.Error.normal()
}

// lostError means that a request is unanswered. Whether it was done is not known, unless refused says that it was not begun.
type lostError struct {
	refused bool
	err     error
}

func (l *lostError) Error() string { return l.err.Error() }
func (l *lostError) Unwrap() error { return l.err }

// final turns what is left of a lost request into an Error.
func final(err error) error {
	var l *lostError
	if !errors.As(err, &l) {
		return err
	}
	e := &Error{Code: Unavailable, Retryable: true, Message: "the alcove server cannot be reached: " + l.err.Error(), cause: l.err}
	if !l.refused {
		e.Message += "; whether the operation was done is not known: send it again with the same request id"
	}
	return e
}
