// Package effect tracks what a piece of work does outside of the memory, such as a request to another server: no conflict undoes it, so
// that the work is not retried.
package effect

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/memory/fault"
)

// mostNamed bounds the effects named, durably and in errors; further ones are counted.
const mostNamed = 16

// Ledger lists the effects of a piece of work. It is passed in the context. Its methods may be called
// concurrently; a nil *Ledger records nothing.
type Ledger struct {
	note      func(ctx context.Context, l []string) error     // keeps the list durably; removes an empty one. Nil: not kept
	load      func(ctx context.Context) (l []string, _ error) // loads what an earlier attempt kept. Nil: nothing
	rehearsal bool

	mu       sync.Mutex
	loaded   bool
	earlier  []string // of an earlier attempt, once loaded
	done     []*Effect
	withheld []string
	hidden   int // withheld beyond mostNamed
	noted    bool
}

// Effect is one external effect.
type Effect struct {
	of      *Ledger
	what    string
	outcome string
}

// New returns the ledger of repeatable work. note stores the list durably before each effect; an
// empty list deletes it. Nil: nothing is stored.
func New(note func(ctx context.Context, list []string) error) *Ledger {
	return &Ledger{note: note}
}

// Resume is New for work that may have been begun before: load returns the list that it kept then.
func Resume(note func(ctx context.Context, list []string) error, load func(ctx context.Context) ([]string, error)) *Ledger {
	return &Ledger{note: note, load: load}
}

// Rehearse returns the ledger of a dry run: each effect is refused, and listed as withheld.
func Rehearse() *Ledger { return &Ledger{rehearsal: true} }

type ledgerKey struct{}

// With returns a context whose effects are recorded in e; nil: nowhere.
func With(ctx context.Context, e *Ledger) context.Context {
	return context.WithValue(ctx, ledgerKey{}, e)
}

// Of returns the ledger of the context; nil: none.
func Of(ctx context.Context) *Ledger {
	e, _ := ctx.Value(ledgerKey{}).(*Ledger)
	return e
}

// Begin records an effect right before it happens. On an error it must not happen.
func (e *Ledger) Begin(ctx context.Context, what string) (*Effect, error) {
	if e == nil {
		return &Effect{}, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rehearsal {
		e.withhold(what)
		return nil, rehearsed(what)
	}
	if err := e.first(ctx); err != nil {
		return nil, err
	}
	effect := &Effect{of: e, what: what}
	e.done = append(e.done, effect)
	if err := e.keep(ctx); err != nil {
		e.done = e.done[:len(e.done)-1]
		return nil, err
	}
	return effect, nil
}

// Harmless returns an error for what may be repeated, and so is no effect, if it must not happen now: in a dry run, which lists it as
// withheld.
func (e *Ledger) Harmless(what string) error {
	if e == nil || !e.rehearsal {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.withhold(what)
	return rehearsed(what)
}

func rehearsed(what string) error {
	return &fault.Error{Code: fault.Unavailable, Message: what + " is not sent in a dry run", Details: map[string]any{"dry_run": true}}
}

func (e *Ledger) withhold(what string) {
	if len(e.withheld) == mostNamed {
		e.hidden++
		return
	}
	e.withheld = append(e.withheld, what)
}

// keep updates the durable list while it grows. The caller holds mu.
func (e *Ledger) keep(ctx context.Context) error {
	if e.note == nil || len(e.done) > mostNamed+1 {
		return nil
	}
	if err := e.note(ctx, e.list()); err != nil {
		return err
	}
	e.noted = true
	return nil
}

// Answered records how an effect ended, as in "answered 201".
func (f *Effect) Answered(how string) {
	if f.of == nil {
		return
	}
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.outcome = how
}

// Averted records that an effect did not happen.
func (f *Effect) Averted() {
	if f.of == nil {
		return
	}
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	for i, other := range f.of.done {
		if other == f {
			f.of.done = append(f.of.done[:i:i], f.of.done[i+1:]...)
			return
		}
	}
}

func (f *Effect) String() string {
	if f.outcome == "" {
		return f.what + " was sent, and its answer is not known"
	}
	return f.what + " was sent and " + f.outcome
}

// list names the first effects and counts the others. The caller holds mu.
func (e *Ledger) list() []string {
	var list []string
	for i, f := range e.done {
		if i == mostNamed {
			return append(list, fmt.Sprintf("and %d or more others were sent", len(e.done)-mostNamed))
		}
		list = append(list, f.String())
	}
	return list
}

// List describes the effects, one text each.
func (e *Ledger) List() []string {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.list()
}

// Count returns the number of effects.
func (e *Ledger) Count() int {
	if e == nil {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.done)
}

// Rehearsed reports whether effects are refused.
func (e *Ledger) Rehearsed() bool { return e != nil && e.rehearsal }

// Withheld describes the effects that a rehearsal refused, one text each.
func (e *Ledger) Withheld() []string {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []string
	for _, what := range e.withheld {
		list = append(list, "dry run: "+what+" was not sent")
	}
	if e.hidden > 0 {
		list = append(list, fmt.Sprintf("dry run: %d more were not sent", e.hidden))
	}
	return list
}

// Noted reports whether any effect is kept durably.
func (e *Ledger) Noted() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.noted
}

// Earlier returns an error if an earlier attempt had effects, which must not be repeated.
func (e *Ledger) Earlier(ctx context.Context) error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.first(ctx)
}

