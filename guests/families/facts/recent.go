package facts

import (
	"github.com/alcove-memory/alcove/guests/lib/fact"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Recent lists the newest memories first. They are of any type. effectiveImportance is the importance with what use and feedback added.
//
//alcove:description Last things stored, newest first.
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
	Effective  *float64 `json:"effectiveImportance,omitzero"`
	Tags       []string
	Timestamp  string
}

func brief(m *alcove.Memory) Brief {
	b := Brief{MemoryID: m.ID(), Content: m.Text(), Type: m.Type, Tags: m.Tags, Timestamp: m.Timestamp}
	b.Importance, b.Effective = fact.Importances(m)
	return b
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
