// Package fact is a memory as the tools of first-party families show it.
package fact

import (
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Metadata of facts.
const (
	EmotionalContext = "emotionalContext"
	EmotionalWeight  = "emotionalWeight"
	Confidence       = "confidence"
	EntityIDs        = "entityIds"
	ConversationID   = "conversationId"
	Summary          = "summary"
	Pinned           = "pinned"
	Personal         = "personal"
	Collection       = "collection"
	BaseImportance   = "base_importance"
	ObservationTier  = "observationTier"
	ImportanceTier   = "importanceTier"
	Context          = "context" // how much it matters, in the writer's words
)

// Fact is a fact in a listing, or as a search found it.
type Fact struct {
	FactID     alcove.ID `json:"factId"`
	Content    string    `json:"content"`
	FactType   string    `json:"factType"`
	Score      float64   `json:"score,omitzero"` // of a search
	Importance float64   `json:"importance"`     // as it is stored, which filters and orders go by
	Tags       []string  `json:"tags"`
	Timestamp  string    `json:"timestamp"`
	CreatedBy  string    `json:"createdBy,omitzero"`
	Summary    string    `json:"summary,omitzero"`
	Pinned     bool      `json:"pinned,omitzero"`

	EffectiveImportance *float64  `json:"effectiveImportance,omitzero"` // with what use and feedback added, if they added anything
	SupersededBy        alcove.ID `json:"supersededBy,omitzero"`        // of a search: the fact that replaces it
}

// Of is a memory as a fact. It has an effective importance if the memory came with its counters.
func Of(m *alcove.Memory) Fact {
	f := Fact{FactID: m.ID(), Content: m.Text(), FactType: m.Type, Tags: m.Tags, Timestamp: m.Timestamp, CreatedBy: m.Agent}
	f.Importance, f.EffectiveImportance = Importances(m)
	f.Summary, _ = m.Metadata[Summary].Text()
	f.Pinned = Flag(m.Metadata[Pinned])
	return f
}

// Found is a hit of a search as a fact.
func Found(h *alcove.MemoryHit) Fact {
	f := Of(&h.Memory)
	f.Score = score.Rounded(h.Score)
	if h.SupersededBy != "" {
		f.SupersededBy = alcove.ID{Namespace: h.Memory.Namespace, Key: h.SupersededBy}
	}
	return f
}

// Importances are a memory's stored importance and its effective one, for answers; nil: the two are equal.
func Importances(m *alcove.Memory) (stored float64, effective *float64) {
	stored = score.Rounded(own(m))
	if v := score.Rounded(Importance(m)); v != stored {
		effective = &v
	}
	return stored, effective
}

// own is the importance that a memory is stored with.
func own(m *alcove.Memory) float64 {
	if m.Importance != nil {
		return *m.Importance
	}
	kept, _ := Number(m.Metadata[BaseImportance])
	return kept
}

// Importance is a memory's own, with what use and feedback add if the memory came with its counters.
func Importance(m *alcove.Memory) float64 {
	base := own(m)
	if m.Counters == nil {
		return base
	}
	return score.Effective(base, int64(m.Counters.Accesses), score.Outcome(m.Counters.Health))
}

// Number is a value of metadata if it is a number.
func Number(value alcove.Raw) (v float64, ok bool) {
	if len(value) == 0 || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
		return 0, false
	}
	s := scan.New(value)
	v = s.Number()
	return v, s.End() == nil
}

// Flag reports whether a value of metadata is true.
func Flag(value alcove.Raw) bool { return string(value) == "true" }

// Texts is a value of metadata if it is a list of text.
func Texts(value alcove.Raw) []string {
	if len(value) == 0 || value[0] != '[' {
		return nil
	}
	s := scan.New(value)
	list := s.Strings()
	if s.End() != nil {
		return nil
	}
	return list
}
