package workingmemory

import (
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// store makes memories of thoughts, or brings those up to date that are memories already, and returns their ids. The importance of each is
// its attention.
func store(c *alcove.Call, items []item) (ids []alcove.ID, err error) {
	var fresh []alcove.MemoryItem
	for i := range items {
		it := &items[i]
		ids = append(ids, c.ID(it.ID))
		if it.Stored {
			if err := refresh(c, it); err != nil {
				return nil, err
			}
			continue
		}
		draft, err := memory(c, it).Item()
		if err != nil {
			return nil, err
		}
		fresh = append(fresh, draft)
	}
	if len(fresh) > 0 {
		_, err = c.PutMemories(fresh)
	}
	return ids, err
}

// memory is the memory of a thought.
func memory(c *alcove.Call, it *item) *alcove.Draft {
	return c.Store(it.Content).Key(it.ID).Importance(it.Attention).Metadata(noted, it.note())
}

// noted is the metadata that says what a memory was in focus.
const noted = "working_memory"

func (it *item) note() map[string]any {
	return map[string]any{"thought": string(it.Thought), "added": it.Added.String(), "accessed": it.Accessed.String()}
}

// refresh gives the memory of a thought the attention that it has now. One that was deleted meanwhile stays deleted.
func refresh(c *alcove.Call, it *item) error {
	err := c.Edit(c.ID(it.ID)).Importance(alcove.Some(it.Attention)).Metadata(noted, it.note()).Apply()
	if alcove.CodeOf(err) == alcove.NotFound {
		return nil
	}
	return err
}

// change is what events say.
type change struct {
	Kept      int         `json:"kept,omitzero"`
	MemoryIDs []alcove.ID `json:"memory_ids,omitzero"`
	Type      string      `json:"type,omitzero"`
	Links     int         `json:"links,omitzero"`
}

// event is the payload of events.
//
//alcove:camel
//alcove:json
type event struct {
	AgentID string
	ScopeID string
	Changes change
}

func emit(c *alcove.Call, kind string, changes change) error {
	return c.FeedEmit(alcove.FeedEmitRequest{Kind: kind, Payload: alcove.JSON(event{c.Caller, c.Namespace, changes})})
}
