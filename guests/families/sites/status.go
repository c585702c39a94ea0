package sites

import alcove "github.com/alcove-memory/alcove/sdk/go"

// SiteStatus tells the state of a website.
//
// pending has the tools that the site added or changed: callers do not have them until memory_site_refresh accepts them. refused has those
// that could not be published, with the reason. last_error is the latest failure of the site since it was last connected, refreshed or
// synchronized. A temporary agent is active, completed or failed.
//
//alcove:title State of a website
//alcove:description State of one website: its tools, errors and agents.
//alcove:tool memory_site_status read-only
//alcove:alias ora.site.status
type SiteStatus struct {
	Slug string `alcove:"required"`
}

type siteStatus struct {
	Slug         string
	Status       string
	Name         string `json:"name,omitzero"`
	Version      string `json:"version,omitzero"`
	Actions      []string
	SchemaDigest string `json:"schema_digest,omitzero"`
	LastSyncAt   string `json:"last_sync_at,omitzero"`
	LastError    string `json:"last_error,omitzero"`
	Agents       []agentState
	Pending      []waiting  `json:"pending,omitempty"`
	Refused      []notATool `json:"refused,omitempty"`
}

type notATool struct{ Action, Reason string }

type agentState struct {
	AgentSlug   string `json:"agentSlug"`
	Status      string
	ExpiresAt   string `json:"expiresAt,omitzero"`
	BackupUntil string `json:"backupUntil,omitzero"`
}

const mostAgents = 100

// Call reads it.
func (in SiteStatus) Call(c *alcove.Call) (out siteStatus, err error) {
	slug, err := known(c, in.Slug)
	if err != nil {
		return out, err
	}
	s, err := stateOf(c, slug)
	if err != nil {
		return out, err
	}
	k, err := readCatalogue(c, slug)
	if err != nil {
		return out, err
	}
	out = siteStatus{Slug: slug, Status: s.Status, Name: s.Name, Version: s.Version, SchemaDigest: s.Digest, LastSyncAt: instant(s.SyncedAt), LastError: s.LastError}
	for _, e := range k.pinned() {
		out.Actions = append(out.Actions, e.Action)
	}
	for _, e := range k.pending() {
		out.Pending = append(out.Pending, e.waiting())
	}
	for _, name := range k.names() {
		if e := k.entries[name]; e.Fault != "" {
			out.Refused = append(out.Refused, notATool{name, e.Fault})
		}
	}
	out.Agents, err = agentsOf(c, slug)
	return out, err
}

// agentsOf are the temporary agents of a site, the latest first.
func agentsOf(c *alcove.Call, slug string) (list []agentState, err error) {
	for item, err := range tasks.In(home(slug)).All(c, taskPrefix) {
		if err != nil {
			return nil, err
		}
		t := item.Value
		a := agentState{AgentSlug: item.Key, Status: t.Status, ExpiresAt: instant(t.ExpiresAt), BackupUntil: instant(t.BackupUntil)}
		if t.expired(c.Time()) {
			a.Status = failed
		}
		list = append(list, a)
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list[:min(len(list), mostAgents)], nil
}
