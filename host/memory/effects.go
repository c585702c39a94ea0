package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// mostNamed is how many effects are named, durably and in errors; of more only the number is known.
const mostNamed = 16

// Effects are what a piece of work does outside of the space, such as a request to another server: no conflict undoes them, so
// nothing that had one is done again by itself. All that a piece of work leads to finds them in its context. They may be used
// concurrently; a nil *Effects notes nothing.
type Effects struct {
	note      func(ctx context.Context, l []string) error     // keeps the list durably; an empty one is forgotten. Nil: nothing is kept
	load      func(ctx context.Context) (l []string, _ error) // what an attempt before this one kept. Nil: nothing
	rehearsal bool

	mu       sync.Mutex
	loaded   bool
	earlier  []string // of an attempt before this one, once it is loaded
	done     []*Effect
	withheld []string
	hidden   int // withheld beyond mostNamed
	noted    bool
}

// Effect is one of them.
type Effect struct {
	of      *Effects
	what    string
	outcome string
}

// NewEffects are the effects of work that can be repeated. note keeps the list of them durably before each happens; with an
// empty list it forgets what it kept. Nil: nothing is kept.
func NewEffects(note func(ctx context.Context, list []string) error) *Effects {
	return &Effects{note: note}
}

// Rehearse is for work whose effects must not happen: each is refused, and listed as withheld.
func Rehearse() *Effects { return &Effects{rehearsal: true} }

type effectsKey struct{}

// WithEffects has everything under the context note its effects there; nil: nowhere.
func WithEffects(ctx context.Context, e *Effects) context.Context {
	return context.WithValue(ctx, effectsKey{}, e)
}

// EffectsOf are those that are noted under the context; nil: nobody notes any.
func EffectsOf(ctx context.Context) *Effects {
	e, _ := ctx.Value(effectsKey{}).(*Effects)
	return e
}

