package alcove

import "encoding/json"

// Event is an event of the log.
type Event struct {
	Namespace string          `json:"namespace"`
	Sequence  uint64          `json:"sequence"`
	Event     string          `json:"event"`
	Data      json.RawMessage `json:"data"`
	Agent     string          `json:"agent"`
	Timestamp string          `json:"timestamp"`
}

// AppendLog stages an event of the log, which gets its sequence number at the commit.
func (c *Call) AppendLog(namespace, event string, data any) error {
	return c.Ask(OpLogAppend, struct {
		Namespace string `json:"namespace,omitempty"`
		Event     string `json:"event"`
		Data      any    `json:"data"`
	}{namespace, event, data}, nil)
}

// ReadLog gives events from a sequence number on, the oldest first.
func (c *Call) ReadLog(namespace string, from uint64, limit int) ([]Event, error) {
	out, err := ask[struct {
		Events []Event `json:"events"`
	}](c, OpLogRead, struct {
		Namespace string `json:"namespace,omitempty"`
		From      uint64 `json:"from,omitempty"`
		Limit     int    `json:"limit,omitempty"`
	}{namespace, from, limit})
	return out.Events, err
}

// Notice is a change, or an event that a family announced.
type Notice struct {
	Kind      string          `json:"kind"`
	Namespace string          `json:"namespace"`
	Key       string          `json:"key"`
	Watermark uint64          `json:"watermark"`
	Timestamp string          `json:"timestamp"`
	Payload   json.RawMessage `json:"payload"`
}

// Feed is a part of the feed.
type Feed struct {
	Notices   []Notice `json:"notices"`
	Watermark uint64   `json:"watermark"` // the after of the next part
	More      bool     `json:"more"`
}

// ReadFeed gives what happened since a watermark.
func (c *Call) ReadFeed(after uint64, limit int, namespaces ...string) (Feed, error) {
	return ask[Feed](c, OpFeedRead, struct {
		After      uint64   `json:"after,omitempty"`
		Limit      int      `json:"limit,omitempty"`
		Namespaces []string `json:"namespaces,omitempty"`
	}{after, limit, namespaces})
}

// Emit stages an event of the feed.
func (c *Call) Emit(namespace, kind string, payload any) error {
	return c.Ask(OpFeedEmit, struct {
		Namespace string `json:"namespace,omitempty"`
		Kind      string `json:"kind"`
		Payload   any    `json:"payload,omitempty"`
	}{namespace, kind, payload}, nil)
}

// Branch is a branch.
type Branch struct {
	Name     string `json:"name"`
	Parent   string `json:"parent"`
	ForkedAt uint64 `json:"forked_at"`
	Created  string `json:"created"`
	Depth    int    `json:"depth"`
}

// Branches gives the branches.
func (c *Call) Branches() ([]Branch, error) {
	out, err := ask[struct {
		Branches []Branch `json:"branches"`
	}](c, OpBranchList, struct{}{})
	return out.Branches, err
}

// Diff asks for what differs between two branches.
type Diff struct {
	Source     string   `json:"source"`
	Target     string   `json:"target,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	Limit      int      `json:"limit,omitempty"`
}

// Differences are what differs.
type Differences struct {
	Added       int  `json:"added"`
	Changed     int  `json:"changed"`
	Removed     int  `json:"removed"`
	Clashes     int  `json:"clashes"`
	Truncated   bool `json:"truncated"`
	Differences []struct {
		Namespace string          `json:"namespace"`
		Key       string          `json:"key"`
		Base      json.RawMessage `json:"base"`
		Source    json.RawMessage `json:"source"`
		Target    json.RawMessage `json:"target"`
		Clash     string          `json:"clash"`
	} `json:"differences"`
}

// Diff compares two branches.
func (c *Call) Diff(d Diff) (Differences, error) { return ask[Differences](c, OpBranchDiff, d) }

// Fork makes a branch behind the commit. An empty from is the call's branch.
func (c *Call) Fork(name, from, asOf string) error {
	return c.Ask(OpBranchFork, struct {
		Name string `json:"name"`
		From string `json:"from,omitempty"`
		AsOf string `json:"as_of,omitempty"`
	}{name, from, asOf}, nil)
}

// Merge asks for the merge of a branch.
type Merge struct {
	Source     string   `json:"source"`
	Target     string   `json:"target,omitempty"`
	Strategy   string   `json:"strategy,omitempty"`
	Namespaces []string `json:"namespaces,omitempty"`
	Preview    bool     `json:"preview,omitempty"`
}

// Merged is what a merge did, or would do.
type Merged struct {
	Merged     bool            `json:"merged"`
	Applied    int             `json:"applied"`
	Clashes    json.RawMessage `json:"clashes"`
	Unresolved json.RawMessage `json:"unresolved"`
}

// Merge merges a branch behind the commit, or previews that.
func (c *Call) Merge(m Merge) (Merged, error) { return ask[Merged](c, OpBranchMerge, m) }

// DeleteBranch deletes a branch behind the commit.
func (c *Call) DeleteBranch(name string) error {
	return c.Ask(OpBranchDelete, map[string]string{"name": name}, nil)
}

// Linked are the links of a memory.
type Linked struct {
	Links      []string `json:"links"`
	LinkedFrom []string `json:"linked_from"`
}

// Links gives the links from and to a memory.
func (c *Call) Links(namespace, key string) (Linked, error) {
	return ask[Linked](c, OpLinkList, links{Namespace: namespace, Key: key})
}

// Link stages links to other memories.
func (c *Call) Link(namespace, key string, to ...string) error {
	return c.Ask(OpLinkAdd, links{namespace, key, to}, nil)
}

// Unlink stages the removal of links.
func (c *Call) Unlink(namespace, key string, to ...string) error {
	return c.Ask(OpLinkRemove, links{namespace, key, to}, nil)
}

type links struct {
	Namespace string   `json:"namespace,omitempty"`
	Key       string   `json:"key"`
	To        []string `json:"to,omitempty"`
}
