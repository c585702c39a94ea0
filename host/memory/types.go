package memory

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/search"
)

// Default is the name of the first branch and the first namespace.
const Default = "default"

// Location is the branch and namespace of a request. Empty fields mean Default.
type Location struct {
	Branch    string
	Namespace string
}

// Write names the author of a write, and makes its retries safe.
type Write struct {
	Agent     string // kept with each version; may be empty
	RequestID string // the same agent, id and content commit once in 24 hours; empty: no protection
	// DryRun checks everything, limits and hooks included, and commits nothing: the result is that of the write,
	// without the version and the instant that only a commit has.
	DryRun bool
	// Note receives notes for the caller, such as a skipped hook and the reason. It may be nil.
	Note func(note string)
	// Proposed receives the branch that the change is proposed on, if a hook sent it there: nothing is changed. It may be nil.
	Proposed func(branch string)

	by Caller
}

func (w Write) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(fmt.Sprintf(format, args...))
	}
}

// identity returns the scope of request ids. Callers with different rights share none: one's answer may hold what another must
// not know.
func (w Write) identity() string {
	if w.by.Rights.Ceiling().writesAll() && !w.by.Rights.limited {
		return w.Agent
	}
	return w.Agent + "\x00" + w.by.Rights.String()
}

// State is a state in the life of a memory.
type State string

// The states of a memory. Searches find active ones by default; a key finds any of them.
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
	Importance *float64 // 0 to 1; nil: none
	Metadata   map[string]json.RawMessage
	State      State // empty: Active
	Supersedes []string
	Links      []string
	ExpiresAt  time.Time // zero: never
	Vector     Vector    // its embedding, if known
	Created    time.Time // at its origin, for imports; zero or in the future: when the key was first stored
	IfVersion  *uint64   // the expected version of the key; 0: none; nil: any
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
	Vector     Vector // given by the client
	Version    uint64
	Timestamp  time.Time
	Created    time.Time // the first version since its last deletion; zero: it is staged
	Deleted    bool      // in histories: the key was deleted at this version
	Purged     string    // in histories: the digest of a purged value; all else is empty
	Origin     *Origin   // in histories: where it was written; nil: here
}

// Origin is where a version was written, if that was in another space.
type Origin struct {
	Space   string // the incarnation of that space
	Version uint64 // of that space
	Time    time.Time
	Next    string // of a version that Elsewhere listed: continues after it
}

// Stored is the receipt of a memory, which is durable and searchable.
type Stored struct {
	Namespace string
	Key       string
	Version   uint64 // 0: a dry run
	Timestamp time.Time
	// Replaces is the former version; equal to Version if an identical memory was there and nothing was written. 0: none,
	// or the request was repeated.
	Replaces uint64
	// Former is what is replaced, for a caller that may read it; nil: nothing, or the commit is a proposal.
	Former *Former

	readable bool // the caller may read the namespace
}

// Former is a memory that a store replaces.
type Former struct {
	Version uint64
	Value   json.RawMessage // nil: the new value is equal
	Agent   string
}

// Counters are the counters of a memory, which have no versions.
type Counters struct {
	Accesses   int64
	LastAccess time.Time
	Health     float64 // -1 to 1, changed by feedback; initially 0
}

