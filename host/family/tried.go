package family

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// Trial is one request to a module that is not installed, for its author. Nothing of it is kept.
type Trial struct {
	Module []byte
	Tool   string
	// Hook is asked instead of a tool, with Arguments as the members of its request: store, stored, merged, session_end or job.
	Hook      abi.Hook
	Job       string // of the job hook
	Arguments json.RawMessage
	memory.Location
	Caller memory.Caller
	Ended  func(*sandbox.Result)
}

// Try makes a request in a dry run, on the data that there is. The module has what its manifest asks for, but nothing that reaches
// outside, and memory.write only if it asks for no proposals.
func (f *Families) Try(ctx context.Context, t Trial) (Result, error) {
	if f.Locked() {
		return Result{}, &memory.Error{Code: memory.Denied, Message: "only families in the lock file run here (--locked): try the module without --on-data, or on another server"}
	}
	b := f.modules.Hash(t.Module)
	report, err := b.Check(sandbox.Options{})
	if err != nil {
		return Result{}, err
	}
	x := catalogue.Checked(grants.Tried, report, b)
	if err := x.Declared.Check(); err != nil {
		return Result{}, &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	m, err := f.catalogue.Admit(ctx, x)
	if err != nil {
		return Result{}, err
	}
	defer m.Close()
	return f.try(ctx, x, m, t)
}

// TryHook asks a hook of a family that is known, in a dry run.
func (f *Families) TryHook(ctx context.Context, name string, t Trial) (Result, error) {
	x, err := f.catalogue.Named(name)
	if err != nil {
		return Result{}, err
	}
	m, release, err := f.catalogue.Acquire(ctx, x)
	if err != nil {
		return Result{}, err
	}
	defer release()
	return f.try(ctx, x, m, t)
}

func (f *Families) try(ctx context.Context, x *catalogue.Family, m catalogue.Guest, t Trial) (Result, error) {
	ctx = effect.With(ctx, effect.Rehearse())
	if t.Hook != "" {
		return f.tryHook(ctx, x, m, t)
	}
	for _, tool := range x.Tools() {
		if tool.Name != t.Tool {
			continue
		}
		p, err := f.o.Callable.Read(tool.Tool, t.Arguments)
		if err != nil {
			return Result{}, err
		}
		result, err := f.callOnce(WithEnded(ctx, t.Ended), tool, m, Call{Arguments: p.Arguments, Location: t.Location, Caller: t.Caller, DryRun: true})
		result.Notes = append(p.Notes, result.Notes...)
		return result, err
	}
	return Result{}, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("family %s has no tool %.80q", x.Name, t.Tool)}
}

// tryHook asks a hook, whose answer is the result.
func (f *Families) tryHook(ctx context.Context, x *catalogue.Family, m catalogue.Guest, t Trial) (Result, error) {
	if t.Hook == abi.HookRank || t.Hook == abi.HookEmbed {
		return Result{}, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("hook %s is not asked in JSON: install the family, turn the hook on and search", t.Hook)}
	}
	if !grants.Has(x.Manifest.Hooks, t.Hook) {
		return Result{}, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s has no hook %.80s", x.Name, t.Hook)}
	}
	var request abi.HookRequest
	if err := json.Unmarshal(t.Arguments, &request); err != nil && t.Hook != abi.HookJob {
		return Result{}, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(`read the request of hook %s, as {"entries": [{"key": "a", "value": "text"}]}: %v`, t.Hook, err)}
	}
	if t.Hook == abi.HookJob {
		request = abi.HookRequest{Job: t.Job, Payload: t.Arguments}
	}
	stage, err := f.spaceFor(t.Caller, x).Stage(ctx, t.Branch)
	if err != nil {
		return Result{}, err
	}
	w := f.newRequest(x, workOf(t.Hook), stage, t.Caller, t.Namespace, "")
	w.DryRun, w.ended, w.work = true, t.Ended, "hook "+string(t.Hook)
	config, err := w.configJSON(ctx)
	if err != nil {
		return Result{}, err
	}
	request.Hook, request.Config, request.Context = t.Hook, config, w.Context()
	payload, err := json.Marshal(request)
	if err != nil {
		return Result{}, fmt.Errorf("ask hook %s: %w", t.Hook, err)
	}
	output, err := w.ask(ctx, m, abi.KindHook, payload)
	if len(output) == 0 {
		output = []byte("null")
	}
	return Result{Output: output, Notes: w.rehearsed()}, err
}

// TrialRequest is a Trial as an operator sends it.
type TrialRequest struct {
	Module    []byte          `json:"module"`
	Tool      string          `json:"tool,omitempty"`
	Hook      abi.Hook        `json:"hook,omitempty"`
	Job       string          `json:"job,omitempty"`
	Arguments json.RawMessage `json:"arguments"`
	Branch    string          `json:"branch,omitempty"`
	Namespace string          `json:"namespace,omitempty"`
}

// TrialAnswer is what became of it.
type TrialAnswer struct {
	Result *sandbox.Result `json:"result"` // nil: the guest was not asked
	Notes  []string        `json:"notes,omitempty"`
}

// Rehearse carries out an operator's trial. A failure of the guest is part of the answer.
func (f *Families) Rehearse(ctx context.Context, r TrialRequest) (a TrialAnswer, err error) {
	t := Trial{Module: r.Module, Tool: r.Tool, Hook: r.Hook, Job: r.Job, Arguments: r.Arguments, Location: memory.Location{Branch: r.Branch, Namespace: r.Namespace}}
	t.Caller, t.Ended = memory.Caller{Agent: "operator", Rights: memory.FullRights()}, func(r *sandbox.Result) { a.Result = r }
	result, err := f.Try(ctx, t)
	if a.Notes = result.Notes; err == nil {
		a.Result.Output = result.Output
	}
	return a.Of(err)
}

// Of is the answer with an error that came of it, where the guest was asked.
func (a TrialAnswer) Of(err error) (TrialAnswer, error) {
	known, ok := asMemory(err).(*memory.Error)
	if err == nil || !ok || a.Result == nil {
		return a, err
	}
	if a.Result.Class == abi.ClassOK { // its answer, or what it staged, would not do
		a.Result.Class = abi.ClassAnswer
		a.Result.Error = &abi.Error{Code: abi.Code(known.Code), Message: known.Message, Retryable: known.Retryable}
	}
	return a, nil
}
