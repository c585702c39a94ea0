// Package families offers tool families to the registry of tools, and tools to families.
package families

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
	"github.com/alcove-memory/alcove/registry"
)

// Source are the families as a source of tools, without those whose names clients know others by.
type Source struct{ families *family.Proxy }

// New returns the tools of families.
func New(f *family.Proxy) Source { return Source{f} }

// Families implements tool.Source.
func (f Source) Families() []tool.Family { return f.shown(f.families.All()) }

// Changed implements tool.Source.
func (f Source) Changed() <-chan struct{} { return f.families.Changed() }

// Load implements tool.Source.
func (f Source) Load(ctx context.Context, name string) error { return f.families.Load(ctx, name) }

func (f Source) shown(all []catalogue.Described) []tool.Family {
	var list []tool.Family
	for _, d := range all {
		if !d.Hidden && !naming.IsReserved(d.Manifest.Name) {
			list = append(list, f.family(d))
		}
	}
	return list
}

// Meaning implements core.Options.Meaning by the settings that the family settings declares. Without that family searches are as is usual.
func (f Source) Meaning(ctx context.Context, namespace, agent string) (m core.Meaning, err error) {
	const enabled, method, threshold = "semantic_enabled", "semantic_method", "semantic_threshold"
	values, err := f.families.ValuesOf(ctx, "settings", namespace, agent)
	if err != nil {
		return m, err
	}
	m.Off = string(values[enabled]) == "false" || string(values[method]) == `"lexical"`
	if least := values[threshold]; len(least) > 0 {
		err = json.Unmarshal(least, &m.Least)
	}
	return m, err
}

func (f Source) family(d catalogue.Described) tool.Family {
	m := d.Manifest
	out := tool.Family{Name: m.Name, Version: m.Version, Digest: d.Digest, Description: m.Description, Docs: m.Docs, Keywords: m.Keywords, Examples: m.Examples, Deprecated: m.Deprecated, Loaded: d.Loaded, Fault: d.Fault}
	out.Resources, out.Prompts = resources(m), prompts(m)
	for i, t := range d.Tools {
		s := spec(m.Name, t.Tool)
		s.Generated, s.Origin = i >= len(m.Tools), t
		s.Asks, s.Headers = asks(m), bytes.Contains(t.InputSchema, []byte("x-mcp-header"))
		s.Handler = f.handler(s, t)
		out.Tools = append(out.Tools, s)
	}
	for hook := range d.Grant.Hooks {
		out.Hooks = append(out.Hooks, string(hook))
	}
	if d.Guard != nil && d.Guard.Missing == "" && !slices.Contains(out.Hooks, string(abi.HookStore)) { // another version of it
		out.Hooks = append(out.Hooks, string(abi.HookStore))
	}
	slices.Sort(out.Hooks)
	for _, asked := range m.Capabilities {
		if !slices.ContainsFunc(d.Grant.Capabilities, func(c registry.Capability) bool { return c.Name == asked.Name }) {
			out.Needs = append(out.Needs, string(asked.Name))
		}
	}
	return out
}

// spec is a tool of a manifest. An annotation that is not given is the one that is true of the most careless tool.
func spec(name string, t abi.Tool) tool.Spec {
	hint := func(given *bool, otherwise bool) bool {
		if given == nil {
			return otherwise
		}
		return *given
	}
	a := t.Annotations
	s := tool.Spec{Name: t.Name, Family: name, Description: t.Description, Docs: t.Docs, Input: t.InputSchema, Output: t.OutputSchema, Title: a.Title,
		Annotations: tool.Annotations{ReadOnly: hint(a.ReadOnly, false), Destructive: hint(a.Destructive, true), Idempotent: hint(a.Idempotent, false), OpenWorld: hint(a.OpenWorld, true), Mixed: t.Mixed}}
	s.Content, s.Unlisted, s.Task = t.Content, t.Unlisted, tool.Task(t.Task)
	s.Parameters, s.Presets = t.Parameters, map[string]map[string]json.RawMessage{}
	for _, alias := range t.Aliases {
		s.Aliases, s.Presets[alias.Name] = append(s.Aliases, alias.Name), alias.Arguments
	}
	return s
}

func (f Source) handler(s tool.Spec, t *catalogue.Tool) tool.Handler {
	return func(ctx context.Context, c *tool.Call) (tool.Answer, error) {
		r, err := f.families.Families().Call(ctx, t, family.Call{
			Arguments: c.JSON, Location: c.Location(), RequestID: c.RequestID, Caller: c.Caller, DryRun: c.DryRun, AsOf: c.AsOf, Progress: c.Progress,
			Input: input(c.Client), Log: logOf(c.Client),
		})
		return s.Answer(tool.Result{Output: r.Output, Version: r.Version, Proposal: r.Proposal, Notes: r.Notes}), err
	}
}

// asks reports whether tools of a family may ask the clients of their callers.
func asks(m *abi.Manifest) bool {
	return slices.ContainsFunc(m.Capabilities, func(r abi.Request) bool {
		return r.Name == abi.CanAskUser || r.Name == abi.CanAskModel || r.Name == abi.CanAskRoots
	})
}

// input returns what a client can be asked, as a family is told.
func input(c *tool.Client) *abi.Input {
	if c == nil {
		return nil
	}
	return &abi.Input{Can: append([]string{}, c.Can...), Answers: c.Answers, State: c.State}
}

