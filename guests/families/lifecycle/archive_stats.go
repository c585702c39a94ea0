package lifecycle

import alcove "github.com/alcove-memory/alcove/sdk/go"

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
