package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Hooks take part in what a space does. They are asked while nothing is locked, and may be asked concurrently.
type Hooks interface {
	// Storing is asked before memories are stored, or changed in a way that Asks wants to know of. It may change what is stored,
	// or refuse the change with an error.
	Storing(ctx context.Context, s Storing) (Decision, error)
	// Asks reports whether Storing is to be asked about a change that is not ChangeStore.
	Asks(c Change) bool
	// Depth is how many of a search's best hits Rank wants to order; 0: it wants none.
	Depth() int
	// Rank scores candidates: higher is better. ok is false when it leaves their order as it is.
	Rank(ctx context.Context, r Ranking) (scores []float32, ok bool, err error)
}

// Change is a way in which memories change.
type Change string

// The changes that hooks are asked about.
const (
	ChangeStore  Change = "store"
	ChangeDelete Change = "delete"
	ChangeState  Change = "state" // and nothing else about the memory
)

// Storing is what is about to be stored or changed.
type Storing struct {
	Location
	Change    Change
	Items     []Item // with keys: as they will be, or for ChangeDelete as they are
	Caller    Caller // who stores
	RequestID string
	// Staged says that it comes out of a Stage: only those are to be asked that may refuse.
	Staged bool
	// DryRun says that nothing will be stored: nothing that is asked may write, or have an effect outside.
	DryRun bool
}

// Decision is what hooks say of a Storing.
type Decision struct {
	Items    []Item   // as many as there were, with the same keys; a ChangeDelete leaves them as they were
	Notes    []string // what the caller should know beside, for instance who was not asked and why
	Proposal string   // the branch that the change is to go to, as Commit.Proposal; empty: none
}

// Ranking is the best hits of a search, best first, for Hooks to order.
type Ranking struct {
	Branch string
	Caller Caller // who searches
	Query  string
	Now    time.Time
	Hits   int
	Types  []string // of each hit
	// Column gives a feature of each hit, NaN where it is missing, and nil for a name that is not known. The names are
	// those of the ABI; type is not among them.
	Column func(name string) []float32
}

// SetHooks says who takes part from now on. It is called before the space is used.
func (s *Space) SetHooks(h Hooks) { s.hooks = h }

// storing asks the hooks about what is about to be stored or changed.
func (s *Space) storing(ctx context.Context, what Storing, w Write) (Decision, error) {
	if s.hooks == nil {
		return Decision{Items: what.Items}, nil
	}
	before := make([]json.RawMessage, len(what.Items))
	for i, it := range what.Items {
		before[i] = it.Value
	}
	what.Caller, what.RequestID, what.DryRun = w.by, w.RequestID, w.DryRun
	d, err := s.hooks.Storing(ctx, what)
	if err != nil {
		return d, err
	}
	for _, note := range d.Notes {
		w.note("%s", note)
	}
	for i, it := range d.Items {
		if !bytes.Equal(it.Value, before[i]) {
			d.Items[i].Vector = Vector{} // it says what the value meant before, which may be what is not to be kept
		}
		if err := s.limits.checkItem(it); err != nil {
			return d, inItem(i, len(d.Items), err)
		}
	}
	return d, nil
}

// noteProposed tells the caller of a request that was carried out before if a hook had proposed it.
func (s *Space) noteProposed(ctx context.Context, branch string, version uint64, w Write) {
	b, err := s.branch(branch)
	if err != nil || s.hooks == nil || version == 0 {
		return
	}
	if changes, _, err := s.engine.Changes(ctx, b.ID, version-1, version, 1); err == nil && len(changes) == 0 {
		w.note("This request was carried out before, and nothing was changed here: it was proposed on a branch of its own.")
	}
}

// asks reports whether hooks are asked about a change.
func (s *Space) asks(c Change) bool { return s.hooks != nil && s.hooks.Asks(c) }

// noteProposal tells the caller that a change was proposed; an empty branch: it was not.
func (w Write) noteProposal(branch string) {
	switch {
	case branch == "":
		return
	case w.DryRun:
		w.note("This would be proposed on a branch of its own: nothing would be changed here.")
		return
	}
	w.note("Nothing was changed here: it is proposed on branch %s. Compare it with memory_branch action=diff, then merge it or delete it.", branch)
}

