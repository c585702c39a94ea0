package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// States of a task.
const (
	running   = "active"
	completed = "completed"
	failed    = "failed"
)

const (
	taskPrefix = "task-"
	itself     = "self" // the key of a task in its agent's own namespace
)

// task is what a temporary agent does: in the namespace of the site's keeper by the agent's slug, and in the agent's own.
type task struct {
	Description string
	AgentType   string
	Output      string `json:"output,omitzero"`
	Status      string
	Branch      string
	SpawnedBy   string      `json:"spawned_by,omitzero"`
	Key         string      `json:"key,omitzero"` // the id of the agent's key, which is no secret
	SpawnedAt   alcove.Time `json:"spawned_at,omitzero"`
	ExpiresAt   alcove.Time `json:"expires_at,omitzero"`
	EndedAt     alcove.Time `json:"ended_at,omitzero"`
	BackupUntil alcove.Time `json:"backup_until,omitzero"`
	Extracted   int         `json:"extracted,omitzero"`
	Deleted     bool        `json:"deleted,omitzero"` // what it remembered is deleted
}

var tasks = alcove.Records[task]{Name: "task", Per: "space", Expires: "365d"}

// isTask reports whether a name is one of temporary agents.
func isTask(name string) bool {
	rest, ok := after(name, taskPrefix)
	return ok && rest != ""
}

// expired reports whether a task should have ended.
func (t task) expired(now alcove.Time) bool {
	return t.Status == running && t.ExpiresAt != 0 && now >= t.ExpiresAt
}

// own is the namespace of a temporary agent.
func own(slug, agent string) string { return root + slug + "/" + agent }

// save stores a task, for its site and for its agent.
func (t task) save(c *alcove.Call, slug, agent string) error {
	if err := tasks.In(home(slug)).Put(c, agent, t); err != nil {
		return err
	}
	return tasks.In(own(slug, agent)).Put(c, itself, task{Description: t.Description, AgentType: t.AgentType, Status: t.Status, ExpiresAt: t.ExpiresAt})
}

// end ends a task: its agent's key, and its memories, which stay archived until the backup ends.
func (t *task) end(c *alcove.Call, cfg Config, slug, agent, status string) error {
	t.Status, t.EndedAt = status, c.Time()
	t.BackupUntil = t.EndedAt.Add(alcove.Duration(cfg.BackupDays) * alcove.Day)
	if t.Key != "" {
		err := c.IdentityRevoke(alcove.IdentityRevokeRequest{ID: t.Key})
		if code := alcove.CodeOf(err); err != nil && code != alcove.NotFound && code != alcove.Denied && code != alcove.Unavailable {
			return err // a key of another caller's making ends by itself, and the ended task refuses its agent
		}
	}
	return archive(c, own(slug, agent), "the task "+status)
}

// endAll ends the running tasks of a site as failed, on the call's branch.
func endAll(c *alcove.Call, cfg Config, slug string) error {
	for item, err := range tasks.In(home(slug)).All(c, taskPrefix) {
		if err != nil {
			return err
		}
		t := item.Value
		if t.Status != running {
			continue
		}
		if err := t.end(c, cfg, slug, item.Key, failed); err != nil {
			return err
		}
		if err := t.save(c, slug, item.Key); err != nil {
			return err
		}
	}
	return nil
}

// erase deletes what an ended task remembered. What was restored since stays.
func (t *task) erase(c *alcove.Call, slug, agent string) error {
	t.Deleted = true
	kept, err := c.MemoryList(alcove.MemoryListRequest{Namespace: own(slug, agent), Filter: &alcove.MemoryFilter{States: []string{active}}, Count: "only", Limit: 1})
	if err != nil {
		return err
	}
	if kept.Total != nil && *kept.Total > 0 {
		return eraseArchived(c, own(slug, agent))
	}
	for more := true; more; {
		out, err := c.NamespaceDelete(alcove.NamespaceDeleteRequest{Namespace: own(slug, agent)})
		if err != nil {
			return err
		}
		more = out.More
	}
	return nil
}

func eraseArchived(c *alcove.Call, at string) error {
	var keys []string
	for m, err := range c.Memories(alcove.MemoryListRequest{Namespace: at, Filter: &alcove.MemoryFilter{States: []string{archived, "merged", "pruned"}}, Limit: page}) {
		if err != nil {
			return err
		}
		keys = append(keys, m.Key)
	}
	_, err := c.DeleteMemories(at, keys)
	return err
}
