package memory

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// consult calls the hooks for a pending store or change.
func (s *Space) consult(ctx context.Context, what Storing, w Write) (Decision, error) {
	before := make([]json.RawMessage, len(what.Items))
	for i, it := range what.Items {
		before[i] = it.Value
	}
	what.Caller, what.RequestID, what.DryRun = w.by, w.RequestID, w.DryRun
	d, err := s.currentHooks().Storing(ctx, what)
	if err != nil {
		return d, err
	}
	for _, note := range d.Notes {
		w.note("%s", note)
	}
	for i, it := range d.Items {
		if !bytes.Equal(it.Value, before[i]) {
			d.Items[i].Vector = Vector{} // the vector is of the former value
		}
		if err := what.Check(it); err != nil {
			return d, inItem(i, len(d.Items), err)
		}
	}
	return d, nil
}

// noteProposed adds a note to a repeated request if a hook had proposed its change.
func (s *Space) noteProposed(ctx context.Context, branch string, version uint64, w Write) {
	b, err := s.branch(branch)
	if err != nil || s.currentHooks() == nil || version == 0 {
		return
	}
	if changes, _, err := s.engine.Changes(ctx, b.ID, version-1, version, 1); err == nil && len(changes) == 0 {
		w.note("This request was carried out before, and nothing was changed here: it was proposed on a branch of its own.")
	}
}

// asks reports whether hooks are called for a change of a collection.
func (s *Space) asks(c Change, collection string) bool {
	return s.currentHooks() != nil && s.currentHooks().Asks(c, collection)
}

// noteProposal adds a note that a change was proposed; an empty branch: it was not.
func (w Write) noteProposal(branch string) {
	switch {
	case branch == "":
		return
	case w.DryRun:
		w.note("This would be proposed on a branch of its own: nothing would be changed here.")
		return
	}
	if w.Proposed != nil {
		w.Proposed(branch)
	}
	w.note("Nothing was changed here: it is proposed on branch %s. Compare it with memory_branch action=diff, then merge it or delete it; "+
		"if it waits for an approver, memory_pending_reject withdraws it.", branch)
}

// hookGroup groups staged memories, or records of a collection, of one namespace with the same kind of change.
type hookGroup struct {
	namespace, collection string
	perSpace              bool
	change                Change
	sites                 []site
	bytes                 int
}

// Bounds of a group. Guests have a limit on requests.
const (
	askedItems = 1000
	askedBytes = 1 << 20 // of values, if there are several
)

// takes reports whether a group has room for another entry.
func (g hookGroup) takes(at site, c Change, size int) bool {
	return g.namespace == at.Namespace && g.collection == at.Collection && g.perSpace == at.system && g.change == c &&
		len(g.sites) < askedItems && g.bytes+size <= askedBytes
}

// askHooks calls the hooks for the staged changes, or for the caller's own write, and applies what they change. It returns the branch of the
// proposal; empty: none.
func (t *Stage) askHooks(ctx context.Context, w Write) (proposal string, err error) {
	if t.space.currentHooks() == nil || t.origin == fromUndo {
		return "", nil
	}
	groups, err := t.toAsk(ctx)
	if err != nil {
		return "", err
	}
	for _, g := range groups {
		items, err := t.items(ctx, g)
		if err != nil {
			return "", err
		}
		what := t.about(g, items)
		what.Proposal = proposal
		d, err := t.space.consult(ctx, what, w)
		if err == nil && d.Proposal != "" {
			err = t.mayPropose(g)
		}
		if err != nil {
			return "", err
		}
		proposal = cmp.Or(proposal, d.Proposal)
		if err := t.decided(ctx, g, items, d.Items); err != nil {
			return "", err
		}
	}
	return proposal, nil
}

// mayPropose returns an error if a group cannot be proposed.
func (t *Stage) mayPropose(g hookGroup) error {
	switch {
	case t.origin == fromMerge:
		return &Error{Code: Denied, Message: fmt.Sprintf("nothing was merged: the resolution of %q brings a change that must be approved first, and a merge cannot wait: take source or target, or make the change with memory_store or memory_forget",
			clip(g.sites[0].Name, 64))}
	case g.perSpace:
		return &Error{Code: Denied, Message: fmt.Sprintf("nothing was stored: records of %s are the same on every branch, so a change of them cannot be proposed", g.collection)}
	}
	return nil
}

// about returns the Storing of a group.
func (t *Stage) about(g hookGroup, items []Item) Storing {
	s := Storing{Location: Location{t.home().Name, g.namespace}, Change: g.change, Items: items, Check: t.space.limits.checkItem,
		Staged: t.origin == fromStage, Resolved: t.origin == fromMerge}
	if g.collection != memories {
		c := t.kept[g.collection]
		s.Collection, s.Check = g.collection, func(it Item) error {
			_, err := t.newRecord(c, RecordItem{Key: it.Key, Value: it.Value})
			return err
		}
	}
	return s
}

