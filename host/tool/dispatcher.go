package tool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/internal/trace"
	"github.com/alcove-memory/alcove/host/memory"
)

// Options configures a Dispatcher. The zero value works.
type Options struct {
	Logger *slog.Logger     // nil: discards
	Clock  func() time.Time // nil: time.Now
	ID     func() string    // generates a unique id; nil: random
	// Limits bounds the calls of clients with an API key. Nil: nothing does.
	Limits Limits
	// Called is called after each call of a tool by a client. Nil: none.
	Called func(Done)
	// Refused is called with each refusal by a right or a quota. Those of calls by families are part of the call that made them, and
	// those by the limits of a key are known to Limits. Nil: none.
	Refused func(Refused)
	// Traces records spans of calls; nil: none are.
	Traces trace.Recorder
}

// Refused is a call that a right or a quota did not permit.
type Refused struct {
	Request Request
	Tool    string // its name, or, if the caller may not use its family, the request's
	Family  string // of the tool; empty: a core tool
	Rule    string // that refused it
	Err     *memory.Error
}

// Limits bounds the calls of clients with an API key. An empty key means the owner of the data directory.
type Limits interface {
	// Begin admits a call. The caller calls end when it is over.
	Begin(key string) (end func(), err error)
	// Charge counts a call within one that Begin admitted.
	Charge(key string) error
	// While returns a context that ends with the key. The caller calls stop when done.
	While(ctx context.Context, key string) (held context.Context, stop func())
}

// Done is a call of a tool that has ended.
type Done struct {
	Tool    *Tool
	Request Request
	At      memory.Location // where it was made, unless its arguments say otherwise
	Answer  Answer          // if Err is nil
	Err     error
	Took    time.Duration
}

// Dispatcher calls tools. It is safe for concurrent use.
type Dispatcher struct {
	registry *Registry
	options  Options
}

// NewDispatcher returns a dispatcher of the tools in a registry.
func NewDispatcher(r *Registry, o Options) *Dispatcher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.ID == nil {
		o.ID = rand.Text
	}
	return &Dispatcher{registry: r, options: o}
}

// Registry returns the dispatcher's registry.
func (d *Dispatcher) Registry() *Registry { return d.registry }

// Dispatch calls a tool: it finds the tool, checks the caller's rights and the arguments, and runs the handler. A fault of
// the server is logged and returned as a memory.Error that reveals no internals.
func (d *Dispatcher) Dispatch(ctx context.Context, r Request) (Answer, error) {
	t, err := d.Find(r)
	if err != nil {
		d.Note(r, err)
		return Answer{}, err
	}
	ctx, ended := trace.Begin(trace.Recording(ctx, d.options.Traces), trace.Span{Name: "tools/call " + t.Name, Tool: t.Name, Family: t.Family})
	a, err := d.dispatch(ctx, t, r)
	ended(classOf(err))
	return a, err
}

// classOf is how a span names an error; empty: there is none.
func classOf(err error) string {
	if err == nil {
		return ""
	}
	return string(FailureOf(err).Code)
}

// dispatch calls a tool that was found.
func (d *Dispatcher) dispatch(ctx context.Context, t *Tool, r Request) (Answer, error) {
	end, err := d.admit(r)
	if err != nil {
		return Answer{}, err
	}
	defer end()
	ctx, release := d.while(ctx, r)
	defer release()
	begun, at := d.options.Clock(), r.at()
	a, err := d.within(ctx, t, r)
	if d.options.Called != nil && r.ofClient() {
		d.options.Called(Done{t, r, at, a, err, d.options.Clock().Sub(begun)})
	}
	d.noteOf(t, r, err)
	if err == nil {
		return a, nil
	}
	if why := stopped(ctx, err); why != nil {
		return Answer{}, why
	}
	f := FailureOf(err)
	if f.Code == memory.Internal {
		d.options.Logger.ErrorContext(ctx, "tool failed", "tool", t.Name, "error", err)
		return Answer{}, &memory.Error{Code: f.Code, Message: f.Message}
	}
	return Answer{}, err
}

