package host

import (
	"context"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/mcp"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

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
		Caller: caller(c), DryRun: c.DryRun, Progress: c.Progress,
	})
	return mcp.FamilyResult{Output: r.Output, Version: r.Version, Proposal: r.Proposal, Notes: r.Notes}, err
}

// caller is whose call it is.
func caller(c mcp.FamilyCall) memory.Caller {
	rights := memory.FullRights()
	if c.ReadOnly {
		rights = rights.ReadOnly()
	}
	return memory.Caller{Agent: c.Agent, Rights: rights}
}

// FamilyModule is a family that the program carries.
type FamilyModule = family.Module

// CheckFamilyNames refuses a family whose names resemble those of the program, or of the families that it carries, unless it is
// one of those.
func CheckFamilyNames(m *abi.Manifest, digest string, carried []FamilyModule) error {
	return family.CheckNames(m, digest, carried)
}
