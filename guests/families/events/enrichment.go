package events

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// GetEnrichmentStatus tells how far embedding, tagging and classification of memories are.
//
// Without factId the counts are those of the embedders. With factId items has the steps of that memory: it is classified by the family
// facts, and tagged by auto-tag, where the operator turned their hooks on.
//
//alcove:camel
//alcove:title State of enrichment
//alcove:description Progress of embedding, tagging and classification.
//alcove:tool read-only
type GetEnrichmentStatus struct {
	FactID alcove.ID `alcove:"alias=id"`
}

type enrichment struct {
	Pending     int
	Running     int
	Failed      int
	Done        int
	SuccessRate float64
	Items       []step
}

type step struct {
	Step     string
	State    string // done, pending, failed or none.
	Embedder string `json:"embedder,omitzero"`
	Pending  int    `json:"pending,omitzero"`
	Failed   int    `json:"failed,omitzero"`
	Done     int    `json:"done,omitzero"`
}

// The states of steps.
const (
	done    = "done"
	pending = "pending"
	none    = "none"
)

// Call reads it.
func (in GetEnrichmentStatus) Call(c *alcove.Call) (out enrichment, err error) {
	now, err := c.StatusGet(alcove.StatusGetRequest{})
	if err != nil {
		return out, err
	}
	for _, e := range now.Embedders {
		s := step{"embedding", done, e.Name, e.Waiting, e.Refused, e.Vectors}
		if e.Waiting > 0 {
			s.State = pending
		}
		out.Pending, out.Failed, out.Done = out.Pending+e.Waiting, out.Failed+e.Refused, out.Done+e.Vectors
		out.Items = append(out.Items, s)
	}
	out.SuccessRate = 1
	if ended := out.Done + out.Failed; ended > 0 {
		out.SuccessRate = float64(out.Done) / float64(ended)
	}
	if in.FactID.IsZero() {
		return out, nil
	}
	m, err := c.Memory(in.FactID)
	if err != nil {
		return out, err
	}
	for _, s := range []struct{ name, by string }{{"classification", fact.ObservationTier}, {"tagging", "auto_tag"}} {
		state := none
		if _, ok := m.Metadata[s.by]; ok {
			state = done
		}
		out.Items = append(out.Items, step{Step: s.name, State: state})
	}
	return out, nil
}