// Search is a query for memories. Without a Text it lists all that match its filters.
type Search struct {
	Text       string
	Branch     string   // empty: Default
	Namespaces []string // nil: all
	// Project is a namespace beside which none is searched: of project/a, project/b and default the first and the last. Empty: no matter.
	Project string `json:",omitempty"`
	// Preferred is a namespace whose hits go before others with nearly the same score; empty: none.
	Preferred string `json:",omitempty"`
	Events    bool   // search events instead of memories
	K         int    // number of hits, at most MostHits; 0: search.DefaultHits
	Offset    int
	Tags      []string  // all of these
	NoTags    []string  `json:",omitempty"` // none of these
	Types     []string  // any of these
	Prefix    string    `json:",omitempty"` // of the key
	States    []State   // any of these; nil: Active
	Writers   []string  // any of these, as Filter.Writers
	Since     time.Time // created or changed from then on
	Until     time.Time // and before this
	// MinImportance excludes memories of less, or no importance; nil: none.
	MinImportance *float64
	// Order is the order of the hits; empty: the best first, or without a Text the newest. Hooks do not rank ordered hits.
	Order Order
	// After is Found.Next of the page before, for an ordered search: a page shows what there was at the first one. Orders by counters go by
	// present counters, so a memory whose counters change between two pages may be on both, or on neither.
	After    string
	AsOf     AsOf
	Explain  bool
	Unranked bool      // in the space's own order, without Hooks
	Features bool      // return the features of each hit
	Mode     Mode      // empty: Hybrid
	Vector   []float32 // the question's embedding, if known
	Embedder string    // the one to rank by; empty: the standard one
	Expand   bool      // also search for distinctive terms of the best hits
	Distinct bool      // only the best of near-duplicates
	Facets   bool      `json:",omitempty"` // count all that matches, too

	// Passage is the length of snippets of values more than twice as long, in characters; 0: the usual length.
	Passage int

	asked    [8]byte          // identifies an ordered search, without its page
	question *search.Question // Text, understood
	weights  []search.Weighted
	records  string // the collection of families' records that is searched instead
	by       Caller
	present  bool // AsOf is a version of just now: counters are known
}

// Hit is a memory, or an event, found by a search.
type Hit struct {
	Memory
	Score   float64
	Branch  string // the branch it was written on
	Similar int    // near-duplicates left out, of the hits examined
	// SupersededBy is the key of the active memory of the namespace that replaces it; empty: none does.
	SupersededBy string
	Why          *search.Explanation
	// Features are those that Hooks can rank by, except the type and missing ones, if requested.
	Features map[string]float32
	// SemanticWeight is the share of vectors in the score, from 0 to 1, if the search requested an explanation.
	SemanticWeight float64

	question *search.Question // that it was found with
	snippet  int              // length of its snippet, in characters
	event    bool
}

// Found is the result of a Search.
type Found struct {
	Hits  []Hit
	Total int      // matches in all
	Notes []string // for the caller, such as why hits are in the server's own order
	// Partial means that something was left out, which Notes say, because the search's context would have ended before.
	Partial bool
	Vectors bool // vectors were searched, too
	// Next continues an ordered search, as Search.After; empty at the end.
	Next   string
	Facets *Facets // nil unless the search asked for them
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
	Hash      string // SHA-256 over the previous event and this one's fields, hexadecimal
	Branch    string // the branch it was written on
}

// Branch describes a branch.
type Branch struct {
	Name     string
	Parent   string // empty for the first; the parent's last name if it was deleted
	ForkedAt uint64 // the version of the parent at the fork
	Created  time.Time
	Depth    int       // number of ancestors that it reads through
	Deleted  time.Time // of one that can be restored; zero: it is not deleted
}

// PastMerge is a merge of one branch into another.
type PastMerge struct {
	Source        string
	Target        string
	SourceVersion uint64 // up to which the target has what the source had
	Version       uint64 // of the merge
	Timestamp     time.Time
}

// Extent is the readable past of a branch.
type Extent struct {
	Branch        string
	Oldest        time.Time // zero: nothing there yet
	Latest        time.Time
	OldestVersion uint64
	LatestVersion uint64
}

// Status is the state of a space.
type Status struct {
	Branch     string
	Namespace  string
	Branches   int
	Keys       int // live memories in the namespace
	Events     int // in its log
	Version    uint64
	Searchable bool // false while the index is filled after a start
	Embedders  []Embedder
}

// Order is the order of a listing. Ties are in the order of namespaces and keys.
type Order string

// The orders of a listing.
const (
	ByKey        Order = "key"
	ByNewest     Order = "newest"     // last created first
	ByOldest     Order = "oldest"     // first created first
	ByUpdate     Order = "updated"    // last written first
	ByImportance Order = "importance" // most important first, without importance last
	ByAccesses   Order = "accesses"   // most often recalled first
	ByAccess     Order = "accessed"   // last recalled first, never recalled last
)
