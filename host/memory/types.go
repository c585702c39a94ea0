package memory

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/search"
)

// Default is the name of the first branch and of the first namespace.
const Default = "default"

// Location is where a request reads or writes. Empty fields mean Default.
type Location struct {
	Branch    string
	Namespace string
}

// Write says who writes, and makes a retry of the same write safe.
type Write struct {
	Agent     string // kept with each version; may be empty
	RequestID string // the same agent, id and content commit once in 24 hours; empty: no protection
	// DryRun has everything checked, limits and hooks included, and nothing committed: the result is what the write would have
	// had, without the version and the instant that only a commit has.
	DryRun bool
	// Note is told what the caller should know beside, such as a hook that was not asked and why. It may be nil.
	Note func(note string)

	by Caller
}

func (w Write) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(fmt.Sprintf(format, args...))
	}
}

// identity is whose request ids these are. Callers with different rights share none: the answer of one may say what another must
// not know.
func (w Write) identity() string {
	if w.by.Rights.writesAll() {
		return w.Agent
	}
	return w.Agent + "\x00" + w.by.Rights.String()
}

// State is where a memory is in its life.
type State string

// The states of a memory. Searches find active ones unless asked otherwise; a key finds any of them.
const (
	Active   State = search.Active
	Archived State = "archived"
	Merged   State = "merged"
	Pruned   State = "pruned"
)

// Item is a memory to store.
type Item struct {
	Key        string          // empty: derived from the namespace and the value
	Value      json.RawMessage // any JSON value
	Tags       []string
	Type       string
	Importance *float64 // 0 to 1; nil: not given
	Metadata   map[string]json.RawMessage
	State      State // empty: Active
	Supersedes []string
	Links      []string
	ExpiresAt  time.Time // zero: never
	Vector     Vector    // what it means, if that is known already
	IfVersion  *uint64   // store only if this is the key's version now; 0: only if there is none
}

// Memory is one version of a memory.
type Memory struct {
	Namespace  string
	Key        string
	Value      json.RawMessage
	Tags       []string
	Type       string
	Importance *float64
	Metadata   map[string]json.RawMessage
	Agent      string
	State      State
	Supersedes []string
	Links      []string
	ExpiresAt  time.Time
	Vector     Vector // that it came with
	Version    uint64
	Timestamp  time.Time
	Deleted    bool   // in histories: the key was forgotten at this version
	Purged     string // in histories: the digest of what an operator erased here; all else is empty
}

// Stored is the receipt of a stored memory. It is durable, and searchable.
type Stored struct {
	Namespace string
	Key       string
	Version   uint64 // 0: it would be written, in a dry run
	Timestamp time.Time
	// Replaces is the version that was there; equal to Version where that says the same and nothing was written. 0: there was none,
	// or the request was repeated.
	Replaces uint64
}

// Counters are what is counted about a memory beside its versions.
type Counters struct {
	Accesses   int64
	LastAccess time.Time
	Health     float64 // -1 to 1, added to by feedback; 0 at first
}

// Search is a question about memories. Without a Text it lists all that its filters admit.
type Search struct {
	Text       string
	Branch     string   // empty: Default
	Namespaces []string // nil: all
	Events     bool     // search the log's events instead of memories
	K          int      // how many hits; 0: 10; at most Limits.K
	Offset     int
	Tags       []string // all of these
	Types      []string // any of these
	States     []State  // any of these; nil: Active
	Writers    []string // any of these, as Filter.Writers
	Since      time.Time
	Until      time.Time
	// MinImportance leaves out what is less important, or has no importance; nil: nothing.
	MinImportance *float64
	// Order is how the hits are ordered; empty: the best first, or without a Text the newest. Hooks do not rank what is ordered.
	Order    Order
	AsOf     AsOf
	Explain  bool
	Unranked bool      // in the space's own order, whatever Hooks say
	Features bool      // give the features of each hit
	Mode     Mode      // empty: Hybrid
	Vector   []float32 // what the question means, if that is known already
	Embedder string    // whose vectors decide; empty: those of the standard one
	Expand   bool      // look for what stands out in the best hits, too
	Distinct bool      // of near-duplicates only the best

	weights []search.Weighted
	by      Caller
	present bool // AsOf is a version of just now: counters are known
}

// Hit is a memory, or an event, that a search found.
type Hit struct {
	Memory
	Score   float64
	Snippet string
	Branch  string // the branch it was written on
	Similar int    // how many near-duplicates of it were left out, of those that were looked at
	Why     *search.Explanation
	// Features are those that Hooks can rank by, without the type and those that are missing, where they were asked for.
	Features map[string]float32
	// SemanticWeight is how much vectors counted beside words, from 0 to 1, when the search asked to explain itself.
	SemanticWeight float64
}

// Found is the answer to a Search.
type Found struct {
	Hits  []Hit
	Total int      // how many match in all
	Notes []string // what the caller should know beside, such as why they are in the server's own order
}

// Event is a record of the log.
type Event struct {
	Namespace string
	Sequence  uint64
	Event     string
	Data      json.RawMessage // nil when purged
	Agent     string
	Version   uint64
	Timestamp time.Time
	Digest    string // SHA-256 of the data, hexadecimal
	Hash      string // SHA-256 over the event before it and this one's particulars, hexadecimal
	Branch    string // the branch it was written on
}

// Branch describes a branch.
type Branch struct {
	Name     string
	Parent   string // empty for the first; the parent's last name if it was deleted
	ForkedAt uint64 // the version of the parent that it started from
	Created  time.Time
	Depth    int // how many ancestors it reads through
}

// Extent is the past that can be asked for on a branch.
type Extent struct {
	Branch        string
	Oldest        time.Time // zero when there is nothing yet
	Latest        time.Time
	OldestVersion uint64
	LatestVersion uint64
}

// Status is the state of a space.
type Status struct {
	Branch     string
	Namespace  string
	Branches   int
	Keys       int // live memories in the namespace asked for
	Events     int // records of the log there
	Version    uint64
	Searchable bool // false while the index is still being rebuilt after a start
	Embedders  []Embedder
}
