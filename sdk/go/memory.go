package alcove

import "encoding/json"

// Metadata are the metadata of a memory.
type Metadata = map[string]json.RawMessage

// Entry is what is being stored, or was.
type Entry struct {
	Namespace  string          `json:"namespace"`
	Collection string          `json:"collection"`
	Key        string          `json:"key"`
	Version    uint64          `json:"version"` // stored only
	Deleted    bool            `json:"deleted"` // stored only
	Value      json.RawMessage `json:"value"`
	Tags       []string        `json:"tags"`
	Type       string          `json:"type"`
	Importance *float64        `json:"importance"` // 0 to 1
	Metadata   Metadata        `json:"metadata"`
}

// Change is what a store hook changes in an entry. What is zero stays as it is.
type Change struct {
	Value      json.RawMessage `json:"value,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Type       string          `json:"type,omitempty"`
	Importance *float64        `json:"importance,omitempty"`
	Metadata   Metadata        `json:"metadata,omitempty"` // added, or put in place of those of the same name
}

// Memory is a memory. What was staged in the same call has version 0.
type Memory struct {
	Namespace  string          `json:"namespace"`
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	Tags       []string        `json:"tags"`
	Type       string          `json:"type"`
	Importance *float64        `json:"importance"`
	Metadata   Metadata        `json:"metadata"`
	Agent      string          `json:"agent"`
	State      string          `json:"state"` // active, archived, merged or pruned
	Supersedes []string        `json:"supersedes"`
	Links      []string        `json:"links"`
	ExpiresAt  string          `json:"expires_at"`
	Version    uint64          `json:"version"`
	Timestamp  string          `json:"timestamp"` // RFC 3339
	Deleted    bool            `json:"deleted"`   // in histories
	Counters   *Counters       `json:"counters"`  // where they were asked for
}

// Counters say how a memory was used.
type Counters struct {
	Accesses   int64   `json:"accesses"`
	LastAccess string  `json:"last_access"` // RFC 3339; empty: never
	Health     float64 `json:"health"`      // -1 to 1
}

// Fields are what is stored of a memory. What is zero is left as it is by Patch, and absent after Put.
type Fields struct {
	Value      json.RawMessage `json:"value,omitempty"`
	Tags       []string        `json:"tags,omitempty"`
	Type       string          `json:"type,omitempty"`
	Importance *float64        `json:"importance,omitempty"`
	Metadata   map[string]any  `json:"metadata,omitempty"` // in a patch: merged, and nil removes
	State      string          `json:"state,omitempty"`
	Supersedes []string        `json:"supersedes,omitempty"`
	Links      []string        `json:"links,omitempty"`
	ExpiresAt  string          `json:"expires_at,omitempty"`
}

// Namespaces gives the namespaces that the call may read.
func (c *Call) Namespaces() ([]string, error) {
	out, err := ask[struct {
		Namespaces []string `json:"namespaces"`
	}](c, OpMemoryNamespaces, struct{}{})
	return out.Namespaces, err
}

// Get asks for memories by their keys.
type Get struct {
	Keys      []string `json:"keys"`
	Namespace string   `json:"namespace,omitempty"`
	AsOf      string   `json:"as_of,omitempty"`
	Counters  bool     `json:"counters,omitempty"`
}

// Get gives memories in the order of the keys, nil for those that are not there.
func (c *Call) Get(g Get) ([]*Memory, error) {
	out, err := ask[struct {
		Memories []*Memory `json:"memories"`
	}](c, OpMemoryGet, g)
	return out.Memories, err
}

// List asks for memories in the order of their keys.
type List struct {
	Namespace string `json:"namespace,omitempty"`
	Prefix    string `json:"prefix,omitempty"`
	After     string `json:"after,omitempty"` // a key, or the Next of the page before
	Limit     int    `json:"limit,omitempty"` // default 100, at most 1,000
	AsOf      string `json:"as_of,omitempty"`
	Counters  bool   `json:"counters,omitempty"`
}

// Page is a page of memories.
type Page struct {
	Memories []Memory `json:"memories"`
	Next     string   `json:"next"` // empty: there are no more
}

// List gives one page of memories.
func (c *Call) List(l List) (Page, error) { return ask[Page](c, OpMemoryList, l) }

// Each calls f with each memory, page by page, until it answers an error.
func (c *Call) Each(l List, f func(*Memory) error) error {
	for {
		page, err := c.List(l)
		if err != nil {
			return err
		}
		for i := range page.Memories {
			if err := f(&page.Memories[i]); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		l.After = page.Next
	}
}

// History asks for the versions of a memory.
type History struct {
	Key       string `json:"key"`
	Namespace string `json:"namespace,omitempty"`
	Before    string `json:"before,omitempty"`
	Limit     int    `json:"limit,omitempty"`
}

// History gives versions, the newest first, and where the next page begins.
func (c *Call) History(h History) (versions []Memory, next string, err error) {
	out, err := ask[struct {
		Versions []Memory `json:"versions"`
		Next     string   `json:"next"`
	}](c, OpMemoryHistory, h)
	return out.Versions, out.Next, err
}

// Search asks for memories by what they are about.
type Search struct {
	Query      string    `json:"query"`
	Namespaces []string  `json:"namespaces,omitempty"`
	K          int       `json:"k,omitempty"`
	Offset     int       `json:"offset,omitempty"`
	Tags       []string  `json:"tags,omitempty"`
	Types      []string  `json:"types,omitempty"`
	States     []string  `json:"states,omitempty"`
	Since      string    `json:"since,omitempty"`
	Until      string    `json:"until,omitempty"`
	AsOf       string    `json:"as_of,omitempty"`
	Mode       string    `json:"mode,omitempty"` // lexical, semantic or hybrid
	Vector     []float32 `json:"vector,omitempty"`
	Features   bool      `json:"features,omitempty"`
}

// Hit is a memory that was found.
type Hit struct {
	Memory   Memory             `json:"memory"`
	Score    float64            `json:"score"`
	Snippet  string             `json:"snippet"`
	Features map[string]float64 `json:"features"` // columns of the rank hook, those that are not missing
}

// Hits are what a search found.
type Hits struct {
	Hits  []Hit `json:"hits"`
	Total int   `json:"total"`
}

// Search gives the best memories first. It does not see what was staged.
func (c *Call) Search(s Search) (Hits, error) { return ask[Hits](c, OpMemorySearch, s) }

// Item is a memory to be stored.
type Item struct {
	Key       string  `json:"key,omitempty"` // default: made of the value
	Namespace string  `json:"namespace,omitempty"`
	IfVersion *uint64 `json:"if_version,omitempty"` // what has to be there; 0: nothing
	Fields
}

// Place is where a memory is.
type Place struct {
	Namespace string `json:"namespace"`
	Key       string `json:"key"`
}

// Put stages memories, and gives their places.
func (c *Call) Put(items ...Item) ([]Place, error) {
	out, err := ask[struct {
		Stored []Place `json:"stored"`
	}](c, OpMemoryPut, map[string][]Item{"items": items})
	return out.Stored, err
}

// Patch is a change of a memory.
type Patch struct {
	Key        string   `json:"key"`
	Namespace  string   `json:"namespace,omitempty"`
	AddTags    []string `json:"add_tags,omitempty"`
	RemoveTags []string `json:"remove_tags,omitempty"`
	IfVersion  *uint64  `json:"if_version,omitempty"`
	Fields
}

// Patch stages changes, and gives the keys of memories that are not there.
func (c *Call) Patch(patches ...Patch) (missing []string, err error) {
	out, err := ask[struct {
		Missing []string `json:"missing"`
	}](c, OpMemoryPatch, map[string][]Patch{"patches": patches})
	return out.Missing, err
}

// Delete stages deletions, and gives how many there were to delete.
func (c *Call) Delete(namespace string, keys ...string) (int, error) {
	out, err := ask[struct {
		Deleted int `json:"deleted"`
	}](c, OpMemoryDelete, Get{Keys: keys, Namespace: namespace})
	return out.Deleted, err
}

// Touch is what is added to the counters of memories.
type Touch struct {
	Keys      []string `json:"keys"`
	Namespace string   `json:"namespace,omitempty"`
	Accesses  int64    `json:"accesses,omitempty"`
	Health    float64  `json:"health,omitempty"`
}

// Touch adds to the counters of memories, and gives how many there are.
func (c *Call) Touch(t Touch) (int, error) {
	out, err := ask[struct {
		Touched int `json:"touched"`
	}](c, OpMemoryTouch, t)
	return out.Touched, err
}
