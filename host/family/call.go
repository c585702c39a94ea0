package family

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Call is a call of a tool.
type Call struct {
	Arguments json.RawMessage // an object that fits the tool's input schema
	memory.Location
	Caller    memory.Caller
	RequestID string
	DryRun    bool        // discard what the tool stages
	AsOf      memory.AsOf // the moment that a read-only tool sees; the zero AsOf: now
	// Progress reports progress; total is 0 if unknown. Nil: not reported.
	Progress func(done, total float64, message string)
	// Input is what the caller's client can be asked, and what it answered. Nil: nothing can be asked.
	Input *abi.Input
	// Log is told each line that the family logs during the call. It must not block. Nil: nobody is told.
	Log func(line string)
}

// Result is a tool's answer.
type Result struct {
	Output   json.RawMessage
	Version  uint64   // of the commit with its writes; 0: it wrote nothing
	Proposal string   // the branch with its proposed changes; empty: none
	Notes    []string // further information for the caller

}

// endedKey is the key of a context's function that WithEnded sets.
type endedKey struct{}

// WithEnded has a function receive the outcome of the guest's request of each call that is made with the context, success or failure.
func WithEnded(ctx context.Context, ended func(*sandbox.Result)) context.Context {
	return context.WithValue(ctx, endedKey{}, ended)
}

func endedIn(ctx context.Context) func(*sandbox.Result) {
	ended, _ := ctx.Value(endedKey{}).(func(*sandbox.Result))
	return ended
}

// attempts limits how often a call is made when its commit conflicts.
const attempts = 8

// Call calls a tool. Its writes are committed atomically with its answer.
func (f *Families) Call(ctx context.Context, t *catalogue.Tool, c Call) (Result, error) {
	x := t.Family
	if !c.AsOf.IsNow() && t.Mixed {
		c.Caller.Rights = c.Caller.Rights.ReadOnly()
	}
	m, release, err := f.catalogue.Acquire(ctx, x)
	if err != nil {
		return Result{}, err
	}
	defer release()
	effects := c.effects(f.spaceFor(c.Caller, x))
	ctx = effect.With(ctx, effects)
	c.Caller.Family, c.Caller.Call = x.Name, cmp.Or(c.Caller.Call, c.RequestID)
	result, err := f.callAgain(ctx, t, m, c)
	if err != nil && effects.Count() > 0 {
		f.o.Logger.Warn("a call failed after it had sent something", "tool", t.Name, "sent", effects.List(), "error", err)
	}
	result.Notes = append(result.Notes, effects.Withheld()...)
	return result, effects.Failed(ctx, err)
}

// effects returns the record of a call's effects; in a dry run, none happen.
func (c Call) effects(space *memory.Access) *effect.Ledger {
	if c.DryRun {
		return effect.Rehearse()
	}
	return space.Effects(memory.Write{RequestID: c.RequestID})
}

// callAgain retries a call until it is not overtaken, unless it had external effects: those would be repeated.
func (f *Families) callAgain(ctx context.Context, t *catalogue.Tool, m catalogue.Guest, c Call) (Result, error) {
	result, err := f.callOnce(ctx, t, m, c)
	if !mayRepeat(ctx, err) {
		return result, err
	}
	done, alone := t.Family.Alone(ctx) // calls overtaken together would overtake each other again
	if !alone {
		return result, err
	}
	defer done()
	for attempt := 2; attempt <= attempts && mayRepeat(ctx, err) && ctx.Err() == nil; attempt++ {
		result, err = f.callOnce(ctx, t, m, c)
	}
	return result, err
}

// mayRepeat reports whether a failed call may be retried automatically.
func mayRepeat(ctx context.Context, err error) bool {
	return errors.As(err, new(overtakenError)) && effect.Of(ctx).Count() == 0
}

// overtakenError means that others changed the basis of a call before it could commit.
type overtakenError struct{ error }

func (o overtakenError) Unwrap() error { return o.error }

// orOvertaken tells a commit conflict from a conflict that a guest reports, and from a reused request id.
func orOvertaken(ctx context.Context, t *catalogue.Tool, err error) error {
	var known *memory.Error
	if !errors.As(err, &known) || known.Code != memory.Conflict || errors.Is(err, memory.ErrRequestReused) {
		return err
	}
	message := fmt.Sprintf("others changed what %s read or wrote, again and again while it ran; nothing was kept: try again", t.Name)
	if effect.Of(ctx).Count() > 0 {
		message = fmt.Sprintf("others changed what %s read or wrote while it ran", t.Name)
	}
	return overtakenError{&memory.Error{Code: memory.Conflict, Retryable: true, Details: known.Details, Message: message}}
}