// Find finds the tool of a request, for its caller.
func (d *Dispatcher) Find(r Request) (*Tool, error) {
	if r.Found != nil {
		return r.Found, nil
	}
	if t, ok := d.registry.FindFor(r.Caller.Rights, r.Tool); ok {
		return t, nil
	}
	return nil, d.notFound(r)
}

// Prepare decides a request, but makes no call: it finds the tool, and checks the caller's rights and the arguments.
func (d *Dispatcher) Prepare(r Request) (*Tool, Prepared, error) {
	t, err := d.Find(r)
	if err != nil {
		return nil, Prepared{}, err
	}
	p, err := d.prepare(t, r)
	return t, p, err
}

func (d *Dispatcher) prepare(t *Tool, r Request) (Prepared, error) {
	if err := d.authorise(t, r); err != nil {
		return Prepared{}, err
	}
	return t.prepare(r.Arguments, r.Namespace)
}

// admit checks the limits of the caller's key. A family's call is admitted as a whole.
func (d *Dispatcher) admit(r Request) (end func(), err error) {
	switch {
	case d.options.Limits == nil || r.Stage != nil || r.Admission == Admitted:
		return func() {}, nil
	case r.Admission == Within:
		return func() {}, d.options.Limits.Charge(r.Caller.Key)
	}
	return d.options.Limits.Begin(r.Caller.Key)
}

// while ends a call with the caller's key, however the key was presented. What runs within a call ends with that.
func (d *Dispatcher) while(ctx context.Context, r Request) (context.Context, func()) {
	if d.options.Limits == nil || r.Stage != nil || r.Admission == Within {
		return ctx, func() {}
	}
	return d.options.Limits.While(ctx, r.Caller.Key)
}

// Note passes on the refusal of a request that no tool handled, if its error is one: of an unknown tool, or of a front end's own.
func (d *Dispatcher) Note(r Request, err error) {
	d.noteOf(&Tool{Spec: Spec{Name: Clip(r.Tool, longestName)}}, r, err)
}

func (d *Dispatcher) noteOf(t *Tool, r Request, err error) {
	var known *memory.Error
	if d.options.Refused == nil || !r.ofClient() || !errors.As(err, &known) {
		return
	}
	refused := Refused{Request: r, Tool: t.Name, Family: t.Family, Rule: known.Rule, Err: known}
	switch {
	case known.Rule != "":
	case known.Code != memory.Denied:
		return
	case t.Family != "": // the message is the guest's
		refused.Rule = "the family refused it"
	default:
		refused.Rule, _, _ = strings.Cut(known.Message, ":")
	}
	d.options.Refused(refused)
}

func (d *Dispatcher) notFound(r Request) error {
	rule := ""
	if t, exists := d.registry.Find(r.Tool); exists {
		rule = hidden(t.Family)
	}
	return &memory.Error{Rule: rule, Code: memory.NotFound, Message: d.registry.Unknown(r.Tool, r.Caller.Rights),
		Details: map[string]any{"method": Clip(r.Tool, gotLength), "searched_families": append([]string{CoreFamily}, d.registry.Snapshot().For(r.Caller.Rights).Names()...)}}
}

// Alias returns the alias by which a request calls the tool, or "" for its own name.
func (t *Tool) Alias(r Request) string {
	if name := flat(r.Tool); name != t.Spelling {
		return name
	}
	return ""
}

