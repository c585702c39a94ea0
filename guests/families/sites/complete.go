package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// AgentComplete ends the task of a temporary agent.
//
// It keeps what matters: at most 50 memories of importance 7 or more, and facts that were recalled and are healthy, are copied to the site's
// own memories. The agent's key ends. Its memories are archived, can be restored for backup_days, and are deleted then, or at once with
// deleteImmediately. Of a task that expired nothing is copied. A second call answers as the first.
//
//alcove:camel
//alcove:title Finish a delegated task
//alcove:description Finish a delegated task; keep what matters.
//alcove:tool memory_agent_complete idempotent
//alcove:alias ora.agent.complete
type AgentComplete struct {
	SiteSlug          string `alcove:"required"`
	AgentSlug         string `alcove:"required"`
	ExtractMemories   bool   `alcove:"default=true"`
	DeleteImmediately bool
	Output            string `alcove:"max=32768"` // What the task led to.
}

//alcove:camel
type ended struct {
	Extracted   int
	BackupUntil string
}

// mostExtracted bounds the memories that are kept of a task.
const mostExtracted = 50

// Call completes it.
func (in AgentComplete) Call(c *alcove.Call, cfg Config) (out ended, err error) {
	slug, err := known(c, in.SiteSlug)
	if err != nil {
		return out, err
	}
	t, ok, err := tasks.In(home(slug)).Get(c, in.AgentSlug)
	if err != nil {
		return out, err
	}
	if !ok || !isTask(in.AgentSlug) {
		return out, alcove.Errorf(alcove.NotFound, "the site %s has no temporary agent %q", slug, plain(in.AgentSlug, 100))
	}
	if t.Branch != c.Branch {
		return out, alcove.Errorf(alcove.InvalidArgument, "the task of %s began on branch %s: complete it there", in.AgentSlug, t.Branch)
	}
	if t.Status == running {
		if err := in.complete(c, cfg, slug, &t); err != nil {
			return out, err
		}
	}
	if in.DeleteImmediately && !t.Deleted {
		if err := t.erase(c, slug, in.AgentSlug); err != nil {
			return out, err
		}
		t.BackupUntil = t.EndedAt
		if err := t.save(c, slug, in.AgentSlug); err != nil {
			return out, err
		}
	}
	return ended{t.Extracted, instant(t.BackupUntil)}, nil
}

func (in AgentComplete) complete(c *alcove.Call, cfg Config, slug string, t *task) (err error) {
	status := completed
	if t.expired(c.Time()) {
		status = failed
	}
	if in.ExtractMemories && status == completed {
		if t.Extracted, err = extract(c, cfg, slug, in.AgentSlug); err != nil {
			return err
		}
	}
	if err := t.end(c, cfg, slug, in.AgentSlug, status); err != nil {
		return err
	}
	t.Output = in.Output
	if err := t.save(c, slug, in.AgentSlug); err != nil {
		return err
	}
	return emit(c, "agent_completed", changes{Site: slug, Agent: in.AgentSlug, Extracted: t.Extracted})
}

// extract copies what matters of a task to its site's own memories.
func extract(c *alcove.Call, cfg Config, slug, agent string) (int, error) {
	var found []*alcove.Memory
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: own(slug, agent), Filter: &alcove.MemoryFilter{States: []string{active}}, Limit: page, Counters: true, Created: true}) {
		if err != nil {
			return 0, err
		}
		if cfg.matters(c, m) {
			found = append(found, m)
		}
	}
	sortBy(found, func(a, b *alcove.Memory) bool {
		if importance(a) != importance(b) {
			return importance(a) > importance(b)
		}
		return a.Created > b.Created
	})
	found = found[:min(len(found), mostExtracted)]
	for _, m := range found {
		d := c.StoreValue(m.Value).Key(agent+":"+m.Key).In(home(slug)).Type(m.Type).Tags(m.Tags...).Metadata("origin", origin{agent, m.ID()})
		if m.Importance != nil {
			d = d.Importance(*m.Importance)
		}
		if _, err := d.Put(); err != nil {
			return 0, err
		}
	}
	return len(found), nil
}

// origin is where a memory came from.
//
//alcove:json
type origin struct {
	Agent string
	ID    alcove.ID
}

// matters reports whether a memory outlives its task: it is important, or a fact that was of use.
func (cfg Config) matters(c *alcove.Call, m *alcove.Memory) bool {
	if importance(m) >= cfg.ExtractMinImportance {
		return true
	}
	return m.Type == "fact" && m.Counters != nil && m.Counters.Accesses > 0 && cfg.kept(c, m).Score() >= cfg.ExtractMinHealth
}

func importance(m *alcove.Memory) float64 {
	if m.Importance == nil {
		return usual / 10.
	}
	return *m.Importance
}