func (f *Families) callOnce(ctx context.Context, t *catalogue.Tool, m catalogue.Guest, c Call) (Result, error) {
	space := f.spaceFor(c.Caller, t.Family)
	commit := memory.Commit{Write: memory.Write{RequestID: c.RequestID}, Operation: "tool " + t.Name}
	if c.RequestID != "" {
		commit.Content = c.content()
		if answer, version, err := space.Answered(ctx, commit); version != 0 || err != nil {
			return repetition(t.WithVersion(answer, version)), err
		}
	}
	if err := effect.Of(ctx).Earlier(ctx); err != nil {
		return Result{}, err
	}
	stage, err := space.StageAt(ctx, c.Branch, c.AsOf)
	if err != nil {
		return Result{}, err
	}
	w := f.newRequest(t.Family, registry.Calls, stage, forTool(c.Caller, t), cmp.Or(c.Namespace, memory.Default), c.RequestID)
	held := space.Caller().Rights
	w.Held, w.offered, w.DryRun, w.Progress, w.ended = &held, c.Caller.Rights, c.DryRun, c.Progress, endedIn(ctx)
	w.input, w.log = mayAsk(w.Powers, c.Input), c.Log
	if err := w.gather(ctx); err != nil {
		return Result{}, asMemory(err)
	}
	output, err := w.callTool(ctx, m, t, c.Arguments)
	if err != nil || c.DryRun {
		return Result{Output: output, Notes: w.rehearsed()}, err
	}
	commit.Answer, commit.KeepAnswer = w.Keepable(output), effect.Of(ctx).Noted()
	return w.commit(ctx, space, t, output, commit)
}

// forTool returns the caller that a tool acts for: a tool declared read-only cannot write. Clients trust the declaration,
// and may not ask their users.
func forTool(c memory.Caller, t *catalogue.Tool) memory.Caller {
	if t.OnlyReads() {
		c.Rights = c.Rights.ReadOnly()
	}
	return c
}

// spaceFor returns the space as a family uses it for a caller.
func (f *Families) spaceFor(c memory.Caller, x *catalogue.Family) *memory.Access {
	c.Family = x.Name
	return f.o.Space.As(c)
}

// ownSpace returns the space as a family uses it for itself.
func (f *Families) ownSpace(x *catalogue.Family) *memory.Access {
	return f.spaceFor(ops.OwnCaller(x.Name), x)
}

// content returns the whole request as JSON.
func (c Call) content() json.RawMessage {
	data, err := json.Marshal(struct {
		Location  memory.Location `json:"place"`
		Arguments json.RawMessage `json:"arguments"`
	}{c.Location, c.Arguments})
	if err != nil { // unreachable: arguments are valid JSON
		return c.Arguments
	}
	return data
}

// callTool asks the guest for a tool's result, and validates it.
func (w *request) callTool(ctx context.Context, m catalogue.Guest, t *catalogue.Tool, arguments json.RawMessage) (json.RawMessage, error) {
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(abi.ToolRequest{Tool: t.Name, Arguments: arguments, Config: config, Input: w.input, Context: w.Context()})
	if err != nil {
		return nil, fmt.Errorf("call %s: %w", t.Name, err)
	}
	w.work = "tool " + t.Name
	output, err := w.ask(ctx, m, abi.KindTool, request)
	if err != nil {
		return nil, asks(w.Powers, w.input, t, err)
	}
	if err := t.CheckOutput(output); err != nil {
		wrong := &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("the answer of %s does not match its output_schema, so nothing of it was kept: %v", t.Name, err),
			Details: map[string]any{"family": w.family.Name, "class": string(abi.ClassAnswer)}}
		w.families.troubles.add(w.family.Name, string(abi.ClassAnswer), wrong, w.families.o.Clock())
		w.families.insight.publish(Event{At: w.families.o.Clock(), Family: w.family.Name, Kind: EventLine, What: w.work, Text: cut(wrong.Message)})
		return nil, wrong
	}
	return output, nil
}

// ask sends a request to the guest. A failure that the guest reports is an error its caller can act on.
func (w *request) ask(ctx context.Context, m catalogue.Guest, kind abi.Kind, request []byte) ([]byte, error) {
	limits := grants.Limits(w.families.catalogue.GrantOf(w.family))
	result, err := w.call(ctx, m, sandbox.Request{Kind: kind, Payload: request, Limits: limits})
	if err != nil {
		return nil, asMemory(err)
	}
	if w.ended != nil {
		w.ended(result)
	}
	return w.outcome(result)
}

// outcome returns a guest's answer, or an error that names the family.
func (w *request) outcome(result *sandbox.Result) ([]byte, error) {
	output, err := w.answer(result)
	var failed *memory.Error
	if errors.As(err, &failed) && result.Class != abi.ClassError {
		failed.Message = fmt.Sprintf("family %s failed, and nothing of it was kept: %s", w.family.Name, failed.Message)
	}
	return output, err
}

