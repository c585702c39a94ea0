package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// DeleteSession deletes a session.
//
// It is archived; with hard it is deleted, and history keeps it. Its conversations, checkpoints and facts stay.
//
//alcove:camel
//alcove:title Delete a session
//alcove:description Delete a session.
//alcove:tool destructive
type DeleteSession struct {
	ID   alcove.ID `json:"id" alcove:"required,alias=sessionId"`
	Hard bool
}

// Call deletes it.
func (in DeleteSession) Call(c *alcove.Call) (out alcove.Removed, err error) {
	id := at(c, in.ID)
	s, ok, err := sessions.In(id.Namespace).Get(c, id.Key)
	if err != nil {
		return out, err
	}
	if !ok || s.Archived() && !in.Hard {
		return out, alcove.Errorf(alcove.NotFound, "there is no session %q in %s", id.Key, id.Namespace)
	}
	if _, err := acting(c, s.AgentID); err != nil {
		return out, err
	}
	return sessions.In(id.Namespace).Remove(c, id.Key, alcove.Removal(in.Hard))
}
