package scope

import "fmt"

// Quota is how much each agent may store in a namespace, and how much that holds in total. Zero fields are unlimited.
type Quota struct {
	Memories int64 `json:"memories_a_day,omitempty"` // versions of memories; those that change links or state alone are none
	Links    int64 `json:"links_a_day,omitempty"`    // added ones
	Bytes    int64 `json:"bytes,omitempty"`          // of the present memories that the agent wrote since it has a quota, on all branches on which it wrote them
	Total    Total `json:"total,omitzero"`
}

// Total is how much a namespace holds, whoever wrote it. Zero fields are unlimited.
type Total struct {
	Memories int64 `json:"memories,omitempty"` // present ones
	Links    int64 `json:"links,omitempty"`    // of them
	Bytes    int64 `json:"bytes,omitempty"`    // likewise
}

// Check returns what is wrong with a quota.
func (q Quota) Check() error {
	if q.Memories < 0 || q.Links < 0 || q.Bytes < 0 {
		return fmt.Errorf("a quota of %d memories, %d links and %d bytes: give at least 0, which is unlimited", q.Memories, q.Links, q.Bytes)
	}
	if t := q.Total; t.Memories < 0 || t.Links < 0 || t.Bytes < 0 {
		return fmt.Errorf("a total quota of %d memories, %d links and %d bytes: give at least 0, which is unlimited", t.Memories, t.Links, t.Bytes)
	}
	return nil
}

// Unlimited reports whether it limits nothing.
func (q Quota) Unlimited() bool { return q == Quota{} }
