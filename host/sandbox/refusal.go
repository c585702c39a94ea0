package sandbox

import (
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// Refusal is the reason why a module was not admitted.
type Refusal struct {
	Class abi.Class // the step that refused it
	What  string    // what is wrong
	Do    string    // what its author or operator can do
	Err   error     // of a library, if any
}

// Error says what is wrong and what to do.
func (r *Refusal) Error() string {
	what := r.What
	if r.Err != nil {
		what += ": " + r.Err.Error()
	}
	return fmt.Sprintf("refuse the module (%s): %s; %s", r.Class, what, r.Do)
}

func (r *Refusal) Unwrap() error { return r.Err }

func refuse(class abi.Class, do, format string, args ...any) *Refusal {
	return &Refusal{Class: class, What: fmt.Sprintf(format, args...), Do: do}
}

// Result is the outcome of a request.
type Result struct {
	Class     abi.Class
	Output    []byte        // ClassOK: the result, which is the caller's now
	Error     *abi.Error    // other classes: what to tell whoever asked
	Trace     string        // ClassTrap: the guest's functions, for its author; they come from the module
	Fuel      int64         // used
	Time      time.Duration // from the request to its end
	CPU       time.Duration // of that, what the guest ran by itself
	Memory    int64         // the most it had, in bytes, tables included
	HostCalls int64
}

// Outcome is what the class belongs to.
func (r *Result) Outcome() abi.Outcome { return r.Class.Outcome() }

// stop ends a request from within. It is what the host's functions panic with, which wazero turns into an error.
type stop struct {
	class abi.Class
	limit string // the limit's name in the ABI, if it is one
	what  string
}

func (s *stop) Error() string { return s.what }

// explain is the error that whoever asked is told.
func (s *stop) explain() *abi.Error {
	code := abi.CodeExhausted
	switch s.class {
	case abi.ClassWall:
		code = abi.CodeTimeout
	case abi.ClassCancelled:
		code = abi.CodeUnavailable
	case abi.ClassTrap, abi.ClassExit, abi.ClassAnswer:
		code = abi.CodeInternal
	}
	e := &abi.Error{Code: code, Message: s.what, Retryable: code.Retryable(), Details: map[string]any{"class": string(s.class)}}
	if s.limit != "" {
		e.Details["limit"] = s.limit
	}
	return e
}
