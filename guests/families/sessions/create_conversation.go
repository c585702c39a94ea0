package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// CreateConversation starts a conversation in a session.
//
// It is in the namespace of its session. Its turns have its tags.
//
//alcove:camel
//alcove:title Start a conversation
//alcove:description Start a thread inside a session.
type CreateConversation struct {
	SessionID      alcove.ID `alcove:"required"`
	Participants   []string  `alcove:"many,max=256"`
	ContextSummary string
	Tags           []string `alcove:"many,max=64"`
	Importance     float64  `alcove:"min=0,max=1,default=0.5"`
}

//alcove:camel
type createdConversation struct{ ConversationID alcove.ID }

// Call starts it.
func (in CreateConversation) Call(c *alcove.Call) (out createdConversation, err error) {
	s, of, err := getSession(c, in.SessionID)
	if err != nil {
		return out, err
	}
	out.ConversationID = alcove.ID{Namespace: of.Namespace, Key: c.NewID(prefixConversation)}
	v := conversation{SessionID: of.String(), AgentID: c.Caller, Participants: in.Participants, Summary: in.ContextSummary, Tags: in.Tags, Importance: in.Importance}
	if err := conversations.In(of.Namespace).Put(c, out.ConversationID.Key, v); err != nil || s.Status != open {
		return out, err
	}
	s.Last = c.Time()
	return out, sessions.In(of.Namespace).Put(c, of.Key, s)
}
