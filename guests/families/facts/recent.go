package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	"github.com/alcove-memory/alcove/guests/lib/score"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Recent lists the newest memories first. They are of any type; the importance counts use and feedback.
//
//alcove:description Newest memories first.
//alcove:tool read-only
//alcove:title Newest memories
type Recent struct {
	Limit int `alcove:"default=10,max=50,alias=k"`
}

// Recents are the newest memories.
type Recents struct {
	Memories []Brief
	Count    int
}

// Brief is a memory in short.
type Brief struct {
	MemoryID   alcove.ID `json:"memory_id"`
	Content    string
	Type       string
	Importance float64
	Tags       []string
	Timestamp  string
}

func brief(m *alcove.Memory) Brief {
	return Brief{m.ID(), m.Text(), m.Type, score.Rounded(fact.Importance(m)), m.Tags, m.Timestamp}
}

// Call lists them.
func (in Recent) Call(c *alcove.Call) (out Recents, err error) {
	page, err := c.MemoryList(alcove.MemoryListRequest{Order: "newest", Limit: max(in.Limit, 1), Counters: true, Filter: active()})
	for i := range page.Memories {
		out.Memories = append(out.Memories, brief(&page.Memories[i]))
	}
	out.Count = len(out.Memories)
	return out, err
}

func active() *alcove.MemoryFilter { return &alcove.MemoryFilter{States: []string{"active"}} }
