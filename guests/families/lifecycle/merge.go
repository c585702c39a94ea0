package lifecycle

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// MarkFactsMerged marks memories as merged into another.
//
// They leave search and link to the target, which supersedes them. Their text and history stay.
//
//alcove:camel
//alcove:title Mark memories as merged
//alcove:description Mark memories as merged into another that stands for them.
//alcove:tool idempotent
type MarkFactsMerged struct {
	SourceFactIDs []alcove.ID `alcove:"required,many"`
	TargetFactID  alcove.ID   `alcove:"required"`
}

type mergedFacts struct{ Merged int }

// mostSupersedes is how many links and superseded keys a memory may have.
const mostSupersedes = 128

// Call merges them.
func (in MarkFactsMerged) Call(c *alcove.Call) (out mergedFacts, err error) {
	target, err := c.Memory(in.TargetFactID)
	if err != nil {
		return out, err
	}
	supersedes := slices.Clone(target.Supersedes)
	for _, id := range in.SourceFactIDs {
		m, err := c.Memory(id)
		if err != nil {
			return out, err
		}
		if m.ID() == target.ID() {
			return out, alcove.Errorf(alcove.InvalidArgument, "%s cannot be merged into itself", m.ID().String())
		}
		if m.State == merged && note(m).MergedInto == target.ID() {
			continue
		}
		if name := named(target.Namespace, m.ID()); !slices.Contains(supersedes, name) {
			supersedes = append(supersedes, name)
		}
		if err := merge(c, m, target.ID()); err != nil {
			return out, err
		}
		out.Merged++
	}
	if len(supersedes)+len(target.Links) > mostSupersedes {
		return out, alcove.Errorf(alcove.Exhausted, "%s would have %d links and superseded memories: at most %d are allowed", target.ID().String(), len(supersedes)+len(target.Links), mostSupersedes)
	}
	if out.Merged == 0 {
		return out, nil
	}
	_, err = c.PatchMemories([]alcove.MemoryPatch{{Key: target.Key, Namespace: target.Namespace, Supersedes: supersedes, IfVersion: &target.Version}})
	return out, err
}

// merge has a memory be merged into another.
func merge(c *alcove.Call, m *alcove.Memory, into alcove.ID) error {
	p, err := leave(c, m, merged, mark{Reason: merged, MergedInto: into})
	if err != nil {
		return err
	}
	if _, err := c.PatchMemories([]alcove.MemoryPatch{p}); err != nil {
		return err
	}
	if _, err := c.LinkAdd(alcove.LinkAddRequest{Key: m.Key, Namespace: m.Namespace, To: []string{named(m.Namespace, into)}}); err != nil {
		return err
	}
	return emit(c, "fact_merged", m.ID(), changes{State: merged, Into: into})
}

// named is an id as memories of a namespace name it.
func named(namespace string, id alcove.ID) string {
	if id.Namespace == namespace {
		return id.Key
	}
	return id.String()
}
