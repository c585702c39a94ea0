package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

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
