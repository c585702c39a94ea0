package feed

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Kind is the subject of a Notice.
type Kind string

// The kinds of notices.
const (
	MemoryStored    Kind = "memory_stored"
	MemoryForgotten Kind = "memory_forgotten"
	EventLogged     Kind = "event_logged"
)

// unread marks a notice whose kind a family chose, until that is read.
const unread Kind = ""

// Notice reports an event on a branch.
type Notice struct {
	Kind      Kind
	Namespace string
	Key       string // of the memory; the event's sequence number for an event
	Watermark uint64 // its version
	Timestamp time.Time
	Payload   json.RawMessage // of a family's notice; nil: none
	Agent     string          // the author; empty: unknown
	Family    string          // its sender; empty: not a family's notice, or an old one
	To        []string        // the agents that see it, beside its author; nil: all that may read the namespace

	perSpace   bool // on every branch
	restricted bool // to some agents
}

// Sequence returns the number in the log of the event that a notice of kind EventLogged is about.
func (n Notice) Sequence() uint64 {
	sequence, _ := store.ParseSequence(n.Key) // the log has no other keys
	return sequence
}

// isFor reports whether an agent sees a notice of a namespace that it may read.
func (n Notice) isFor(agent string) bool {
	return n.To == nil || agent != "" && (agent == n.Agent || slices.Contains(n.To, agent))
}

// isOf reports whether a notice has a kind, or one of a family's kinds.
func (n Notice) isOf(kind string) bool {
	family, all := strings.CutSuffix(kind, ".*")
	return string(n.Kind) == kind || all && n.Family == family && family != ""
}

// noticeOf returns the notice of a change, which is incomplete; ok is false if the feed has none of it.
func noticeOf(c change) (_ Notice, ok bool) {
	n := Notice{Namespace: c.Key.Namespace, Key: c.Key.Name, Watermark: c.Version, perSpace: c.perSpace, restricted: c.Key.Collection == emittedTo}
	switch {
	case c.Key.Collection == record.Memories && c.Deleted:
		n.Kind = MemoryForgotten
	case c.Key.Collection == record.Memories:
		n.Kind = MemoryStored
	case c.Key.Collection == record.Events:
		n.Kind = EventLogged
	case IsEmitted(c.Key.Collection) && !c.Deleted:
		n.Kind = unread
	default:
		return n, false
	}
	return n, true
}
