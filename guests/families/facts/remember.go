package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Remember remembers something, with how much it matters. context is trivial, routine, interesting, significant or critical, or says the
// same in other words; what is said not to matter has the importance 0, and what is doubted .5.
//
//alcove:description Remember something, with how much it matters.
//alcove:tool idempotent
//alcove:title Remember something
type Remember struct {
	Content string `alcove:"required,alias=value|text"`
	Context string // How much it matters, in words; interesting if left out.
	Tags    []string
}

// Remembered is a stored memory with its importance.
type Remembered struct {
	MemoryID   alcove.ID `json:"memory_id"`
	Importance float64
}

// Call stores it.
func (in Remember) Call(c *alcove.Call, cfg Config) (Remembered, error) {
	if in.Context == "" {
		in.Context = "interesting"
	}
	importance := words.Matters(in.Context)
	w, err := draft{
		value: in.Content, content: in.Content, kind: "observation", tags: in.Tags, importance: &importance,
		metadata: map[string]any{fact.Context: in.Context},
	}.store(c, cfg)
	return Remembered{w.id, score.Rounded(w.importance)}, err
}
