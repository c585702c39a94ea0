package sessions

import (
	"strconv"
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

var (
	conversations = alcove.Records[conversation]{Name: "conversation"}
	// items are the facts of conversations. Turns are memories.
	items = alcove.Records[item]{Name: "item", Indexes: [][]string{{"factId"}}}
)

// conversation is a thread of turns and facts.
//
//alcove:camel
type conversation struct {
	SessionID    string
	AgentID      string // that created it
	Participants []string
	Summary      string
	Tags         []string
	Importance   float64
	Count        int // of its turns and facts
	alcove.Lifecycle
}

// item is a fact of a conversation. Its key is the conversation's, and its position.
//
//alcove:camel
type item struct {
	ConversationID string
	FactID         string
}

// itemKey is the key of what is at a position of a conversation.
func itemKey(conversation string, position int) string {
	n := strconv.Itoa(position)
	return conversation + "/" + strings.Repeat("0", max(6-len(n), 0)) + n
}

// getConversation returns a conversation. An archived one is not there.
func getConversation(c *alcove.Call, id alcove.ID) (conversation, alcove.ID, error) {
	id = at(c, id)
	v, ok, err := conversations.In(id.Namespace).Get(c, id.Key)
	if err == nil && (!ok || v.Archived()) {
		err = alcove.Errorf(alcove.NotFound, "there is no conversation %q in %s", id.Key, id.Namespace)
	}
	return v, id, err
}

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

// AddToConversation appends a fact or a turn to a conversation.
//
// A turn becomes a memory of the type message, which searches find with the turns around it.
//
//alcove:camel
//alcove:title Add to a conversation
//alcove:description Append a fact or a turn to a thread.
type AddToConversation struct {
	ConversationID alcove.ID `alcove:"required"`
	FactID         alcove.ID
	Turn           *turn // What was said, instead of a fact.
}

//alcove:camel
type turn struct {
	Role    string `alcove:"default=user,alias=speaker"`
	Content string `alcove:"required"`
}

//alcove:camel
type added struct {
	ConversationID alcove.ID
	Position       int
}

// Call appends it.
func (in AddToConversation) Call(c *alcove.Call) (out added, err error) {
	v, id, err := getConversation(c, in.ConversationID)
	if err != nil {
		return out, err
	}
	if (in.Turn == nil) == in.FactID.IsZero() {
		return out, alcove.Errorf(alcove.InvalidArgument, "give either factId, or turn with role and content")
	}
	v.Count++
	out = added{id, v.Count}
	if in.Turn != nil {
		err = in.Turn.store(c, id, &v)
	} else {
		err = addFact(c, id, v.Count, in.FactID)
	}
	if err != nil {
		return out, err
	}
	return out, conversations.In(id.Namespace).Put(c, id.Key, v)
}

// messageType is the type of memories that are turns, as imports have it.
const messageType = "message"

// store stores a turn as the newest one of a conversation.
func (t *turn) store(c *alcove.Call, of alcove.ID, v *conversation) error {
	if t.Content == "" {
		return alcove.Errorf(alcove.InvalidArgument, "the turn has no content")
	}
	d := c.Store(t.Content).In(of.Namespace).Key(itemKey(of.Key, v.Count)).Type(messageType).Tags(v.Tags...)
	d.Metadata(turned, of.Key).Metadata("seq", v.Count).Metadata("speaker", or(t.Role, "user")).Metadata("ts", c.Now)
	_, err := d.Put()
	return err
}

// addFact adds a fact to a conversation.
func addFact(c *alcove.Call, of alcove.ID, position int, id alcove.ID) error {
	m, err := c.Memory(id)
	if err != nil {
		return err
	}
	return items.In(of.Namespace).Put(c, itemKey(of.Key, position), item{of.Key, m.ID().String()})
}
