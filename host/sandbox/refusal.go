package sandbox

import (
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// Refusal is the reason that a module was not admitted.
type Refusal struct {
	Class abi.Class // the step that refused it
	What  string    // the fault
	Do    string    // the remedy for its author or operator
	Err   error     // from a library, if any
}

// Error describes the fault and its remedy.
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
	Class     abi.Class     `json:"class"`
	Output    []byte        `json:"output,omitempty"` // ClassOK: the result, owned by the caller
	Error     *abi.Error    `json:"error,omitempty"`  // other classes: the error for the caller
	Trace     string        `json:"trace,omitempty"`  // ClassTrap: the guest's stack, for its author; untrusted text from the module
	Fuel      int64         `json:"fuel"`             // used
	Time      time.Duration `json:"time_ns"`          // wall time of the request
	CPU       time.Duration `json:"cpu_ns"`           // part of Time in which the guest ran
	Memory    int64         `json:"memory"`           // peak linear memory, in bytes
	HostCalls int64         `json:"host_calls"`
	// Interpreted means that the guest was interpreted, so that Time and CPU are no measure of its compiled code.
	Interpreted bool `json:"interpreted,omitempty"`
}

// Outcome returns the outcome of the result's class.
func (r *Result) Outcome() abi.Outcome { return r.Class.Outcome() }

// stop is the reason that a request ends early. Host functions panic with it; wazero turns the panic into an error.
type stop struct {
	class abi.Class
	limit string // ABI name of the exceeded limit, if any
	what  string
}

func (s *stop) Error() string { return s.what }

// explain returns the error for the caller.
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