// Begin notes an effect right before it happens. On an error it must not happen.
func (e *Effects) Begin(ctx context.Context, what string) (*Effect, error) {
	if e == nil {
		return &Effect{}, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rehearsal {
		e.withhold(what)
		return nil, &Error{Code: Unavailable, Message: what + " is not sent in a dry run", Details: map[string]any{"dry_run": true}}
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

func (e *Effects) withhold(what string) {
	if len(e.withheld) == mostNamed {
		e.hidden++
		return
	}
	e.withheld = append(e.withheld, what)
}

// keep has the list noted as long as something is added to it. The caller holds mu.
func (e *Effects) keep(ctx context.Context) error {
	if e.note == nil || len(e.done) > mostNamed+1 {
		return nil
	}
	if err := e.note(ctx, e.list()); err != nil {
		return err
	}
	e.noted = true
	return nil
}

// Answered says how an effect ended, as in "answered 201".
func (f *Effect) Answered(how string) {
	if f.of == nil {
		return
	}
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.outcome = how
}

// Averted says that an effect did not happen after all.
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
func (e *Effects) list() []string {
	var list []string
	for i, f := range e.done {
		if i == mostNamed {
			return append(list, fmt.Sprintf("and %d or more others were sent", len(e.done)-mostNamed))
		}
		list = append(list, f.String())
	}
	return list
}

// List says what happened, an effect a text.
func (e *Effects) List() []string {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.list()
}

// Count is how many effects there were.
func (e *Effects) Count() int {
	if e == nil {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.done)
}

// Rehearsed reports whether effects are refused, and not done.
func (e *Effects) Rehearsed() bool { return e != nil && e.rehearsal }

// Withheld says what a rehearsal did not do, an effect a text.
func (e *Effects) Withheld() []string {
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

// Noted reports whether something of the effects is kept durably.
func (e *Effects) Noted() bool {
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.noted
}

// Earlier is an error when an attempt before this one had effects, which are not to be repeated.
func (e *Effects) Earlier(ctx context.Context) error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.first(ctx)
}

// first is an error unless this is the first attempt with effects. The caller holds mu.
func (e *Effects) first(ctx context.Context) error {
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
	return &Error{Code: Conflict, Details: map[string]any{"sent": e.earlier}, Message: "this request was begun before and broke off: " + strings.Join(e.earlier, "; ") +
		". Nothing else of it was kept, and it is not carried out again: find out there what came of it, and if it is still to be done, send it as a new request"}
}

// Failed is the error of work that failed, with what it did outside, or would have done. What is kept durably is brought up to date.
func (e *Effects) Failed(ctx context.Context, err error) error {
	if e == nil || err == nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.noted {
		_ = e.note(context.WithoutCancel(ctx), e.list()) // otherwise it stays as it was before the last effect: none is missing
	}
	switch {
	case len(e.done) > 0:
		return sentBefore(err, e.list())
	case len(e.withheld) > 0:
		return withheldBefore(err, e.withheld, e.hidden)
	}
	return err
}

// FailedSince is the error of a part of the work that failed, with what it did outside since the first sent effects. The part is not
// retryable then: that would repeat them.
func (e *Effects) FailedSince(sent int, err error) error {
	var known *Error
	list := e.List()
	if len(list) <= sent || !errors.As(err, &known) {
		return err
	}
	part := *known
	part.Retryable, part.Details = false, with(known.Details, "sent", list[sent:])
	return &part
}

// sentBefore is an error after effects. It is not retryable: that would repeat them.
func sentBefore(err error, sent []string) error {
	e, then := Error{Code: Unavailable, Message: "the server failed, and its log says why", cause: err}, "then "
	var known *Error
	if errors.As(err, &known) && known.Code != Internal {
		e = *known
	}
	if known != nil && known.Code != Internal && known.Code != Timeout { // after those a commit may still come
		then = "nothing was stored: "
	}
	e.Retryable = false
	e.Details = with(e.Details, "sent", sent)
	e.Message = fmt.Sprintf("%s; %s%s. Doing it again sends it again", strings.Join(sent, "; "), then, strings.TrimSuffix(e.Message, "."))
	return &e
}

func withheldBefore(err error, withheld []string, hidden int) error {
	var known *Error
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

// Effects are those of a request. Before each one happens, it is kept under the request's id for as long as an answer would be,
// so that the request, sent again after a crash, is not carried out twice.
func (a *Access) Effects(w Write) *Effects {
	if w.RequestID == "" {
		return NewEffects(nil)
	}
	m := &requestMark{space: a.space, key: answerKey(a.sign(w))}
	return &Effects{note: m.note, load: m.load}
}

// requestMark keeps the effects of a request where its answer will be.
type requestMark struct {
	space   *Space
	key     store.Key
	version uint64 // of what is there; 0: nothing
}

// load reads what an earlier attempt kept.
func (m *requestMark) load(ctx context.Context) ([]string, error) {
	b := m.space.catalogue.System()
	if b == nil {
		return nil, nil
	}
	found, err := m.space.engine.GetAt(ctx, b.Lineage, []store.Key{m.key})
	if err != nil || !found[0].Exists() {
		return nil, m.space.translate("look up the request", err)
	}
	m.version = found[0].Version
	var r record.Answer
	if err := json.Unmarshal(found[0].Value, &r); err != nil {
		return nil, fmt.Errorf("read what the request did before: %w", err)
	}
	if r.Expires <= m.space.clock().UnixMicro() {
		return nil, nil
	}
	return r.Sent, nil
}

// note commits the list. The same request, carried out at the same time, is a conflict.
func (m *requestMark) note(ctx context.Context, list []string) error {
	b, err := m.space.systemBranch(ctx)
	if err != nil {
		return err
	}
	w := store.Write{Branch: b.ID, Key: m.key, Delete: len(list) == 0}
	if !w.Delete {
		if w.Value, err = json.Marshal(record.Answer{Sent: list, Expires: m.space.clock().Add(systemKept).UnixMicro()}); err != nil {
			return err
		}
	}
	expect := store.Expectation{Lineage: b.Lineage, Key: m.key, Version: m.version}
	done, err := m.space.commit(ctx, b, store.Batch{Writes: []store.Write{w}, Expect: []store.Expectation{expect}}, Caller{})
	if errors.Is(err, store.ErrConflict) {
		return conflict("the same request is being carried out already: wait for that")
	}
	if err != nil {
		return m.space.translate("note what is about to be sent", err)
	}
	if m.version = done.Version; w.Delete {
		m.version = 0
	}
	return nil
}
