package memory

import (
	"bytes"
	"context"
	"encoding/json"
	"time"
)

// Hooks take part in what a space does. They are asked while nothing is locked, and may be asked concurrently.
type Hooks interface {
	// Storing is asked before memories are stored. It may change what is stored, refuse it with an error, and say what the
	// caller should know beside, for instance who was not asked and why. The items it returns are as many as it was given,
	// with the same keys.
	Storing(ctx context.Context, s Storing) (items []Item, notes []string, err error)
	// Depth is how many of a search's best hits Rank wants to order; 0: it wants none.
	Depth() int
	// Rank scores candidates: higher is better. ok is false when it leaves their order as it is.
	Rank(ctx context.Context, r Ranking) (scores []float32, ok bool, err error)
}

// Storing is what is about to be stored.
type Storing struct {
	Location
	Items     []Item // with keys
	Caller    Caller // who stores
	RequestID string
	// Staged says that it comes out of a Stage: only those are to be asked that may refuse.
	Staged bool
	// DryRun says that nothing will be stored: nothing that is asked may write, or have an effect outside.
	DryRun bool
}

// Ranking is the best hits of a search, best first, for Hooks to order.
type Ranking struct {
	Branch string
	Caller Caller // who searches
	// Namespaces are those that are searched; nil: all.
	Namespaces []string
	Query      string
	Now        time.Time
	Hits       int
	Types      []string // of each hit
	// Column gives a feature of each hit, NaN where it is missing, and nil for a name that is not known. The names are
	// those of the ABI; type is not among them.
	Column func(name string) []float32
}

// SetHooks says who takes part from now on. It is called before the space is used.
func (s *Space) SetHooks(h Hooks) { s.hooks = h }

// storing asks the hooks about what is about to be stored.
func (s *Space) storing(ctx context.Context, p Location, items []Item, w Write, staged bool) ([]Item, error) {
	if s.hooks == nil {
		return items, nil
	}
	before := make([]json.RawMessage, len(items))
	for i, it := range items {
		before[i] = it.Value
	}
	changed, notes, err := s.hooks.Storing(ctx, Storing{Location: p, Items: items, Caller: w.by, RequestID: w.RequestID, Staged: staged, DryRun: w.DryRun})
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		w.note("%s", note)
	}
	for i, it := range changed {
		if !bytes.Equal(it.Value, before[i]) {
			changed[i].Vector = Vector{} // it says what the value meant before, which may be what is not to be kept
		}
		if err := s.limits.checkItem(it); err != nil {
			return nil, inItem(i, len(changed), err)
		}
	}
	return changed, nil
}

// CheckItem refuses an item that could not be stored.
func (s *Space) CheckItem(it Item) error { return s.limits.checkItem(it) }

// Watch tells of new commits: the channel carries the newest version, skipping those that the reader was too slow for, and
// is closed when ctx or the space ends.
func (s *Space) Watch(ctx context.Context) <-chan uint64 { return s.engine.Watch(ctx) }
