package core

import (
	"encoding/json"
	"maps"
	"math"
	"time"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
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
		Tags: m.Tags, Type: m.Type, Importance: shortened(m.Importance), Metadata: m.Metadata, Agent: m.Agent, State: m.State,
		Supersedes: m.Supersedes, Links: m.Links, Expires: stampOrNothing(m.ExpiresAt),
	}
	if p.State == memory.Active {
		p.State = ""
	}
	return p
}

// appendTo appends them to an object, as their tags have it.
func (p *particulars) appendTo(o *jsontext.Object) {
	o.Texts("tags", p.Tags)
	o.Text("type", p.Type)
	o.NumberAt("importance", p.Importance)
	o.Values("metadata", p.Metadata)
	o.Text("agent", p.Agent)
	o.Text("state", string(p.State))
	o.Texts("supersedes", p.Supersedes)
	o.Texts("links", p.Links)
	o.Text("expires_at", p.Expires)
}

// shortened is an importance without what binary fractions add to it: 0.7200000000000001 is 0.72.
func shortened(importance *float64) *float64 {
	if importance == nil {
		return nil
	}
	return new(math.Round(*importance*1e6) / 1e6)
}

// bookkeeping are the members of metadata in which families keep how they came to an importance. Hits do without them, unless they tell
// everything.
func bookkeeping() []string {
	return []string{"base_importance", "importanceTier", "observationTier", "vaultBase", "vaultDigest"}
}

// withoutBookkeeping returns metadata without bookkeeping.
func withoutBookkeeping(metadata map[string]json.RawMessage) map[string]json.RawMessage {
	kept := maps.Clone(metadata)
	for _, name := range bookkeeping() {
		delete(kept, name)
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// dropLarge drops the particulars that may be large.
func (p *particulars) dropLarge() {
	*p = particulars{Type: p.Type, Importance: p.Importance, Agent: p.Agent, State: p.State, Expires: p.Expires}
}
