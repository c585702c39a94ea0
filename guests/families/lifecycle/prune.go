package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

// MarkFactsPruned takes memories out of search.
//
// Their text and history stay: memory_archive_restore makes them active again.
//
//alcove:camel
//alcove:title Prune memories
//alcove:description Take memories out of search for good; history stays.
//alcove:tool idempotent
type MarkFactsPruned struct {
	FactIDs []alcove.ID `alcove:"required,many"`
	Reason  string
}

type prunedFacts struct{ Pruned int }

// Call prunes them.
func (in MarkFactsPruned) Call(c *alcove.Call) (out prunedFacts, err error) {
	for _, id := range in.FactIDs {
		m, err := c.Memory(id)
		if err != nil {
			return out, err
		}
		if m.State == pruned {
			continue
		}
		if err := put(c, m, pruned, in.Reason); err != nil {
			return out, err
		}
		out.Pruned++
	}
	return out, nil
}

// put has a memory leave the active ones, and announces it.
func put(c *alcove.Call, m *alcove.Memory, state, reason string) error {
	p, err := leave(c, m, state, mark{Reason: reason})
	if err != nil {
		return err
	}
	if _, err := c.PatchMemories([]alcove.MemoryPatch{p}); err != nil {
		return err
	}
	return emit(c, "fact_"+state, m.ID(), changes{State: state, Reason: reason})
}
