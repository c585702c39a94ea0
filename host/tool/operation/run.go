package operation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
)

const (
	inParallel  = 16       // calls of a batch at once
	mostResults = 16 << 20 // bytes of all results of an operation
)

// runner runs a plan.
type runner struct {
	call      *tool.Call
	requestID string       // idempotency key; empty: none
	size      atomic.Int64 // bytes of the results so far
}

func newRunner(c *tool.Call, p plan) *runner {
	r := &runner{call: c, requestID: c.RequestID}
	if p.requestID != "" {
		r.requestID, c.Caller.Call = p.requestID, p.requestID
	}
	return r
}

// run runs a plan and returns the outcome of its last step; the others are in Steps.
func (r *runner) run(ctx context.Context, p plan) outcome {
	ctx, cancel := within(ctx, p.timeout)
	defer cancel()
	last := r.chain(ctx, p.steps, nil, "")
	if last.Metadata == nil {
		last.Metadata = &remarks{}
	}
	return last
}

// timeoutKey is the context key of the timeout that set the deadline.
type timeoutKey struct{}

// within returns a context with a timeout; 0: none.
func within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if timeout <= 0 || bounded && time.Until(deadline) <= timeout {
		return ctx, func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	return context.WithValue(ctx, timeoutKey{}, timeout), cancel
}

// expired reports whether a context is out of time, even if it was not told yet.
func expired(ctx context.Context) bool {
	deadline, bounded := ctx.Deadline()
	return bounded && !time.Now().Before(deadline)
}

// timeout returns the timeout that set the deadline, which errors name; 0: none.
func timeout(ctx context.Context) time.Duration {
	d, _ := ctx.Value(timeoutKey{}).(time.Duration)
	return d
}

// chain runs steps one after the other, up to the first that fails. Their params may refer to the outcomes before them. path
// distinguishes the chain from the others of the operation.
func (r *runner) chain(ctx context.Context, steps []step, before []outcome, path string) (last outcome) {
	done := before[:len(before):len(before)]
	for i, s := range steps {
		last = r.step(ctx, s, done, fmt.Sprintf("%s/%d", path, i))
		if last.Error != nil && len(steps) > 1 {
			last.Error.Details = with(last.Error.Details, "step", i+1)
		}
		if last.Error != nil {
			break
		}
		done = append(done, last)
	}
	if last.Error == nil {
		done = done[:len(done)-1]
	}
	last.Steps = done[len(before):]
	return last
}

func with(details map[string]any, name string, value any) map[string]any {
	more := map[string]any{name: value}
	maps.Copy(more, details)
	return more
}

// step runs one step.
func (r *runner) step(ctx context.Context, s step, before []outcome, path string) outcome {
	ctx, cancel := within(ctx, s.options.timeout)
	defer cancel()
	if s.method == "" {
		return r.batch(ctx, s, before, path)
	}
	o := outcome{Method: tool.Clip(s.method, longestMethod)}
	a, err := r.dispatch(ctx, &o, s, before, path)
	if err == nil {
		err = r.keep(&o, a)
	}
	if err == nil && a.Partial {
		err = partial(ctx, s)
	}
	if err != nil {
		o.Error = failureOf(err)
	}
	if a.Version != 0 || a.Proposal != "" || len(a.Notes) > 0 {
		o.Metadata = &remarks{a.Version, a.Proposal, a.Notes}
	}
	return o
}

// dispatch makes a step's call, and notes its params.
func (r *runner) dispatch(ctx context.Context, o *outcome, s step, before []outcome, path string) (tool.Answer, error) {
	if ctx.Err() != nil || expired(ctx) {
		return tool.Answer{}, notBegun(ctx, s)
	}
	t, name, found := r.call.Registry().FindMethod(r.call.Caller.Rights, s.method)
	if found && t.Name == Name {
		return tool.Answer{}, tool.Invalid(map[string]any{"method": Name}, "%s cannot call itself: give the tool that is meant", Name)
	}
	calls, err := resolve(t, s.params, before)
	if err != nil {
		return tool.Answer{}, err
	}
	if o.params = s.params; len(calls.params) == 1 {
		o.params = calls.params[0]
	}
	if calls.each {
		return r.each(ctx, s, tool.Request{Tool: name, Found: t}, calls, path)
	}
	a, err := r.dispatched(ctx, s, tool.Request{Tool: name, Found: t, Arguments: calls.params[0], RequestID: r.derived(path)})
	a.Notes = append(calls.notes, a.Notes...)
	return a, err
}