// within calls a tool within the request's timeout.
func (d *Dispatcher) within(ctx context.Context, t *Tool, r Request) (Answer, error) {
	if r.Timeout <= 0 {
		return d.call(ctx, t, r)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	a, err := d.call(ctx, t, r)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !tellsOfEffects(err) {
		return Answer{}, late(t, r)
	}
	return a, err
}

func (d *Dispatcher) call(ctx context.Context, t *Tool, r Request) (Answer, error) {
	p, err := d.prepare(t, r)
	if err != nil {
		return Answer{}, err
	}
	c, err := d.newCall(t, r, p)
	if err != nil {
		return Answer{}, err
	}
	a, err := survive(func() (Answer, error) { return t.Handler(ctx, c) })
	a.Family = t.Family
	if err == nil && c.proposal != "" {
		a = a.held(c.proposal)
	}
	if said := c.TakeNotes(); len(said) > 0 {
		a.Notes, a.HasNotes = append(a.Notes, said...), false
	}
	return a, err
}

// authorise refuses a call that the caller may not make, or of an unusable family.
func (d *Dispatcher) authorise(t *Tool, r Request) error {
	if r.Stage != nil && t.IsCore() && !t.Staged {
		return &memory.Error{Code: memory.InvalidArgument, Message: t.Name + " cannot be called by a family: use the host's operations"}
	}
	switch denied := !t.Annotations.Permitted(r.Caller.Rights.WritesNothing()); {
	case denied && r.Stage != nil && !t.IsCore():
		return &memory.Error{Code: memory.Denied, Message: t.Name + " may write, and the caller may only read"}
	case denied && r.Stage != nil:
		return &memory.Error{Code: memory.Denied, Message: t.Name + " would write: the family needs memory.read and memory.write for the namespace, and its caller the right to write there"}
	case denied:
		return d.registry.Denied(r.Caller.Rights, t.Name+" would write")
	}
	if t.set != nil && t.set.Fault != "" {
		return &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf(
			"%s cannot be used now, because its family %s is at fault: %s. Do without it, or tell the user", t.Name, t.Family, t.set.Fault)}
	}
	return nil
}

func (d *Dispatcher) newCall(t *Tool, r Request, p Prepared) (*Call, error) {
	c := &Call{
		Tool: t, Caller: r.Caller, Session: r.Session, Stage: r.Stage, Arguments: p.Arguments, JSON: p.JSON,
		Branch: cmp.Or(p.Branch, r.Branch), Namespace: cmp.Or(p.Namespace, r.Namespace),
		RequestID: r.RequestID, DryRun: r.DryRun || p.DryRun, Detail: r.Detail, Progress: r.Progress, Client: r.Client, Now: d.options.Clock(), home: r.Home, dispatcher: d,
	}
	c.Caller.Call = cmp.Or(r.Caller.Call, r.RequestID, d.options.ID())
	if c.Session == nil {
		c.Session = NewSession(SessionOptions{Stateless: true})
	}
	if p.DryRun && !r.DryRun && t.Family != "" && !t.Annotations.ReadOnly {
		c.Note("dry run: nothing was written.")
	}
	return c, c.setAsOf(p.AsOf)
}

// setAsOf sets the moment that the call reads at. A tool that may write cannot act on the past.
func (c *Call) setAsOf(moment string) (err error) {
	if c.AsOf, err = memory.ParseAsOf(moment, c.Now); err != nil {
		return Invalid(map[string]any{"parameters": []string{asOfParameter}}, "as_of: %v", err)
	}
	if !c.AsOf.IsNow() && !c.Tool.Annotations.ReadOnly && !(c.Tool.Annotations.Mixed && c.Tool.set != nil) {
		return Invalid(map[string]any{"parameters": []string{asOfParameter}},
			"%s may write, and the past cannot be changed, so it takes no as_of: leave as_of out to act on the present", c.Tool.Name)
	}
	return nil
}

// survive runs a handler and turns a panic into an error.
func survive(run func() (Answer, error)) (a Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return run()
}

// tellsOfEffects reports whether an error describes effects outside the server, actual or prevented.
func tellsOfEffects(err error) bool {
	var known *memory.Error
	return errors.As(err, &known) && (known.Details["sent"] != nil || known.Details["not_sent"] != nil)
}

// stopped returns why a call was cancelled, if the context tells; nil: it was not, or its effects are to be told.
func stopped(ctx context.Context, err error) error {
	var why *memory.Error
	if ctx.Err() == nil || tellsOfEffects(err) || !errors.As(context.Cause(ctx), &why) {
		return nil
	}
	return why
}

// late returns the error of a call that timed out.
func late(t *Tool, r Request) error {
	text := fmt.Sprintf("%s was not done within %s", Clip(r.Tool, longestName), r.Timeout)
	if !t.Annotations.ReadOnly {
		text += ": whether it wrote anything is not known, so look before you do it again"
	}
	return &memory.Error{Code: memory.Timeout, Message: text, Retryable: true, Details: map[string]any{"timeout_ms": r.Timeout.Milliseconds()}}
}