// asked are staged memories of one namespace that change in one way.
type asked struct {
	namespace string
	change    Change
	sites     []site
}

// askHooks asks the hooks about what is staged, and makes the changes that they answer. It returns the branch that the commit is to
// be proposed on; empty: none.
func (t *Stage) askHooks(ctx context.Context, w Write) (proposal string, err error) {
	if t.space.hooks == nil {
		return "", nil
	}
	groups, err := t.toAsk(ctx)
	if err != nil {
		return "", err
	}
	for _, g := range groups {
		items, err := t.items(ctx, g.sites)
		if err != nil {
			return "", err
		}
		d, err := t.space.storing(ctx, Storing{Location: Location{t.branch.Name, g.namespace}, Change: g.change, Items: items, Staged: true}, w)
		if err != nil {
			return "", err
		}
		proposal = cmp.Or(proposal, d.Proposal)
		if g.change == ChangeDelete {
			continue
		}
		for i, at := range g.sites {
			r, err := newRecord(d.Items[i], t.agent)
			if err != nil {
				return "", err
			}
			r.Created = t.changed[at].Created
			t.changed[at] = &r
		}
	}
	return proposal, nil
}

// toAsk are the staged memories that hooks are asked about, in the order in which they were staged.
func (t *Stage) toAsk(ctx context.Context) (groups []asked, err error) {
	for _, at := range t.order {
		if at.Collection != memories || at.system {
			continue
		}
		change, err := t.changeOf(ctx, at)
		if err != nil {
			return nil, err
		}
		if change == ChangeDelete && !t.space.asks(ChangeDelete) {
			continue
		}
		i := slices.IndexFunc(groups, func(g asked) bool { return g.namespace == at.Namespace && g.change == change })
		if i < 0 {
			i, groups = len(groups), append(groups, asked{namespace: at.Namespace, change: change})
		}
		groups[i].sites = append(groups[i].sites, at)
	}
	return groups, nil
}

// changeOf is how a staged memory changes. What it was is read only where hooks ask about states.
func (t *Stage) changeOf(ctx context.Context, at site) (Change, error) {
	will := t.changed[at]
	if will == nil {
		return ChangeDelete, nil
	}
	if !t.space.asks(ChangeState) {
		return ChangeStore, nil
	}
	was, err := t.before(ctx, []site{at})
	if err != nil || was[0] == nil || was[0].State == will.State {
		return ChangeStore, err
	}
	was[0].State = will.State
	if was[0].SameContent(*will) {
		return ChangeState, nil
	}
	return ChangeStore, nil
}

// items are staged memories as a hook is shown them: as they will be, or those that are deleted as they are.
func (t *Stage) items(ctx context.Context, sites []site) ([]Item, error) {
	items := make([]Item, len(sites))
	for i, at := range sites {
		r := t.changed[at]
		if r == nil {
			was, err := t.before(ctx, []site{at})
			if err != nil {
				return nil, err
			}
			if r = was[0]; r == nil {
				r = &record.Record{} // it was deleted meanwhile: the commit will be a conflict
			}
		}
		items[i] = itemOf(at.Name, *r)
	}
	return items, nil
}

// before are memories as they are without what is staged.
func (t *Stage) before(ctx context.Context, sites []site) ([]*record.Record, error) {
	keys := make([]store.Key, len(sites))
	for i, at := range sites {
		keys[i] = at.Key
	}
	found, err := t.space.engine.GetAt(ctx, t.lineage(false), keys)
	if err != nil {
		return nil, t.space.translate("read what is changed", err)
	}
	records := make([]*record.Record, len(found))
	for i, e := range found {
		if records[i], err = t.live(e); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// CheckItem refuses an item that could not be stored.
func (s *Space) CheckItem(it Item) error { return s.limits.checkItem(it) }

// Watch tells of new commits: the channel carries the newest version, skipping those that the reader was too slow for, and
// is closed when ctx or the space ends.
func (s *Space) Watch(ctx context.Context) <-chan uint64 { return s.engine.Watch(ctx) }