// dispatched makes a call with the options of a step.
func (r *runner) dispatched(ctx context.Context, s step, q tool.Request) (tool.Answer, error) {
	var latest progress
	q.Caller, q.Session, q.Detail, q.Branch, q.Namespace, q.DryRun = r.call.Caller, r.call.Session, r.call.Detail, s.options.branch, s.options.namespace, s.options.dryRun
	q.Timeout, q.Progress = timeout(ctx), latest.report(r.call.Progress)
	a, err := r.call.Dispatch(ctx, q)
	return a, r.explained(err, s, &latest)
}

// each makes the calls of a step one after the other, up to the first that fails. Its answer has the list of their results.
func (r *runner) each(ctx context.Context, s step, q tool.Request, calls resolved, path string) (tool.Answer, error) {
	all, results := tool.Answer{Notes: calls.notes}, []any{}
	for i, params := range calls.params {
		q.Arguments, q.RequestID = params, r.derived(fmt.Sprintf("%s/%d", path, i))
		a, err := r.dispatched(ctx, s, q)
		if err != nil {
			var known *memory.Error
			if errors.As(err, &known) {
				told := *known
				told.Details = with(known.Details, "done", i)
				err = &told
			}
			return all, err
		}
		if a.Value != nil {
			a.Structured = a.Value
		}
		results = append(results, a.Structured)
		all.Notes, all.Partial, all.Version = append(all.Notes, a.Notes...), all.Partial || a.Partial, max(all.Version, a.Version)
		all.Proposal = cmp.Or(a.Proposal, all.Proposal)
	}
	all.Structured = results
	return all, nil
}

// notBegun returns the error of a call whose turn came too late.
func notBegun(ctx context.Context, s step) error {
	e := &memory.Error{Code: memory.Unavailable, Retryable: true, Details: map[string]any{"begun": false},
		Message: tool.Clip(s.method, longestMethod) + " was not begun before the operation was cancelled: it did nothing"}
	if late := timeout(ctx); late > 0 && !errors.Is(ctx.Err(), context.Canceled) {
		e.Code, e.Message = memory.Timeout, fmt.Sprintf("%s was not begun within %s: it did nothing", tool.Clip(s.method, longestMethod), late)
		e.Details["timeout_ms"] = late.Milliseconds()
	}
	return e
}

// partial returns the error beside the result of a call that left something out for want of time.
func partial(ctx context.Context, s step) error {
	return &memory.Error{Code: memory.Timeout, Retryable: true, Details: map[string]any{"partial": true, "timeout_ms": timeout(ctx).Milliseconds()},
		Message: fmt.Sprintf("%s was not done completely within %s: the result has what was found, and its note says what was left out", tool.Clip(s.method, longestMethod), timeout(ctx))}
}

// derived returns the idempotency key of a call. That of the first call is the operation's own.
func (r *runner) derived(path string) string {
	if r.requestID == "" || path == "/0" {
		return r.requestID
	}
	sum := sha256.Sum256([]byte(r.requestID + "\x00" + path)) // so that it is no key that a client would choose
	return base32.StdEncoding.EncodeToString(sum[:20])
}

// explained adds to an error what was searched, or what was done.
func (r *runner) explained(err error, s step, latest *progress) error {
	var known *memory.Error
	if !errors.As(err, &known) {
		return err
	}
	switch told := *known; {
	case known.Code == memory.NotFound && known.Details["searched_families"] == nil:
		branch, namespace := r.call.Session.At()
		told.Details = with(known.Details, "searched", searched(s.params, s.options, branch, namespace))
		return &told
	case known.Code == memory.Timeout && latest.reported():
		told.Details = with(known.Details, "progress", latest.details())
		return &told
	}
	return err
}

