package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

// GC archives what has expired.
//
// Before that, a memory of tier mid that was recalled promote_after_accesses times is kept without end, and one that was recalled since is kept
// for an hour (short) or a day (mid) from then. The time of the expiry stays in the metadata as expired_at. One call looks at 10,000 memories
// at most. With dry_run nothing changes.
//
//alcove:title Collect the expired
//alcove:description Archive what has expired.
//alcove:tool idempotent
type GC struct {
	DryRun  bool
	waiting map[string]bool // keys of memories that are not looked at: see waiting
}

type collected struct {
	Archived  int
	Promoted  int  `json:"promoted,omitzero"`
	Extended  int  `json:"extended,omitzero"`
	Truncated bool `json:"truncated,omitzero"`
}

// Call collects them.
func (in GC) Call(c *alcove.Call, cfg Config) (out collected, err error) {
	g := collector{c: c, cfg: cfg, now: c.Time()}
	for _, filter := range collectable() {
		for m, err := range c.Memories(alcove.MemoryListRequest{Filter: filter, Limit: page, Counters: true}) {
			if err != nil {
				return out, err
			}
			if len(g.patches) == mostArchived {
				g.Truncated = true
				break
			}
			if in.waiting[m.Key] {
				continue
			}
			if err := g.look(m); err != nil {
				return out, err
			}
		}
	}
	if in.DryRun {
		return g.collected, nil
	}
	return g.collected, g.apply()
}

// collectable are the filters that select what may have to change: what has a tier and has not expired, and what has expired.
func collectable() []*alcove.MemoryFilter {
	return []*alcove.MemoryFilter{
		{States: []string{active}, Fields: []alcove.FieldTest{{Field: "metadata." + tiered}, {Field: "expires_at"}}},
		{States: []string{active}, Expired: "only"},
	}
}

// collector works out what becomes of memories that expire.
type collector struct {
	collected
	c       *alcove.Call
	cfg     Config
	now     alcove.Time
	patches []alcove.MemoryPatch
	gone    []alcove.ID
}

// look decides about a memory.
func (g *collector) look(m *alcove.Memory) error {
	expires := instant(m.ExpiresAt)
	if expires == 0 {
		return nil
	}
	t, accesses, last := tierOf(m), 0, alcove.Time(0)
	if m.Counters != nil {
		accesses, last = m.Counters.Accesses, instant(m.Counters.LastAccess)
	}
	later := expires
	if last < expires { // what counts feedback on an expired one is no use of it
		later = max(expires, last.Add(t.extend))
	}
	e := m.Edit(g.c)
	switch {
	case t.name == mid && accesses >= g.cfg.PromoteAfterAccesses:
		g.Promoted++
		e.Clear("expires_at").Metadata(tiered, long)
	case pinned(m):
		g.Promoted++
		e.Clear("expires_at")
	case later > g.now && later > expires:
		g.Extended++
		e.Expires(alcove.Some(later.String()))
	case expires > g.now:
		return nil
	default:
		g.Archived++
		g.gone = append(g.gone, m.ID())
		e.State(archived).Clear("expires_at").Metadata(expiredAt, expires.String()).Metadata(noted, mark{At: g.c.Now, By: g.c.Caller, Reason: "expired"})
	}
	p, err := e.Patch()
	g.patches = append(g.patches, p)
	return err
}

// apply stages the changes.
func (g *collector) apply() error {
	for from := 0; from < len(g.patches); from += page {
		part := g.patches[from:min(from+page, len(g.patches))]
		if _, err := g.c.MemoryPatch(alcove.MemoryPatchRequest{Patches: part, Expired: true}); err != nil {
			return err
		}
	}
	for _, id := range g.gone {
		if err := emit(g.c, "fact_archived", id, changes{State: archived, Reason: "expired"}); err != nil {
			return err
		}
	}
	return nil
}
