package alcove

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

// Proposal is a store hook's decision that what it was asked about goes to a branch of proposals. It is no failure of the hook.
type Proposal struct {
	Reason string // what the caller is told: at most 1,000 bytes of it
}

// Error is the reason.
func (p *Proposal) Error() string { return "proposed: " + p.Reason }

// Propose is what a handler of OnStore answers with, beside its changes, so that the write goes to a branch of proposals, which
// somebody merges or deletes. Elsewhere it is an error with the code Denied.
func Propose(reason string) error { return &Proposal{reason} }

// Errorf returns an error of a code. A handler that returns it has it passed on to the host; any other error becomes one with the
// code Internal. It knows the verbs %s, %v, %q, %d, %x, %t, %g and %.2f, for text, errors, numbers, lists of text and what has a
// method String.
//
//go:noinline
func Errorf(code Code, format string, arguments ...any) *Error {
	return &Error{Code: code, Message: sprintf(format, arguments), Retryable: code.Retryable()}
}

// Final marks the error as one that the same request meets again, whatever its code says, and returns it: nobody repeats it by itself.
func (e *Error) Final() *Error {
	e.Retryable = false
	return e
}

// CodeOf is the code of an error; Internal where it has none, empty for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return asError(err).Code
}

func asError(err error) *Error {
	if e, ok := find[*Error](err); ok {
		return e
	}
	if refused, ok := find[*Refusal](err); ok {
		return Errorf(Denied, "%s", refused.Reason)
	}
	if proposed, ok := find[*Proposal](err); ok {
		return Errorf(Denied, "%s", proposed.Reason)
	}
	return &Error{Code: Internal, Message: err.Error()}
}

// mostMessage is the bytes of a message that a caller is told: messages quote arguments, which may be long.
const mostMessage = 2000

// told is the error with a message that fits an error body.
func (e *Error) told() *Error {
	if len(e.Message) <= mostMessage {
		return e
	}
	cut := mostMessage
	for cut > 0 && e.Message[cut]&0xc0 == 0x80 { // within a character
		cut--
	}
	short := *e
	short.Message = e.Message[:cut] + "…"
	return &short
}

// find is the first error of a type among an error and those that it wraps. errors.As does more, and needs reflection.
func find[E error](err error) (found E, ok bool) {
	for err != nil {
		if found, ok = err.(E); ok {
			return found, true
		}
		switch wrapping := err.(type) {
		case interface{ Unwrap() error }:
			err = wrapping.Unwrap()
		case interface{ Unwrap() []error }:
			for _, inner := range wrapping.Unwrap() {
				if found, ok = find[E](inner); ok {
					return found, true
				}
			}
			return found, false
		default:
			return found, false
		}
	}
	return found, false
}
