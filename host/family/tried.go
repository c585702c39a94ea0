package family

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

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
	// Hook is asked instead of a tool, with Arguments as the members of its request. Those of rank are query and candidates, objects of
	// features, and the answer is a list of scores; those of embed are texts and purpose, and the answer is a list of vectors.
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
	if !grants.Has(x.Manifest.Hooks, t.Hook) {
		return Result{}, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s has no hook %.80s", x.Name, t.Hook)}
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
	var output []byte
	switch t.Hook {
	case abi.HookRank:
		output, err = w.tryRank(ctx, m, config, t.Arguments)
	case abi.HookEmbed:
		output, err = w.tryEmbed(ctx, m, config, t.Arguments)
	default:
		output, err = w.tryNotice(ctx, m, config, t)
	}
	if len(output) == 0 {
		output = []byte("null")
	}
	return Result{Output: output, Notes: w.rehearsed()}, err
}

// tryNotice runs a job, or asks a hook that is told of entries, a merge or a session.
func (w *request) tryNotice(ctx context.Context, m catalogue.Guest, config json.RawMessage, t Trial) ([]byte, error) {
	var request abi.HookRequest
	if t.Hook == abi.HookJob {
		request = abi.HookRequest{Job: t.Job, Payload: t.Arguments}
	} else if err := json.Unmarshal(t.Arguments, &request); err != nil {
		return nil, notTried(`read the request of hook %s, as {"entries": [{"key": "a", "value": "text"}]}: %v`, t.Hook, err)
	}
	request.Hook, request.Config, request.Context = t.Hook, config, w.Context()
	payload, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("ask hook %s: %w", t.Hook, err)
	}
	return w.ask(ctx, m, abi.KindHook, payload)
}

// mostTriedCandidates bounds the candidates that a trial of a rank hook gives.
const mostTriedCandidates = 10_000

// tryRank asks the rank hook about candidates that are objects of their features. The result is a list of their scores.
func (w *request) tryRank(ctx context.Context, m catalogue.Guest, config, arguments json.RawMessage) (json.RawMessage, error) {
	var given struct {
		Query      string                `json:"query"`
		Candidates []map[string]*float32 `json:"candidates"`
	}
	if err := strictly(arguments, &given); err != nil {
		return nil, notTried(`read the request of hook rank, as {"query": "tea", "candidates": [{"score": 0.5}]}: %v`, err)
	}
	columns, err := columnsOf(w.family.Manifest.Hooks.Rank.Features, given.Candidates)
	if err != nil {
		return nil, err
	}
	about := w.Context()
	params, err := json.Marshal(abi.ScoreParams{Config: config, Now: about.Now, Query: given.Query, Context: about})
	if err != nil {
		return nil, fmt.Errorf("ask hook rank: %w", err)
	}
	output, err := w.ask(ctx, m, abi.KindScore, abi.AppendScoring(nil, abi.Scoring{Params: params, Candidates: len(given.Candidates), Columns: columns}))
	if err != nil {
		return nil, err
	}
	scores, err := abi.ParseScores(output, len(given.Candidates))
	if err != nil {
		return nil, &memory.Error{Code: memory.Internal, Message: fmt.Sprintf("family %s answered with scores that cannot be read: %v", w.family.Name, err)}
	}
	return json.Marshal(scores)
}

// columnsOf are the columns of candidates. A feature that a candidate lacks is missing.
func columnsOf(features []string, candidates []map[string]*float32) ([][]float32, error) {
	if len(candidates) > mostTriedCandidates {
		return nil, notTried("candidates has %d elements: at most %d are allowed", len(candidates), mostTriedCandidates)
	}
	for i, c := range candidates {
		for name := range c {
			if !slices.Contains(features, name) {
				return nil, notTried("candidate %d has a feature %.80q: those of the manifest are %s", i+1, name, strings.Join(features, ", "))
			}
		}
	}
	columns := make([][]float32, len(features))
	for f, name := range features {
		columns[f] = make([]float32, len(candidates))
		for i, c := range candidates {
			columns[f][i] = float32(math.NaN())
			if v := c[name]; v != nil {
				columns[f][i] = *v
			}
		}
	}
	return columns, nil
}

// tryEmbed asks the embed hook. The result is a list of vectors.
func (w *request) tryEmbed(ctx context.Context, m catalogue.Guest, config, arguments json.RawMessage) (json.RawMessage, error) {
	given := struct {
		Texts   []string `json:"texts"`
		Purpose string   `json:"purpose"`
	}{Purpose: "document"}
	if err := strictly(arguments, &given); err != nil {
		return nil, notTried(`read the request of hook embed, as {"texts": ["tea"], "purpose": "document"}: %v`, err)
	}
	if given.Purpose != "document" && given.Purpose != "query" {
		return nil, notTried("purpose is %.80q: give document or query", given.Purpose)
	}
	request, err := json.Marshal(abi.EmbedRequest{Texts: given.Texts, Purpose: given.Purpose, Config: config, Context: w.Context()})
	if err != nil {
		return nil, fmt.Errorf("ask hook embed: %w", err)
	}
	output, err := w.ask(ctx, m, abi.KindEmbed, request)
	if err != nil {
		return nil, err
	}
	vectors, err := abi.ParseVectors(output, len(given.Texts), w.family.Manifest.Hooks.Embed.Dimensions)
	if err != nil {
		return nil, &memory.Error{Code: memory.Internal, Message: fmt.Sprintf("family %s answered with vectors that cannot be read: %v", w.family.Name, err)}
	}
	return json.Marshal(vectors)
}

// notTried is the error of a request that cannot be made.
func notTried(format string, args ...any) error {
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}

// strictly reads one value without unknown members.
func strictly(data []byte, into any) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the value")
	}
	return nil
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
