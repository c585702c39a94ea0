package lifecycle

import (
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ArchiveList lists archived memories.
//
// Those that were archived last come first.
//
//alcove:title List archived memories
//alcove:description List archived memories.
//alcove:tool read-only
type ArchiveList struct {
	Limit  int `alcove:"default=50"`
	Cursor string
}

type archivedItems struct {
	Items      []archivedItem
	NextCursor string `json:"next_cursor,omitzero"`
	Truncated  bool   `json:"truncated,omitzero"`
}

type archivedItem struct {
	ID         alcove.ID
	Content    string
	Type       string   `json:"type,omitzero"`
	Importance *float64 `json:"importance,omitzero"`
	ArchivedAt string
	Reason     string `json:"reason,omitzero"`
}

// Call lists them.
func (in ArchiveList) Call(c *alcove.Call) (out archivedItems, err error) {
	r := alcove.MemoryListRequest{Filter: &alcove.MemoryFilter{States: []string{archived}}, Order: "updated", Limit: min(max(in.Limit, 1), mostListed), After: in.Cursor}
	found, err := c.MemoryList(r)
	if err != nil {
		return out, err
	}
	for i := range found.Memories {
		m := &found.Memories[i]
		n := note(m)
		if n.At == "" {
			n.At = m.Timestamp
		}
		out.Items = append(out.Items, archivedItem{m.ID(), words.Text(m.Value, mostShown), m.Type, m.Importance, n.At, n.Reason})
	}
	out.NextCursor, out.Truncated = found.Next, found.Next != ""
	return out, nil
}
