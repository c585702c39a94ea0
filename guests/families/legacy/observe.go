package legacy

import alcove "github.com/alcove-memory/alcove/sdk/go"

// Observe stores an observation. The same text in the same namespace is the same fact.
//
//alcove:description Deprecated: use memory_store_fact.
//alcove:tool idempotent
//alcove:title Store an observation
//alcove:camel
type Observe struct {
	Observation      string `alcove:"required,alias=content"`
	EmotionalContext string // The emotion, in a word.
	Tags             []string
}

// Observed is the stored fact.
//
//alcove:camel
type Observed struct {
	FactID alcove.ID
	notice
}

// fact is a fact that was stored.
//
//alcove:json
//alcove:camel
type fact struct{ FactID alcove.ID }

// Call stores it.
func (in Observe) Call(c *alcove.Call) (out Observed, err error) {
	out.notice = replacedBySuccessors("memory_observe")
	stored, err := store(c, given{"content": in.Observation, "factType": "observation"}.text("emotionalContext", in.EmotionalContext).texts("tags", in.Tags))
	out.FactID = stored.FactID
	return out, err
}

// store stores a fact.
func store(c *alcove.Call, arguments given) (stored fact, err error) {
	err = c.CallTool("memory_store_fact", map[string]any(arguments), &stored)
	return stored, err
}