func logOf(c *tool.Client) func(string) {
	if c == nil {
		return nil
	}
	return c.Log
}

// resources returns what a family offers to read.
func resources(m *abi.Manifest) (list []tool.Resource) {
	for _, r := range m.Resources {
		list = append(list, tool.Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIMEType,
			Variables: r.Variables(), Tool: r.Tool, List: r.List, Complete: r.Complete, Match: r.Match})
	}
	return list
}

func prompts(m *abi.Manifest) (list []tool.Prompt) {
	for _, p := range m.Prompts {
		list = append(list, tool.Prompt{Name: p.Name, Title: p.Title, Description: p.Description, Tool: p.Tool, Complete: p.Complete})
	}
	return list
}

// Callable are the tools that families can call. Their arguments are read as those of clients' calls.
type Callable struct{ dispatcher *tool.Dispatcher }

// NewCallable returns the tools that a dispatcher calls for families.
func NewCallable(d *tool.Dispatcher) Callable { return Callable{d} }

// Name implements family.Callable.
func (a Callable) Name(spelling string) string {
	if t, ok := a.dispatcher.Registry().Find(spelling); ok {
		return t.Name
	}
	return spelling
}

// Core implements family.Callable.
func (a Callable) Core() (list []abi.ForeignTool) {
	for _, t := range a.dispatcher.Registry().Core() {
		if t.Staged {
			list = append(list, abi.ForeignTool{Name: t.Name, Family: tool.CoreFamily, Description: t.Description, InputSchema: t.Input})
		}
	}
	return list
}

// IsCore implements family.Callable.
func (a Callable) IsCore(name string) bool {
	t, ok := a.dispatcher.Registry().Find(name)
	return ok && t.IsCore() && t.Staged && t.Name == name
}

// Offered implements family.Callable.
func (a Callable) Offered(rights memory.Rights) (list []abi.ForeignTool) {
	for _, t := range a.dispatcher.Registry().Offered(rights) {
		if t.Unlisted {
			continue
		}
		list = append(list, abi.ForeignTool{Name: t.Name, Family: cmp.Or(t.Family, tool.CoreFamily), Description: t.Description, InputSchema: t.Export().InputSchema})
	}
	return list
}

// CallCore implements family.Callable.
func (a Callable) CallCore(ctx context.Context, c family.ToolCall) (json.RawMessage, []string, error) {
	answer, err := a.dispatcher.Dispatch(ctx, tool.Request{
		Tool: c.Tool, Arguments: c.Arguments, Caller: c.Caller, Stage: c.Stage, Branch: c.Branch, Namespace: c.Namespace, DryRun: c.DryRun, Detail: tool.Full,
	})
	if err != nil {
		return nil, nil, err
	}
	result, err := tool.Encode(answer.Structured)
	return result, answer.Notes, err
}

// Prepare implements family.Callable.
func (a Callable) Prepare(c family.ToolCall) (family.Prepared, error) {
	r := tool.Request{Tool: c.Tool, Arguments: c.Arguments, Caller: c.Caller, Stage: c.Stage}
	t, err := a.dispatcher.Find(r)
	if err != nil {
		return family.Prepared{}, err
	}
	origin, ok := t.Origin.(*catalogue.Tool)
	if !ok {
		return family.Prepared{}, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no tool %q for families: use the host's operations", t.Name)}
	}
	r.Found = t
	_, p, err := a.dispatcher.Prepare(r)
	if err != nil {
		return family.Prepared{}, err
	}
	if p.Branch != "" || p.Namespace != "" || p.AsOf != "" || p.DryRun {
		return family.Prepared{}, &memory.Error{Code: memory.InvalidArgument, Message: c.Tool +
			" is called as part of the call that is running, on its branch and in its namespace: leave branch, namespace, as_of and dry_run out of the arguments"}
	}
	return family.Prepared{Tool: origin, Arguments: p.JSON, Notes: p.Notes()}, nil
}

// Read implements family.Callable.
func (a Callable) Read(t abi.Tool, arguments json.RawMessage) (family.Prepared, error) {
	p, err := tool.New(spec("", t)).Prepare(arguments)
	if err != nil {
		return family.Prepared{}, err
	}
	return family.Prepared{Arguments: p.JSON, Notes: p.Notes()}, nil
}

// CheckNames refuses a family whose names resemble those of the program, or of the families that it carries, unless it is
// one of those.
func CheckNames(m *abi.Manifest, digest string, carried []modules.Module) error {
	return naming.Check(m, digest, core.Names(), carried)
}

// Taken returns the names that a new family must not have: those of the program, of the families that it carries, and of those that
// are installed in a data directory, which is only read and may be missing. The names of one installed family are free: it is replaced.
func Taken(carried []modules.Module, dir, replaced string) (*naming.Taken, error) {
	installed, err := modules.ManifestsIn(dir)
	if err != nil {
		return nil, err
	}
	installed = slices.DeleteFunc(installed, func(m *abi.Manifest) bool { return m.Name == replaced })
	return naming.NewTaken(core.Names(), carried, installed)
}

// Listed returns a family's tool as lists show it to models.
func Listed(t abi.Tool) ([]byte, error) {
	schema, err := tool.ArgumentsSchema(t.InputSchema)
	if err != nil {
		return nil, fmt.Errorf("tool %s: %w", t.Name, err)
	}
	return json.Marshal(map[string]any{"name": t.Name, "description": t.Description, "inputSchema": schema})
}
