// Package trial runs families on data that is thrown away.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/author/seed"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool"
)

// Call is a call of a tool in a space that nobody needs.
type Call struct {
	Dir       string // of the space; the caller removes it
	Sandbox   *sandbox.Sandbox
	Module    []byte
	Tool      string // empty: the only one that there is
	Arguments json.RawMessage
	Hook      abi.Hook // asked instead of a tool
	Job       string   // of the job hook
	Seed      seed.Seed
	Config    map[string]json.RawMessage // beside the settings of Seed, which it overrides
	Limits    map[string]int64           // lower ones than the manifest asks for
	Driver    store.Driver               // of the space; nil: the default one
}

// Result is what became of it.
type Result struct {
	Result *sandbox.Result
	Notes  []string
}

// Run calls a tool with everything that its manifest asks for but what is outside. A module that is not admitted is a
// *sandbox.Refusal.
func Run(ctx context.Context, t Call) (tried Result, err error) {
	report, err := sandbox.Check(t.Module, sandbox.Options{})
	if err != nil {
		return Result{}, err
	}
	tool := ""
	if t.Hook == "" {
		if tool, err = onlyTool(report.Manifest, t.Tool); err != nil {
			return Result{}, err
		}
	}
	var closing space.Closers
	defer func() { err = errors.Join(err, closing.Close()) }()
	p, err := space.Open(ctx, space.Options{Dir: t.Dir, Driver: t.Driver}, space.Environment{Sandbox: t.Sandbox}, &closing)
	if err != nil {
		return Result{}, fmt.Errorf("open a space to throw away: %w", err)
	}
	families := p.Families
	if _, err := families.Install(t.Module); err != nil {
		return Result{}, err
	}
	if _, err := families.Grant(grants.Request{Family: report.Manifest.Name, All: true, Limits: t.Limits}); err != nil {
		return Result{}, err
	}
	settings := map[string]json.RawMessage{}
	maps.Copy(settings, t.Seed.Settings)
	maps.Copy(settings, t.Config)
	if len(settings) > 0 {
		if _, err := families.Configure(ctx, report.Manifest.Name, settings); err != nil {
			return Result{}, err
		}
	}
	if err := Fill(ctx, p.Memory, report.Manifest, t.Seed); err != nil {
		return Result{}, err
	}
	if t.Hook != "" {
		return callHook(ctx, families, report.Manifest.Name, t)
	}
	return call(ctx, p.Tools, tool, t.Arguments)
}

// callHook asks a hook of the family.
func callHook(ctx context.Context, families *family.Families, name string, t Call) (Result, error) {
	var a family.TrialAnswer
	r, err := families.TryHook(ctx, name, family.Trial{Hook: t.Hook, Job: t.Job, Arguments: t.Arguments, Caller: memory.Caller{Rights: memory.FullRights()}, Ended: func(r *sandbox.Result) { a.Result = r }})
	if err == nil {
		a.Result.Output = r.Output
	}
	a, err = a.Of(err)
	return Result{Result: a.Result, Notes: r.Notes}, err
}

// call makes the call, and gives what became of it the form of a request's end.
func call(ctx context.Context, tools *tool.Dispatcher, name string, arguments json.RawMessage) (Result, error) {
	var tried Result
	ctx = family.WithEnded(ctx, func(r *sandbox.Result) { tried.Result = r })
	a, err := tools.Dispatch(ctx, tool.Request{Tool: name, Arguments: arguments, Caller: memory.Caller{Rights: memory.FullRights()}})
	tried.Notes = a.Notes
	var failed *memory.Error
	switch {
	case err == nil:
		return tried, nil
	case !errors.As(err, &failed):
		return tried, err
	case tried.Result == nil: // the guest was not asked
		return tried, err
	case tried.Result.Class == abi.ClassOK: // its answer, or what it staged, would not do
		tried.Result.Class = abi.ClassAnswer
		tried.Result.Error = &abi.Error{Code: abi.Code(failed.Code), Message: failed.Message, Retryable: failed.Retryable}
	}
	return tried, nil
}

// onlyTool is the tool that is meant.
func onlyTool(m *abi.Manifest, name string) (string, error) {
	var names []string
	for _, t := range m.Tools {
		if t.Name == name {
			return name, nil
		}
		names = append(names, t.Name)
	}
	if name == "" && len(names) == 1 {
		return names[0], nil
	}
	if len(names) == 0 {
		return "", fmt.Errorf("family %s has no tools", m.Name)
	}
	if name == "" {
		return "", fmt.Errorf("say which tool of family %s: it has %s", m.Name, strings.Join(names, ", "))
	}
	return "", fmt.Errorf("family %s has no tool %.80q%s: it has %s", m.Name, name, meant(name, names), strings.Join(names, ", "))
}

// meant asks whether the tool was meant whose name differs least, in at most a third of its letters.
func meant(name string, names []string) string {
	const longest = 80 // bytes: what is longer is no misspelling
	best, least := "", len(name)/3+1
	for _, n := range names {
		if len(n) > longest || len(name) > longest {
			continue
		}
		if d := distance(name, n); d < least {
			best, least = n, d
		}
	}
	if best == "" {
		return ""
	}
	return " (did you mean " + best + "?)"
}

// distance is how many bytes have to be replaced, added or removed to make one text the other.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for i := range row {
		row[i] = i
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost = min(before, row[j], row[j+1]) + 1
			}
			before, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
