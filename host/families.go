package host

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/admin"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/mcp"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/outbound"
	"github.com/alcove-memory/alcove/host/policy"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// modules is where compiled modules are kept, in a data directory.
const modules = "modules"

// openFamilies makes families ready to be called. A directory that cannot be written has none, and goes on without.
func (h *Host) openFamilies(ctx context.Context) error {
	if h.readOnly {
		return nil
	}
	box, err := sandbox.New(sandbox.Config{Dir: filepath.Join(h.options.Dir, modules), Log: h.options.Logger, Compiler: h.options.Compiler})
	if err != nil {
		h.options.Logger.Warn("going on without tool families", "error", err)
		return nil
	}
	h.closeLater("the sandbox", box.Close)
	outside := h.options.Outside
	if outside == nil {
		outside = outbound.New()
	}
	families, err := family.New(ctx, family.Options{
		Space: h.space, Sandbox: box, Dir: h.options.Dir, Built: h.options.Families, Watch: h.options.FamiliesDir, Locked: h.options.Locked, ReadOnly: h.options.ReadOnly,
		Clock: h.options.Clock, Logger: h.options.Logger, Outside: outside, Embedder: forFamilies{h.embedders.keeper},
	})
	if err != nil {
		return err
	}
	h.families = families
	h.embedders.families.Store(families)
	h.closeLater("the families", families.Close)
	h.space.SetHooks(families)
	return nil
}

// familyTools are the families as clients see them.
type familyTools struct {
	*family.Families
}

func (f familyTools) All() []mcp.Family { return forClients(f.Families.All()) }

// forClients are families as clients see them, without those whose names clients know others by.
func forClients(all []family.Described) []mcp.Family {
	var list []mcp.Family
	for _, d := range all {
		if d.Hidden || family.IsReserved(d.Manifest.Name) {
			continue
		}
		list = append(list, familyOf(d))
	}
	return list
}

func familyOf(d family.Described) mcp.Family {
	m := d.Manifest
	out := mcp.Family{Name: m.Name, Version: m.Version, Digest: d.Digest, Description: m.Description, Docs: m.Docs, Loaded: d.Loaded, Fault: d.Fault}
	for _, t := range append(slices.Clone(m.Tools), d.Published...) {
		out.Tools = append(out.Tools, familyTool(t))
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

// familyTool is a tool of a manifest. A hint that is not given is the one that is true of the most careless tool.
func familyTool(t abi.Tool) mcp.FamilyTool {
	hint := func(given *bool, otherwise bool) bool {
		if given == nil {
			return otherwise
		}
		return *given
	}
	a := t.Annotations
	return mcp.FamilyTool{Name: t.Name, Description: t.Description, Docs: t.Docs, Input: t.InputSchema, Output: t.OutputSchema, Title: a.Title,
		ReadOnly: hint(a.ReadOnly, false), Destructive: hint(a.Destructive, true), Idempotent: hint(a.Idempotent, false), OpenWorld: hint(a.OpenWorld, true)}
}

func (f familyTools) Call(ctx context.Context, c mcp.FamilyCall) (mcp.FamilyResult, error) {
	r, err := f.Families.Call(ctx, family.Call{
		Tool: c.Tool, Arguments: c.Arguments, Place: memory.Place{Branch: c.Branch, Namespace: c.Namespace}, RequestID: c.RequestID,
		Caller: policy.Caller{Agent: c.Agent, ReadOnly: c.ReadOnly}, DryRun: c.DryRun, Progress: c.Progress,
	})
	return mcp.FamilyResult{Output: r.Output, Version: r.Version, Proposal: r.Proposal, Notes: r.Notes}, err
}

// What the command line says of families, and is answered.
type (
	Family           = family.Described
	FamilyGrant      = family.GrantRequest
	FamilyJob        = family.Job
	FamilyUse        = family.Use
	FamilyModule     = family.Module
	FamilyEndpoint   = registry.Endpoint
	FamilyOn         = registry.On
	FamilyCapability = registry.Capability
	FamilyRemoved    = family.Removed
)

// CheckFamilyNames refuses a family whose names resemble those of the program, or of the families that it carries, unless it is
// one of those.
func CheckFamilyNames(m *abi.Manifest, digest string, carried []FamilyModule) error {
	return family.CheckNames(m, digest, carried)
}

// InstallRequest has a module to install.
type InstallRequest struct {
	Module []byte `json:"module"`
}

// FamilyName says which family is meant.
type FamilyName struct {
	Family string `json:"family"`
}

// ConfigureRequest changes a family's configuration: null goes back to the default. Without values it is only read.
type ConfigureRequest struct {
	Family string                     `json:"family"`
	Values map[string]json.RawMessage `json:"values,omitempty"`
}

// EndpointRequest names a server outside; without one the name is forgotten.
type EndpointRequest struct {
	Name     string             `json:"name"`
	Endpoint *registry.Endpoint `json:"endpoint,omitempty"`
}

// familyActs are what operators can ask for about families.
func (h *Host) familyActs() map[string]admin.Act {
	if h.families == nil {
		return nil
	}
	f := h.families
	return map[string]admin.Act{
		"family-uses":    func(ctx context.Context, _ json.RawMessage) (any, error) { return f.Uses(ctx) },
		"families":       func(context.Context, json.RawMessage) (any, error) { return f.Show(), nil },
		"family-states":  func(context.Context, json.RawMessage) (any, error) { return f.All(), nil }, // which is no look at what is granted
		"family-install": act(func(_ context.Context, r InstallRequest) (any, error) { return f.Install(r.Module) }),
		"family-remove":  act(func(_ context.Context, r FamilyName) (any, error) { return f.Remove(r.Family) }),
		"family-grant":   act(func(_ context.Context, r FamilyGrant) (any, error) { return f.Grant(r) }),
		"family-configure": act(func(ctx context.Context, r ConfigureRequest) (any, error) {
			return f.Configure(ctx, r.Family, r.Values)
		}),
		"family-jobs": func(ctx context.Context, _ json.RawMessage) (any, error) { return f.Jobs(ctx) },
		"endpoints":   func(context.Context, json.RawMessage) (any, error) { return f.Endpoints(), nil },
		"endpoint-set": act(func(_ context.Context, r EndpointRequest) (any, error) {
			return struct{}{}, f.SetEndpoint(r.Name, r.Endpoint)
		}),
	}
}
