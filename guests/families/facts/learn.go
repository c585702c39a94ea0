package facts

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Learn keeps a piece of knowledge. It is stored as a fact of type learning, with the importance of that type.
//
//alcove:description Keep what was learned.
//alcove:tool idempotent
//alcove:title Keep knowledge
type Learn struct {
	Knowledge string `alcove:"required,alias=content|value"`
	Tags      []string
}

// Kept is a stored memory.
type Kept struct {
	MemoryID alcove.ID `json:"memory_id"`
}

// Call stores it as a fact of type learning.
func (in Learn) Call(c *alcove.Call, cfg Config) (Kept, error) {
	w, err := draft{value: in.Knowledge, content: in.Knowledge, argument: "knowledge", kind: "learning", tags: in.Tags}.store(c, cfg)
	return Kept{w.id}, err
}