// decided stages a group as the hooks changed it.
func (t *Stage) decided(ctx context.Context, g hookGroup, before, after []Item) error {
	switch {
	case g.change == ChangeDelete:
		return nil
	case t.own != nil:
		t.own.items = after
		return nil
	}
	for i, at := range g.sites {
		if g.collection != memories && bytes.Equal(before[i].Value, after[i].Value) {
			continue
		}
		r, err := t.redone(ctx, g, at, after[i])
		if err != nil {
			return err
		}
		if g.collection == memories && t.changed[at].SameContent(r) {
			continue // keep its author
		}
		t.set(at, &r)
	}
	return t.room()
}

// redone returns a staged record as the hooks changed it.
func (t *Stage) redone(ctx context.Context, g hookGroup, at site, it Item) (record.Record, error) {
	was, c := t.changed[at], t.kept[g.collection]
	if g.collection == memories {
		r, err := newRecord(it, t.agent)
		r.Created = was.Created
		return r, err
	}
	r, err := t.newRecord(c, RecordItem{Key: at.Name, Value: it.Value})
	if err != nil {
		return r, err
	}
	r.Expires = was.Expires
	return r, t.weigh(ctx, at, store.Entry{}, &r, c.Quota) // its former state is known
}

// toAsk returns the groups for the hooks, in staging order.
func (t *Stage) toAsk(ctx context.Context) (groups []hookGroup, err error) {
	if t.own != nil {
		return t.toAskOwn()
	}
	type kind struct {
		change     Change
		collection string
	}
	wanted := map[kind]bool{} // of changes other than stores of memories
	for _, at := range t.order {
		if ownerOf(at.Collection) == "" && (at.Collection != memories || at.system) {
			continue
		}
		change, err := t.changeOf(ctx, at)
		if err != nil {
			return nil, err
		}
		if k := (kind{change, at.Collection}); at.Collection != memories || change == ChangeDelete {
			asks, known := wanted[k]
			if !known {
				asks = t.space.asks(change, storedIn(at))
				wanted[k] = asks
			}
			if !asks {
				continue
			}
		}
		size := t.changed[at].Size()
		i := slices.IndexFunc(groups, func(g hookGroup) bool { return g.takes(at, change, size) })
		if i < 0 {
			i, groups = len(groups), append(groups, hookGroup{namespace: at.Namespace, collection: at.Collection, perSpace: at.system, change: change})
		}
		groups[i].sites, groups[i].bytes = append(groups[i].sites, at), groups[i].bytes+size
	}
	return groups, nil
}

// toAskOwn returns a caller's own write, if hooks want it: of a store, all items, staged or not.
func (t *Stage) toAskOwn() ([]hookGroup, error) {
	g := hookGroup{namespace: t.own.Namespace, collection: memories, change: t.own.change}
	switch {
	case g.change == ChangeStore:
		return []hookGroup{g}, nil
	case g.change == "" || !t.space.asks(g.change, ""):
		return nil, nil
	}
	if err := t.own.stage(t); err != nil || len(t.order) == 0 {
		return nil, err
	}
	g.sites = t.order
	return []hookGroup{g}, nil
}

// storedIn returns the collection of an entry, as Storing.Collection.
func storedIn(at site) string {
	if at.Collection == memories {
		return ""
	}
	return at.Collection
}

// changeOf returns the kind of a staged change. The former memory is read only if hooks want changes of state.
func (t *Stage) changeOf(ctx context.Context, at site) (Change, error) {
	will := t.changed[at]
	if will == nil {
		return ChangeDelete, nil
	}
	if at.Collection != memories || !t.space.asks(ChangeState, "") {
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

// items returns the entries of a group for a hook: in their new state, or deleted ones in their present state.
func (t *Stage) items(ctx context.Context, g hookGroup) ([]Item, error) {
	if t.own != nil && g.change == ChangeStore {
		return named(t.own.items, t.own.keys), nil
	}
	items := make([]Item, len(g.sites))
	for i, at := range g.sites {
		r := t.changed[at]
		if r == nil {
			was, err := t.before(ctx, []site{at})
			if err != nil {
				return nil, err
			}
			if r = was[0]; r == nil {
				r = &record.Record{} // deleted meanwhile: the commit will conflict
			}
		}
		if items[i] = itemOf(at.Name, *r); at.Collection != memories {
			items[i] = Item{Key: at.Name, Value: r.Value}
		}
	}
	return items, nil
}

// before returns entries of one branch without the staged changes.
func (t *Stage) before(ctx context.Context, sites []site) ([]*record.Record, error) {
	keys := make([]store.Key, len(sites))
	for i, at := range sites {
		keys[i] = at.Key
	}
	lineage := t.lineage()
	if sites[0].system {
		lineage = t.systemLineage()
	}
	found, err := t.space.engine.GetAt(ctx, lineage, keys)
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

// askAboutReceived asks the hooks about received changes. An exchange cannot wait for an approval.
func (t *Stage) askAboutReceived(ctx context.Context, w Write) error {
	if err := t.room(); err != nil {
		return err
	}
	proposal, err := t.askHooks(ctx, w)
	if err == nil && proposal != "" {
		return &Error{Code: Denied, Message: "nothing was received: a change must be approved first, and an exchange cannot wait: leave its namespace out"}
	}
	return err
}