// first returns an error unless this is the first attempt with effects. The caller holds mu.
func (e *Ledger) first(ctx context.Context) error {
	if !e.loaded && e.load != nil {
		list, err := e.load(ctx)
		if err != nil {
			return err
		}
		e.loaded, e.earlier = true, list
	}
	if len(e.earlier) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Details: map[string]any{"sent": e.earlier}, Message: "this request was begun before and broke off: " + strings.Join(e.earlier, "; ") +
		". Nothing else of it was kept, and it is not repeated: check there whether it took effect, and send a new request if needed"}
}

// Failed returns the error of failed work with its effects, done or withheld. The durable list is updated.
func (e *Ledger) Failed(ctx context.Context, err error) error {
	if e == nil || err == nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.noted {
		_ = e.note(context.WithoutCancel(ctx), e.list()) // on failure the list keeps its state before the last effect: none is missing
	}
	switch {
	case len(e.done) > 0:
		return sentBefore(err, e.list())
	case len(e.withheld) > 0:
		return withheldBefore(err, e.withheld, e.hidden)
	}
	return err
}

// FailedSince returns the error of a failed part of the work with the effects after the first sent ones. The part is then not
// retryable: that would repeat them.
func (e *Ledger) FailedSince(sent int, err error) error {
	var known *fault.Error
	list := e.List()
	if len(list) <= sent || !errors.As(err, &known) {
		return err
	}
	part := *known
	part.Retryable, part.Details = false, with(known.Details, "sent", list[sent:])
	return &part
}

// sentBefore returns an error after effects. It is not retryable: that would repeat them.
func sentBefore(err error, sent []string) error {
	e, then := fault.Error{Code: fault.Unavailable, Message: "the server failed, and its log says why", Cause: err}, "then "
	var known *fault.Error
	if errors.As(err, &known) && known.Code != fault.Internal {
		e = *known
	}
	if known != nil && known.Code != fault.Internal && known.Code != fault.Timeout { // after those two a commit may still follow
		then = "nothing was stored: "
	}
	e.Retryable = false
	e.Details = with(e.Details, "sent", sent)
	e.Message = fmt.Sprintf("%s; %s%s. Doing it again sends it again", strings.Join(sent, "; "), then, strings.TrimSuffix(e.Message, "."))
	return &e
}

func withheldBefore(err error, withheld []string, hidden int) error {
	var known *fault.Error
	if !errors.As(err, &known) {
		return err
	}
	e := *known
	e.Details = with(with(e.Details, "dry_run", true), "not_sent", withheld)
	more := ""
	if hidden > 0 {
		more = fmt.Sprintf(" and %d more", hidden)
	}
	e.Message = fmt.Sprintf("%s (dry run: %s%s was not sent)", e.Message, strings.Join(withheld, ", "), more)
	return &e
}

func with(details map[string]any, name string, value any) map[string]any {
	details = maps.Clone(details)
	if details == nil {
		details = map[string]any{}
	}
	details[name] = value
	return details
}