// searched returns the place in which a call looked.
func searched(params json.RawMessage, o options, branch, namespace string) map[string]any {
	var own struct{ Branch, Namespace any }
	json.Unmarshal(params, &own) // or they are in no place of their own
	at := map[string]any{"branch": branch, "namespace": namespace}
	for name, values := range map[string][]any{"branch": {o.branch, own.Branch}, "namespace": {o.namespace, own.Namespace}} {
		for _, v := range values {
			if v != nil && v != "" {
				at[name] = v
			}
		}
	}
	return at
}

// keep encodes a call's result into its outcome.
func (r *runner) keep(o *outcome, a tool.Answer) error {
	value := a.Structured
	if a.Value != nil {
		value = a.Value
	}
	result, err := tool.Encode(value)
	if err != nil {
		return fmt.Errorf("encode the result of %s: %w", o.Method, err)
	}
	if size := r.size.Add(int64(len(result))); size > mostResults && size > int64(len(result)) {
		r.size.Add(-int64(len(result)))
		return &memory.Error{Code: memory.Exhausted, Message: fmt.Sprintf(
			"%s was called, but its result of %d bytes is left out: all results of an operation may have %d bytes. Send fewer calls at once", o.Method, len(result), mostResults),
			Details: map[string]any{"called": true}}
	}
	o.set(result)
	return nil
}

// batch runs chains in parallel. Its result has the outcome of each, in their order.
func (r *runner) batch(ctx context.Context, s step, before []outcome, path string) outcome {
	outcomes := make([]outcome, len(s.batch))
	counter := counter{report: r.call.Progress, total: len(s.batch)}
	var next atomic.Int64
	var working sync.WaitGroup
	for range min(inParallel, len(s.batch)) {
		working.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(s.batch); i = int(next.Add(1)) - 1 {
				outcomes[i] = r.chain(ctx, s.batch[i], before, fmt.Sprintf("%s/%d", path, i))
				counter.add()
			}
		})
	}
	working.Wait()
	result, err := tool.Encode(outcomes)
	if err != nil {
		return outcome{Error: failureOf(fmt.Errorf("encode the results of a batch: %w", err))}
	}
	o := outcome{Error: unfinished(ctx, outcomes)}
	o.set(result)
	return o
}

// unfinished returns the error of a batch that ran out of time; nil: all of it is done.
func unfinished(ctx context.Context, outcomes []outcome) *failure {
	if !expired(ctx) {
		return nil
	}
	open := []int{}
	for i, o := range outcomes {
		if o.Error != nil && o.Error.Code == failureOf(&memory.Error{Code: memory.Timeout}).Code {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return failureOf(&memory.Error{Code: memory.Timeout, Retryable: true,
		Message: fmt.Sprintf("%d of %d operations were done within %s: the result has them, and an error for each of the others", len(outcomes)-len(open), len(outcomes), timeout(ctx)),
		Details: map[string]any{"timeout_ms": timeout(ctx).Milliseconds(), "not_done": open}})
}

// counter reports the progress of a batch.
type counter struct {
	report tool.Progress // nil: not reported
	mu     sync.Mutex
	done   int
	total  int
}

func (c *counter) add() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.report != nil {
		c.report(float64(c.done), float64(c.total), "")
	}
}

// progress is the last progress that a call reported.
type progress struct {
	mu          sync.Mutex
	known       bool
	done, total float64
	message     string
}

// report returns a function that keeps the progress and passes it on.
func (p *progress) report(next tool.Progress) tool.Progress {
	return func(done, total float64, message string) {
		p.mu.Lock()
		p.known, p.done, p.total, p.message = true, done, total, message
		p.mu.Unlock()
		if next != nil {
			next(done, total, message)
		}
	}
}

func (p *progress) reported() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.known
}

func (p *progress) details() map[string]any {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := map[string]any{"done": p.done}
	if p.total > 0 {
		d["total"] = p.total
	}
	if p.message != "" {
		d["message"] = tool.Clip(p.message, 200)
	}
	return d
}
