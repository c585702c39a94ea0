package memory

import (
	"context"
	"time"
)

// Hooks take part in a space's operations. They are called without locks held, and may be called concurrently.
type Hooks interface {
	// Storing is called before memories are stored, and before other changes that Asks covers. It may change what is stored,
	// or refuse the change with an error.
	Storing(ctx context.Context, s Storing) (Decision, error)
	// Asks reports whether Storing wants a change of a collection, as Storing.Collection; of memories, one that is not ChangeStore. It may
	// say so of what Storing passes over then: who changes what, and where, it does not know.
	Asks(c Change, collection string) bool
	// Ranker returns what orders a search's best hits, and how many of them; nil: nothing does. The search is without hits.
	Ranker(ctx context.Context, search Ranking) (rank Ranker, depth int)
}

// Ranker scores the best hits of a search: higher is better. ok is false if it leaves the order unchanged.
type Ranker func(ctx context.Context, r Ranking) (scores []float32, ok bool, err error)

// Change is a kind of change of memories or records.
type Change string

// The changes passed to hooks.
const (
	ChangeStore  Change = "store"
	ChangeDelete Change = "delete"
	ChangeState  Change = "state" // and nothing else about the memory
)

// Storing is a pending store or change.
type Storing struct {
	Location
	Collection string // as Collection.Name, of a family's records; empty: memories
	Change     Change
	Items      []Item // with keys: in their new state, or for ChangeDelete the present one. Records have a key and a value alone
	Caller     Caller // the author
	RequestID  string
	// Staged means that it comes from a Stage: only hooks that may refuse are called.
	Staged bool
	// Resolved means that a merge's resolution brings it. A merge cannot wait, so what a hook proposes is refused, and the hook keeps nothing of it.
	Resolved bool
	// Proposal is the branch that an earlier part of the same change is proposed on; empty: none.
	Proposal string
	// DryRun means that nothing will be stored: no hook may write, or have an effect outside.
	DryRun bool
	// Check refuses an item that could not be stored. It is never nil.
	Check func(it Item) error
}

// Decision is the hooks' answer to a Storing.
type Decision struct {
	Items    []Item   // same number and keys as before; unchanged for a ChangeDelete
	Notes    []string // for the caller, such as which hook was skipped and why
	Proposal string   // the branch for the change, as Commit.Proposal; empty: none
}

// Ranking holds the best hits of a search, best first, for Hooks to order.
type Ranking struct {
	Branch string
	Caller Caller // who searches
	// Namespaces are those searched; nil: all.
	Namespaces []string
	Query      string
	Now        time.Time
	Hits       int
	Types      []string // of each hit
	// Column returns a feature of each hit, NaN where missing, and nil for an unknown name. The names are
	// those of the ABI, without type.
	Column func(name string) []float32
}
