package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Retention prunes what was archived for longer than the retention_days of the namespace's scope. A scope without them keeps it.
//
//alcove:job retention every=1d each=namespace
//alcove:description Prunes what was archived for longer than its scope keeps it
type Retention struct {
	alcove.Sweep
}

// Run looks at the next archived memories, those that were archived first.
func (j Retention) Run(c *alcove.Call) (alcove.Swept, error) {
	scope, err := c.ScopeGet(alcove.ScopeGetRequest{})
	if code := alcove.CodeOf(err); code == alcove.NotFound || code == alcove.Denied || err == nil && scope.Scope.RetentionDays <= 0 {
		return alcove.Swept{}, nil
	}
	if err != nil {
		return alcove.Swept{}, err
	}
	known, err := waiting(c)
	if err != nil {
		return alcove.Swept{}, err
	}
	limit := instant(before(c.Time(), float64(scope.Scope.RetentionDays)))
	list := alcove.MemoryListRequest{Limit: sweepSize}
	swept, err := alcove.SweepMemories(c, &j, list, func(memories []alcove.Memory) (int, error) { return prune(c, memories, limit, known) })
	if err == nil && swept.Next == "" && swept.Changed > 0 {
		err = emit(c, "lifecycle_run", alcove.ID{}, changes{Job: "retention", Count: swept.Changed})
	}
	return swept, err
}

// prune prunes those of some memories that were archived before an instant, but none whose change is proposed already, and tells how many.
func prune(c *alcove.Call, memories []alcove.Memory, limit alcove.Time, waiting map[string]bool) (count int, err error) {
	for i := range memories {
		m := &memories[i]
		at := instant(note(m).At)
		if at == 0 {
			at = m.Time()
		}
		if m.State != archived || at >= limit || pinned(m) || waiting[m.Key] {
			continue
		}
		if err := put(c, m, pruned, "retention"); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}
