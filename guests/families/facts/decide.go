package facts

import (
	"strings"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Decide records a decision and why. It is stored as a fact of type decision, whose value has decision and reasoning.
//
//alcove:description Record a decision and why.
//alcove:tool idempotent
//alcove:title Record a decision
type Decide struct {
	Decision  string `alcove:"required,alias=content|value"`
	Reasoning string // Why.
	Tags      []string
}

// Call stores it as a fact of type decision.
func (in Decide) Call(c *alcove.Call, cfg Config) (Kept, error) {
	if strings.TrimSpace(in.Decision) == "" {
		return Kept{}, blank("decision")
	}
	content := in.Decision
	if in.Reasoning != "" {
		content += "\n" + in.Reasoning
	}
	w, err := draft{
		value: map[string]any{"decision": in.Decision, "reasoning": in.Reasoning}, content: content, kind: "decision", tags: in.Tags,
	}.store(c, cfg)
	return Kept{w.id}, err
}
