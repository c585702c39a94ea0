package tool

import (
	"github.com/alcove-memory/alcove/host/memory/feed"
)

// noticePayload is the payload of the memory's own notices, as clients read it.
type noticePayload struct {
	FactID  string         `json:"factId,omitempty"` // namespace#key of a memory
	AgentID string         `json:"agentId"`
	ScopeID string         `json:"scopeId"`
	Changes *noticeChanges `json:"changes,omitempty"`
}

type noticeChanges struct {
	Sequence uint64 `json:"sequence"` // of an event in the log
}

// PayloadOf returns the payload of a notice as clients read it: a family's own, or what the memory's own kinds are about.
func PayloadOf(n feed.Notice) any {
	p := noticePayload{AgentID: n.Agent, ScopeID: n.Namespace}
	switch n.Kind {
	case feed.MemoryStored, feed.MemoryForgotten:
		p.FactID = n.Namespace + "#" + n.Key
	case feed.EventLogged:
		p.Changes = &noticeChanges{n.Sequence()}
	default:
		if len(n.Payload) > 0 {
			return n.Payload
		}
	}
	return p
}