// answer returns a guest's answer, or why there is none.
func (w *request) answer(result *sandbox.Result) ([]byte, error) {
	if result.Class == abi.ClassOK {
		return result.Output, nil
	}
	if result.Class != abi.ClassError && result.Error != nil {
		w.families.troubles.add(w.family.Name, string(result.Class), result.Error, w.families.o.Clock())
	}
	result.Trace = w.family.NameTrace(result.Trace)
	level, message := slog.LevelWarn, "a family failed"
	if result.Class == abi.ClassError { // what a caller asked for was wrong, or is not there
		level, message = slog.LevelDebug, "a family answered with an error"
	}
	w.families.o.Logger.Log(context.Background(), level, message, "family", w.family.Name, "class", result.Class, "error", result.Error, "trace", result.Trace)
	return nil, w.failure(result)
}

// failure returns the error of a request without an answer; that of a guest's failure is a copy.
func (w *request) failure(r *sandbox.Result) error {
	e := asMemory(r.Error)
	var known *memory.Error
	if errors.As(e, &known) && r.Class != abi.ClassError {
		failed := *known
		failed.Details = map[string]any{"family": w.family.Name, "class": string(r.Class)}
		for name, value := range known.Details {
			failed.Details[name] = value
		}
		if failed.Code == memory.Internal {
			failed.Code = memory.Unavailable // the family's fault, not the server's: its caller may see it
		}
		return &failed
	}
	return e
}

// asMemory converts an error of the ABI to one of package memory.
func asMemory(err error) error {
	var e *abi.Error
	if !errors.As(err, &e) {
		return err
	}
	code := memory.Code(e.Code)
	if code == memory.Internal {
		code = memory.Unavailable
	}
	return &memory.Error{Code: code, Message: e.Message, Retryable: e.Retryable, Details: e.Details}
}

// commit writes what was staged: directly where the family may write, or as a proposal where it may only propose.
func (w *request) commit(ctx context.Context, space *memory.Access, t *catalogue.Tool, output json.RawMessage, c memory.Commit) (Result, error) {
	result := Result{Notes: w.notes}
	w.propose(&c)
	c.Note = func(note string) { result.Notes = append(result.Notes, note) }
	done, err := w.commitStage(ctx, c)
	if err != nil {
		return Result{}, orOvertaken(ctx, t, err)
	}
	if done.Replayed {
		answer, version, err := space.Answered(ctx, c)
		if err == nil {
			answer = t.WithVersion(answer, version)
		}
		return repetition(answer), orOvertaken(ctx, t, err)
	}
	result.Version, result.Output = done.Version, t.WithVersion(output, done.Version)
	if done.Version != 0 && done.Branch != w.Stage.Branch() { // by the family, or by a hook
		result.Proposal = done.Branch
		result.Notes = append(result.Notes, fmt.Sprintf("what it changes is proposed on branch %s: compare it with memory_branch action=diff, then merge it or delete it; "+
			"if it waits for an approver, memory_pending_reject withdraws it", done.Branch))
	}
	notes, err := w.Finish(ctx) // its conflicts are not repeated: what was staged is committed
	if err != nil {
		return Result{}, asMemory(err)
	}
	result.Notes = append(result.Notes, notes...)
	return result, nil
}

// repetition returns the result of a request that was carried out before, with its answer.
func repetition(answer json.RawMessage) Result {
	return Result{Output: answer, Notes: []string{"this request was carried out before; nothing was done again"}}
}

// rehearsed returns the notes of a dry run.
func (w *request) rehearsed() []string {
	if !w.Proposes() {
		return w.notes
	}
	where := "a branch of its own"
	if open := w.Stage.Continues(); open != "" {
		where = "branch " + open
	}
	return append(w.notes, "what it changes would be proposed on "+where)
}

// gatherer is for whom a family's proposals of this request gather: another caller, or another key of the same, may have other rights, and
// is shown nothing of what waits for a decision.
func (w *request) gatherer() memory.Gatherer {
	return memory.Gatherer{Family: w.family.Name, Agent: w.Caller.AsMember(), Key: w.Caller.Key}
}

// gather has a request that may only propose go on with what it proposed before and nobody has decided about.
func (w *request) gather(ctx context.Context) error {
	if !w.Powers.Has(abi.CanMemoryPropose) || w.Powers.Has(abi.CanMemoryWrite) {
		return nil
	}
	return w.Stage.Continue(ctx, w.gatherer())
}

// propose has a commit go to a proposal, unless the request may make all its changes.
func (w *request) propose(c *memory.Commit) {
	if w.Proposes() {
		c.Proposal = cmp.Or(w.Stage.Continues(), w.families.proposalName(w.family.Name, w.Stage.Now()))
		c.Gathers = w.gatherer()
	}
}

// proposalName returns a name for a branch of a family's proposed changes.
func (f *Families) proposalName(family string, now time.Time) string {
	return fmt.Sprintf("%s%s/%s-%s", memory.Proposals, family, now.UTC().Format("20060102-150405"), f.o.Rand())
}
