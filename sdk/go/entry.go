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
