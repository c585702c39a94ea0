package graph

import alcove "github.com/alcove-memory/alcove/sdk/go"

// event is the payload of events.
//
//alcove:camel
//alcove:json
type event struct {
	AgentID  string
	ScopeID  string
	FactID   alcove.ID `json:"factId,omitzero"`
	EntityID alcove.ID `json:"entityId,omitzero"`
	ThemeID  alcove.ID `json:"themeId,omitzero"`
	Changes  changes
}

//alcove:camel
type changes struct {
	Name     string    `json:"name,omitzero"`
	Type     string    `json:"type,omitzero"`
	To       alcove.ID `json:"to,omitzero"`
	Relation string    `json:"relation,omitzero"`
}

func emit(c *alcove.Call, kind string, e event) error {
	e.AgentID, e.ScopeID = c.Caller, c.Namespace
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(e)})
}

func emitLink(c *alcove.Call, kind string, l triple) error {
	return emit(c, kind, event{FactID: l.from, Changes: changes{To: l.to, Relation: l.relation}})
}
