// Package search ranks the documents of a view by their match with a query.
package search

import (
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Doc is one version of an entry. A deleted one has only its identifying fields; it hides older versions of the key.
type Doc struct {
	Branch     store.BranchID
	Version    uint64
	Namespace  string
	Collection string
	Key        string

	Deleted bool
	Text    []string // searchable passages; tags and key are indexed without being repeated here
	Tags    []string
	Type    string
	State   string    // statistics count documents in state Active only
	Time    time.Time // when this version was written
	Expires time.Time // zero: never
	// Importance, from 0 to 1, is returned with hits and does not affect scores; nil: not given.
	Importance *float64
	Agent      string    // who wrote this version
	Created    time.Time // when the document was created; zero: with this version
	Fields     []Field   // that filters can test
	Turn       *Turn     // its position in a conversation; nil: none

	Vector   []float32 // its embedding, if stored with it; nil: none
	VectorOf string    // the vector's embedder; empty: any of the same dimensions

	analysis *preparedDoc // nil: Apply analyses it
}

// Active is the state of documents that are searched unless a query says otherwise.
const Active = "active"

// View is the set of documents that a lineage sees in some namespaces and collections, unexpired at an instant. Search
// statistics cover the view's active documents alone, so results equal those of an index that only ever held that view.
type View struct {
	Lineage     store.Lineage
	Namespaces  []string // names and patterns such as "team/*"; nil: all
	Sole        string   // a namespace beside which the view has none, as of package namespace; empty: any
	Collections []string // nil: all
	Now         time.Time
}

// Query is a search request. Filters apply before the best K are chosen.
type Query struct {
	Text string
	// Question is Text, understood by the analyser of the view's collections; nil: it is not yet.
	Question *Question

	K       int       // how many hits; 0 means DefaultHits
	Offset  int       // how many of the best hits to pass over
	Tags    []string  // a hit has all of these
	NoTags  []string  // and none of these
	Prefix  string    // its key begins with it
	Types   []string  // a hit has one of these; nil: any
	Agents  []string  // a hit was written by one of these; nil: any
	States  []string  // a hit is in one of these; nil: Active
	Since   time.Time // a hit was created or written at or after this; zero: any time
	Until   time.Time // and before this; zero: any time
	Explain bool

	MinImportance *float64 // a hit has at least this importance; nil: any, or none

	Plain bool // score turns as ordinary documents
	// Weights are the terms' weights, as Expand returns them; terms that Text lacks are added. Nil: 1 each.
	Weights []Weighted

	// Vector is the query's embedding, in the dimensions of the index's Semantic; nil: lexical search alone.
	Vector []float32
	// Embedder names the embedder whose vectors are searched; empty: the default one.
	Embedder string
	// Mode chooses lexical, vector or hybrid ranking when there is a Vector.
	Mode Mode

	selected   *Filter // in place of the filters above; nil: these
	exhaustive bool    // all matches are scored, as tests compare them
}

// filter returns the filters of a query. The bitsets of a ranking leave out what has expired.
func (q *Query) filter() Filter {
	if q.selected != nil {
		return *q.selected
	}
	f := Filter{Prefix: q.Prefix, States: q.States, Types: q.Types, Agents: q.Agents, Tags: q.Tags, NoTags: q.NoTags, MinImportance: q.MinImportance, Dated: Span{q.Since, q.Until}, Expiry: AnyExpiry}
	if len(f.States) == 0 {
		f.States = []string{Active}
	}
	return f
}

// Mode selects the ranking.
type Mode int

// The modes of a query. Without a Vector they are all Lexical.
const (
	Hybrid  Mode = iota // lexical and vector scores, fused
	Lexical             // lexical scores alone
	Dense               // vector scores alone
)

// Ref names a version of a document.
type Ref struct {
	Branch     store.BranchID
	Version    uint64
	Namespace  string
	Collection string
	Key        string
}

// Hit is a matching document with its score: higher is better.
type Hit struct {
	Branch     store.BranchID
	Version    uint64
	Namespace  string
	Collection string
	Key        string
	Score      float64
	Lexical    float64   // the lexical score; equal to Score unless the index has a Semantic
	Semantic   float64   // the vector's similarity; NaN: unknown
	Meaning    float64   // the share of Score that the similarity adds, from 0 to 1; NaN: Semantic.Fuse set the score
	Time       time.Time // when this version was written
	Type       string
	Importance float64      // NaN: not given
	Length     int          // terms that are not stop words
	Why        *Explanation // nil unless Query.Explain

	SupersededBy string // the key of the document that replaces it, set by MarkSuperseded; empty: none does
}

// Explanation breaks a score down: the sum of the terms' scores, or for a conversation's turn the sum of its features.
type Explanation struct {
	Terms     []Term    `json:"terms"`
	Documents int       `json:"documents"`      // active documents in the view
	Length    int       `json:"length"`         // terms in this document
	Average   float64   `json:"average_length"` // terms in the view's average document
	K1        float64   `json:"k1"`
	B         float64   `json:"b"`
	Turn      *Features `json:"turn,omitempty"` // nil: not a turn, or scored like other documents
}

// Features are the parts of a turn's score: see Conversation.
type Features struct {
	Window   float64 `json:"window"`
	Cover    float64 `json:"cover"`
	Zone     float64 `json:"zone"`
	Question float64 `json:"question"`
	Speaker  float64 `json:"speaker"`
	Date     float64 `json:"date"`
}

// withoutZone is the sum of all features but the zone.
func (f *Features) withoutZone() float64 { return f.Window + f.Cover + f.Question + f.Speaker + f.Date }

// Term is the contribution of one query term to a score.
type Term struct {
	Term      string  `json:"term"`
	Score     float64 `json:"score"`
	Frequency int     `json:"frequency"` // in the document
	Documents int     `json:"documents"` // document frequency among the view's active documents
	IDF       float64 `json:"idf"`
	// Near is the similarity of the term to the query's, which the document lacks: term≈similar; 0: the document has it.
	Near float64 `json:"near,omitempty"`
}

// Result is the best hits of a search.
type Result struct {
	Hits  []Hit
	Total int // matching documents
}
