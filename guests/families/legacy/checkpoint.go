package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Checkpoint marks this moment. The answer lists the 30 newest facts.
//
//alcove:description Deprecated: use memory_save_checkpoint and memory_query_facts.
//alcove:tool
//alcove:title Save a checkpoint
//alcove:camel
type Checkpoint struct {
	Name    string
	Summary string
	Topic   string
}

// Checkpointed is a saved checkpoint.
//
//alcove:camel
type Checkpointed struct {
	CheckpointID string
	Version      alcove.Raw `json:",omitzero"`
	Branch       string     `json:",omitzero"`
	FactCount    int
	Facts        []alcove.Raw // The newest.
	notice
}

// saved is what memory_save_checkpoint answers.
//
//alcove:json
//alcove:camel
type saved struct {
	CheckpointID string
	Version      alcove.Raw
	Branch       string
	FactCount    int
}

// mostListed is how many facts a checkpoint lists.
const mostListed = 30

// Call saves it.
func (in Checkpoint) Call(c *alcove.Call) (out Checkpointed, err error) {
	var s saved
	arguments := given{}.text("name", in.Name).text("summary", in.Summary).text("topic", in.Topic)
	if err := c.CallTool("memory_save_checkpoint", map[string]any(arguments), &s); err != nil {
		return out, err
	}
	newest, err := ask(c, "memory_query_facts", given{"limit": mostListed})
	return Checkpointed{s.CheckpointID, s.Version, s.Branch, s.FactCount, newest.Facts, replacedBySuccessors("memory_checkpoint")}, err
}
