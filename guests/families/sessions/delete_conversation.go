package sessions

import alcove "github.com/alcove-memory/alcove/sdk/go"

// DeleteConversation deletes a conversation and its turns.
//
// They are archived; with hard they are deleted, and history keeps them. Facts that were added to the conversation stay.
//
//alcove:camel
//alcove:title Delete a conversation
//alcove:description Delete a conversation with its turns.
//alcove:tool destructive
type DeleteConversation struct {
	ID   alcove.ID `json:"id" alcove:"required,alias=conversationId"`
	Hard bool
}

// Call deletes it.
func (in DeleteConversation) Call(c *alcove.Call) (out alcove.Removed, err error) {
	id := at(c, in.ID)
	v, ok, err := conversations.In(id.Namespace).Get(c, id.Key)
	if err != nil {
		return out, err
	}
	if !ok || v.Archived() && !in.Hard {
		return out, alcove.Errorf(alcove.NotFound, "there is no conversation %q in %s", id.Key, id.Namespace)
	}
	if _, err := acting(c, v.AgentID); err != nil {
		return out, err
	}
	if in.Hard {
		err = purge(c, id)
	} else {
		err = archiveTurns(c, id)
	}
	if err != nil {
		return out, err
	}
	return conversations.In(id.Namespace).Remove(c, id.Key, alcove.Removal(in.Hard))
}

// turnKeys lists the keys of a conversation's turns.
func turnKeys(c *alcove.Call, id alcove.ID, states ...string) (keys []string, err error) {
	r := turnsOf(id, "key")
	r.Filter.States = states
	for m, err := range c.Memories(r) {
		if err != nil {
			return nil, err
		}
		keys = append(keys, m.Key)
	}
	return keys, nil
}

func archiveTurns(c *alcove.Call, id alcove.ID) error {
	keys, err := turnKeys(c, id, "active")
	if err != nil {
		return err
	}
	patches := make([]alcove.MemoryPatch, len(keys))
	for i, key := range keys {
		patches[i] = alcove.MemoryPatch{Key: key, Namespace: id.Namespace, State: "archived"}
	}
	_, err = c.PatchMemories(patches)
	return err
}

// purge deletes the turns and items of a conversation.
func purge(c *alcove.Call, id alcove.ID) error {
	keys, err := turnKeys(c, id)
	if err != nil {
		return err
	}
	if _, err := c.DeleteMemories(id.Namespace, keys); err != nil {
		return err
	}
	keys = nil
	for i, err := range items.In(id.Namespace).All(c, id.Key+"/") {
		if err != nil {
			return err
		}
		keys = append(keys, i.Key)
	}
	_, err = items.In(id.Namespace).Delete(c, keys...)
	return err
}
