// Package search ranks the documents of a view by their match with a query.
package search

import (
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Doc is one version of an entry, as the index sees it. Deleted documents carry only what names them:
// they hide older versions of the key.
type Doc struct {
	Branch     store.BranchID
	Version    uint64
	Namespace  string
	Collection string
	Key        string

	Deleted bool
	Text    []string // what can be searched, passage by passage; tags and key are not repeated here
	Tags    []string
	Type    string
	State   string    // only documents in state Active are counted in statistics
	Time    time.Time // when this version was written
	Expires time.Time // zero: never
	// Importance is how much it matters, from 0 to 1; nil: not given. Searches give it back and do nothing with it.
	Importance *float64
	Turn       *Turn // what it is in a conversation; nil: nothing

	Vector   []float32 // what it means, if it came with that; searches by words do without it
	VectorOf string    // the embedder that the vector is of; empty: any with as many dimensions
}

// Active is the state of documents that are searched unless a query says otherwise.
const Active = "active"

// View says which documents there are: those that a lineage sees, in some namespaces and collections,
// unexpired at an instant. All statistics of a search are those of its view's active documents, so results are
// those of an index that had only ever held that view.
type View struct {
	Lineage     store.Lineage
	Namespaces  []string // nil: all
	Collections []string // nil: all
	Now         time.Time
}

// Query says what to look for. Filters apply before the best K are taken.
type Query struct {
	Text    string
	K       int       // how many hits; 0 means 10
	Offset  int       // how many of the best hits to pass over
	Tags    []string  // a hit has all of these
	Types   []string  // a hit has one of these; nil: any
	States  []string  // a hit is in one of these; nil: Active
	Since   time.Time // a hit was written at or after this; zero: any time
	Until   time.Time // a hit was written before this; zero: any time
	Explain bool

	Plain bool // turns score as if they were no turns
	// Weights say how much terms count, as Expand makes them; those that the question does not have are added. Nil: 1 each.
	Weights []Weighted

	// Vector is the query's embedding, in the dimensions of the index's Semantic; nil: lexical search alone.
	Vector []float32
	// Embedder is whose vectors are searched; empty: those of the standard one.
	Embedder string
	// Mode says what decides when there is a Vector.
	Mode Mode
}

// Mode is what decides how documents are ranked.
type Mode int

// The modes of a query. Without a Vector they are all Lexical.
const (
	Hybrid  Mode = iota // words and meaning
	Lexical             // words alone
	Meaning             // meaning alone
)

// Ref names a version of a document.
type Ref struct {
	Branch     store.BranchID
	Version    uint64
	Namespace  string
	Collection string
	Key        string
}

// Hit is a document that matches, with its score: higher is better.
type Hit struct {
	Branch     store.BranchID
	Version    uint64
	Namespace  string
	Collection string
	Key        string
	Score      float64
	Lexical    float64   // how well its words match; Score is the same unless the index has a Semantic
	Semantic   float64   // how near its vector is; NaN where that is not known
	Time       time.Time // when this version was written
	Type       string
	Importance float64      // NaN where it was not given
	Length     int          // terms that are not stop words
	Why        *Explanation // when the query asked for it
}

// Explanation shows how a score came about: it is the sum of its terms' scores, times the factors of a conversation's
// turn, plus what the turns around it gave.
type Explanation struct {
	Terms     []Term
	Documents int     // active documents in the view
	Length    int     // terms in this document
	Average   float64 // terms in the view's average document
	K1, B     float64
	Speaker   float64 // factor for a speaker whom the question names; 0: none
	Date      float64 // factor for a date that the question names; 0: none
	Around    float64 // what the turns before and after gave to the score
}

// Term is one query term's part in a score.
type Term struct {
	Term      string
	Frequency int // in the document
	Documents int // active documents in the view that have it
	IDF       float64
	Score     float64
}

// Result is the result of a search.
type Result struct {
	Hits  []Hit
	Total int // how many documents match, of which Hits are the best
}
