package core

import (
	"encoding/json"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// stampOrNothing formats an instant for answers, or returns "" for the zero time.
func stampOrNothing(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return memory.FormatTime(t)
}

// particulars are a memory's properties except its value. Empty ones are left out.
type particulars struct {
	Tags       []string                   `json:"tags,omitempty"`
	Type       string                     `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Agent      string                     `json:"agent,omitempty"`
	State      memory.State               `json:"state,omitempty"` // unless active
	Supersedes []string                   `json:"supersedes,omitempty"`
	Links      []string                   `json:"links,omitempty"`
	Expires    string                     `json:"expires_at,omitempty"`
}

func particularsOf(m memory.Memory) particulars {
	p := particulars{
		Tags: m.Tags, Type: m.Type, Importance: m.Importance, Metadata: m.Metadata, Agent: m.Agent, State: m.State,
		Supersedes: m.Supersedes, Links: m.Links, Expires: stampOrNothing(m.ExpiresAt),
	}
	if p.State == memory.Active {
		p.State = ""
	}
	return p
}

// fewer drops the particulars that may be large.
func (p *particulars) fewer() {
	*p = particulars{Type: p.Type, Importance: p.Importance, Agent: p.Agent, State: p.State, Expires: p.Expires}
}
