package lifecycle

import (
	"github.com/alcove-memory/alcove/guests/lib/words"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// ArchiveFact archives one memory.
//
// It leaves search and keeps its text: memory_archive_restore makes it active again.
//
//alcove:camel
//alcove:title Archive a memory
//alcove:description Archive one memory.
//alcove:tool idempotent
type ArchiveFact struct {
	FactID alcove.ID `alcove:"required"`
	Reason string
}

//alcove:camel
type archivedFact struct {
	FactID  alcove.ID
	Version uint64 `json:"version,omitzero" alcove:"committed"`
}

// Call archives it.
func (in ArchiveFact) Call(c *alcove.Call) (out archivedFact, err error) {
	m, err := c.Memory(in.FactID)
	if err != nil {
		return out, err
	}
	out.FactID = m.ID()
	if m.State == archived {
		out.Version = m.Version
		return out, nil
	}
	return out, put(c, m, archived, in.Reason)
}

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

// ArchiveStats counts the archived memories of all namespaces that the caller may read.
//
// Those that were archived without a reason count as unspecified.
//
//alcove:title Count archived memories
//alcove:description Count the archived memories, by namespace and reason.
//alcove:tool read-only
type ArchiveStats struct{}

type archiveStats struct {
	Total       int
	ByNamespace map[string]int
	ByReason    map[string]int
	Truncated   bool `json:"truncated,omitzero"` // More than 100,000 are archived.
}

const (
	unspecified = "unspecified"
	mostCounted = 100_000
)

// Call counts them.
func (in ArchiveStats) Call(c *alcove.Call) (out archiveStats, err error) {
	out.ByNamespace, out.ByReason = map[string]int{}, map[string]int{}
	all, err := c.MemoryNamespaces()
	if err != nil {
		return out, err
	}
	for _, namespace := range all.Namespaces {
		r := alcove.MemoryListRequest{Namespace: namespace, Filter: &alcove.MemoryFilter{States: []string{archived}}, Order: "updated", Limit: page}
		for m, err := range c.Memories(r) {
			if err != nil {
				return out, err
			}
			if out.Total == mostCounted {
				out.Truncated = true
				return out, nil
			}
			reason := note(m).Reason
			if reason == "" {
				reason = unspecified
			}
			out.Total++
			out.ByNamespace[namespace]++
			out.ByReason[reason]++
		}
	}
	return out, nil
}
