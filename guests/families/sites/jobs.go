package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// SyncDue exchanges memories with the site that is due longest, and notes what it changed.
//
//alcove:job sync_sites every=1m
//alcove:description Exchanges memories with sites, and looks for changes of theirs
type SyncDue struct{}

type syncDone struct {
	Site string `json:"site,omitzero"`
}

// Run synchronizes one site, and queues itself for another.
func (j SyncDue) Run(c *alcove.Call, cfg Config) (out syncDone, err error) {
	slugs, err := configured(c)
	if err != nil {
		return out, err
	}
	if err := withdrawOthers(c, slugs); err != nil {
		return out, err
	}
	due, first := 0, site{}
	for _, slug := range slugs {
		s, err := stateOf(c, slug)
		if err != nil {
			return out, err
		}
		if s.Status != connected || c.Time().Sub(s.TriedAt) < alcove.Duration(cfg.SyncMinutes)*alcove.Minute {
			continue
		}
		if due++; due == 1 || s.TriedAt < first.TriedAt {
			out.Site, first = slug, s
		}
	}
	if due == 0 {
		return out, nil
	}
	if err := attend(c, cfg, out.Site, first); err != nil {
		return out, err
	}
	if due > 1 {
		_, err = c.Enqueue(SyncDue{}, 0)
	}
	return out, err
}

// attend synchronizes a site, and compares its schema. A failure of the site is noted.
func attend(c *alcove.Call, cfg Config, slug string, s site) error {
	s.TriedAt, s.LastError = c.Time(), ""
	_, _, _, err := refresh(c, cfg, slug, &s, false)
	if err == nil {
		_, err = exchange(c, cfg, slug, &s)
	}
	if err != nil {
		s.LastError = plain(err.Error(), longestMessage)
	}
	return s.save(c, slug)
}

// withdrawOthers withdraws the tools of sites that the operator removed.
func withdrawOthers(c *alcove.Call, slugs []string) error {
	gone := map[string]bool{}
	for r := (alcove.ToolsOfferedRequest{Families: []string{"sites"}, Limit: page}); ; {
		out, err := c.ToolsOffered(r)
		if err != nil {
			return err
		}
		for _, t := range out.Tools {
			slug, _, dotted := cut(t.Name, '.')
			if !dotted || contains(slugs, slug) {
				continue
			}
			if err := withdraw(c, t.Name); err != nil {
				return err
			}
			gone[slug] = true
		}
		if r.After = out.Next; r.After == "" {
			break
		}
	}
	for slug := range gone {
		s, err := stateOf(c, slug)
		if err != nil {
			return err
		}
		s.Status = disconnected
		if err := s.save(c, slug); err != nil {
			return err
		}
		if err := emit(c, "site_disconnected", changes{Site: slug}); err != nil {
			return err
		}
	}
	return nil
}

// EndTasks ends tasks that expired, and deletes what ended ones left when its backup ends.
//
//alcove:job end_tasks every=5m each=branch
//alcove:description Ends expired tasks, and deletes backups of ended ones
type EndTasks struct{}

type tasksEnded struct{ Expired, Deleted int }

// Run ends those of its branch.
func (j EndTasks) Run(c *alcove.Call, cfg Config) (out tasksEnded, err error) {
	slugs, err := configured(c)
	if err != nil {
		return out, err
	}
	for _, slug := range slugs {
		for item, err := range tasks.In(home(slug)).All(c, taskPrefix) {
			if err != nil {
				return out, err
			}
			if err := out.look(c, cfg, slug, item.Key, item.Value); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func (out *tasksEnded) look(c *alcove.Call, cfg Config, slug, agent string, t task) error {
	switch {
	case t.Branch != c.Branch || t.Deleted:
		return nil
	case t.expired(c.Time()):
		out.Expired++
		if err := t.end(c, cfg, slug, agent, failed); err != nil {
			return err
		}
		if err := emit(c, "agent_expired", changes{Site: slug, Agent: agent}); err != nil {
			return err
		}
	case t.Status != running && c.Time() >= t.BackupUntil:
		out.Deleted++
		if err := t.erase(c, slug, agent); err != nil {
			return err
		}
	default:
		return nil
	}
	return t.save(c, slug, agent)
}
