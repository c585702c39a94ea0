package feed

import (
	"encoding/json"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/fault"
)

// The collections of families' notices. They are no memories: merges leave them in place. Those for some agents have their own, lest the
// sequence numbers of the others tell how many there are.
const (
	emitted   = "_feed"
	emittedTo = "_feed_to"
)

// IsEmitted reports whether a collection has families' notices.
func IsEmitted(collection string) bool { return collection == emitted || collection == emittedTo }

// mostRecipients bounds the recipients of a notice.
const mostRecipients = 1000

// Emission is a family's notice for the feed.
type Emission struct {
	Family   string
	Kind     Kind
	Payload  json.RawMessage // nil: none
	To       []string        // the agents that see it, beside the one that causes it; nil: all that may read the namespace
	PerSpace bool            // in the feed of every branch, where it is kept for a day at most
}

// Check returns an error if the kind is not for families, or the recipients are not possible.
func (e Emission) Check() error {
	if e.Kind == MemoryStored || e.Kind == MemoryForgotten || e.Kind == EventLogged {
		return fault.Invalid("kind %s is the memory's own: choose another name", e.Kind)
	}
	if len(e.To) > mostRecipients || slices.Contains(e.To, "") {
		return fault.Invalid("a notice has at most %d recipients, each with a name: it has %d", mostRecipients, len(e.To))
	}
	return nil
}

// emittedRecord is the value of the record that a notice is stored as.
type emittedRecord struct {
	Kind    Kind            `json:"kind"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Family  string          `json:"family,omitempty"`
	To      []string        `json:"to,omitempty"`
}

// Record returns the record that a notice is stored as, and its collection.
func (e Emission) Record() (collection string, value json.RawMessage, err error) {
	value, err = json.Marshal(emittedRecord{e.Kind, e.Payload, e.Family, e.To})
	if e.To != nil {
		return emittedTo, value, err
	}
	return emitted, value, err
}
