package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Prune takes stale facts out of searches; it previews them unless dryRun is false. Their history stays.
//
//alcove:description Deprecated: use memory_list_stale_facts and memory_mark_facts_pruned.
//alcove:tool destructive
//alcove:title Prune stale facts
//alcove:camel
type Prune struct {
	OlderThanDays float64 `alcove:"default=90,min=0"`
	Limit         int     `alcove:"default=100,min=1,max=1000"`
	DryRun        bool    `alcove:"default=true"`
}

// Pruned is what was pruned, or would be.
//
//alcove:camel
type Pruned struct {
	Pruned        int
	PrunedFactIDs []string `json:"prunedFactIds"`
	DryRun        bool
	notice
}

// stale is what memory_list_stale_facts answers.
//
//alcove:json
type stale struct{ Facts []fact }

// Call prunes them.
func (in Prune) Call(c *alcove.Call) (out Pruned, err error) {
	out.notice, out.DryRun = replacedBySuccessors("memory_prune"), in.DryRun
	var s stale
	if err := c.CallTool("memory_list_stale_facts", map[string]any{"olderThanDays": in.OlderThanDays, "limit": in.Limit}, &s); err != nil {
		return out, err
	}
	for _, f := range s.Facts {
		out.PrunedFactIDs = append(out.PrunedFactIDs, f.FactID.String())
	}
	out.Pruned = len(out.PrunedFactIDs)
	if in.DryRun || out.Pruned == 0 {
		return out, nil
	}
	arguments := given{"reason": "memory_prune"}.texts("factIds", out.PrunedFactIDs)
	return out, c.CallTool("memory_mark_facts_pruned", map[string]any(arguments), nil)
}
