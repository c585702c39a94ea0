package memory

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// moved is an entry that moves, or that has a name to change.
type moved struct {
	system   bool
	from, to store.Entry // to: the present entry of the target
	target   site
	record   record.Record // the new record of the target
	same     bool          // the target has it already
}

// isMemory reports whether it is one, and no record of a family.
func (m moved) isMemory() bool { return m.from.Collection == memories }

// stays reports whether the entry keeps its place.
func (m moved) stays() bool { return m.target == site{m.system, m.from.Key} }

// clashes reports whether the target has something else under the key.
func (m moved) clashes() bool { return !m.stays() && m.to.Exists() && !m.same }

// plan finds the parts to move, and counts the effects of the move.
func (run *moveRun) plan(ctx context.Context, branches []*lineage.Branch) error {
	for i, b := range branches {
		t, err := run.stage(ctx, b, run.access)
		if err != nil {
			return err
		}
		parts, err := run.partsOf(ctx, t, i == 0)
		if err != nil {
			return err
		}
		run.parts = append(run.parts, parts...)
	}
	for _, do := range []func(context.Context, *Stage, movePart) error{run.keepWhole, run.count, run.leave} {
		if err := run.each(ctx, do); err != nil {
			return err
		}
	}
	if run.result.Clashes > 0 && run.move.Strategy == Strict {
		return run.clash()
	}
	return nil
}

// each calls do for each part.
func (run *moveRun) each(ctx context.Context, do func(context.Context, *Stage, movePart) error) error {
	for _, part := range run.parts {
		t, err := run.stage(ctx, part.branch, run.access)
		if err == nil {
			err = do(ctx, t, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepWhole finds the families whose records stay.
func (run *moveRun) keepWhole(ctx context.Context, t *Stage, part movePart) error {
	if !slices.Contains(run.move.Whole, ownerOf(part.within.Collection)) {
		return nil
	}
	return run.eachMoved(ctx, t, part, func(m moved) {
		if m.clashes() {
			remember(&run.whole, ownerOf(m.from.Collection), true)
		}
	})
}

// partsOf returns the collections of a branch to move, memories first; with shared, those that all branches share.
func (run *moveRun) partsOf(ctx context.Context, t *Stage, shared bool) ([]movePart, error) {
	parts := []movePart{{t.branch, false, store.Range{Namespace: run.move.From, Collection: memories}}}
	if !run.takesRecords() {
		return parts, nil
	}
	own, err := run.collections(ctx, t.lineage())
	if err != nil {
		return nil, err
	}
	for _, within := range own {
		parts = append(parts, movePart{t.branch, false, within})
	}
	if !shared {
		return parts, nil
	}
	system, err := run.collections(ctx, t.systemLineage())
	for _, within := range system {
		parts = append(parts, movePart{t.branch, true, within})
	}
	return parts, err
}

// takesRecords reports whether records of families move, too.
func (run *moveRun) takesRecords() bool {
	by := run.access.caller
	return by.Operator && by.Rights.readsAll() && by.Rights.writesAll()
}

// collections lists those of families that a lineage sees in both namespaces, in order.
func (run *moveRun) collections(ctx context.Context, l store.Lineage) ([]store.Range, error) {
	var list []store.Range
	for _, part := range l {
		ranges, err := run.access.space.ownedRanges(ctx, part.Branch)
		if err != nil {
			return nil, err
		}
		list = append(list, ranges...)
	}
	list = slices.DeleteFunc(list, func(r store.Range) bool { return r.Namespace != run.move.From && r.Namespace != run.move.To })
	slices.SortFunc(list, func(a, b store.Range) int {
		return strings.Compare(a.Namespace+"\x00"+a.Collection, b.Namespace+"\x00"+b.Collection)
	})
	return slices.Compact(list), nil
}

// remains reports whether the records of a collection stay in the namespace.
func (run *moveRun) remains(collection string) bool {
	return slices.Contains(run.move.Stays, collection) || run.whole[ownerOf(collection)]
}

// moves returns the moves of entries, without entries that do not change.
func (run *moveRun) moves(ctx context.Context, t *Stage, part movePart, page []store.Entry) ([]moved, error) {
	var list []moved
	numbers, err := run.numbersOf(ctx, t, part, page)
	if err != nil {
		return nil, err
	}
	for _, e := range page {
		r, err := t.live(e)
		if err != nil {
			return nil, err
		}
		if r == nil { // it was purged
			continue
		}
		m := run.moved(e, *r, part)
		if numbers != nil && !m.stays() {
			m.target.Name = numbers.after(e.Name)
		}
		list = append(list, m)
	}
	if err := run.there(ctx, t, list); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, func(m moved) bool { return m.stays() && m.same }), nil
}

// moved is an entry, with its place and content after the move.
func (run *moveRun) moved(e store.Entry, r record.Record, part movePart) moved {
	names := renaming{run.move.From, run.move.To}
	m := moved{system: part.system, from: e, target: site{part.system, e.Key}, record: r}
	if m.isMemory() {
		m.target.Namespace = run.move.To
		m.record.Created = r.CreatedAt(e).UnixMicro()
		m.record.Links, m.record.Supersedes = names.texts(r.Links), names.texts(r.Supersedes)
		return m
	}
	m.record.Value = names.value(r.Value)
	if !run.remains(e.Collection) {
		m.target.Namespace, m.target.Name = run.move.To, names.key(e.Name)
	}
	return m
}

// there reads the entries of the targets.
func (run *moveRun) there(ctx context.Context, t *Stage, list []moved) error {
	sites, found := make([]site, len(list)), make([]store.Entry, len(list))
	for i := range list {
		sites[i] = list[i].target
	}
	if err := t.fetch(ctx, sites, found); err != nil {
		return err
	}
	for i := range list {
		m := &list[i]
		m.to = found[i]
		was, err := record.Of(m.to)
		if err != nil {
			return err
		}
		if was == nil {
			continue
		}
		m.same = m.record.SameContent(*was)
		if m.isMemory() {
			m.record.Created = min(m.record.Created, was.CreatedAt(m.to).UnixMicro())
		}
	}
	return nil
}

// eachMoved calls do for the moves of a part.
func (run *moveRun) eachMoved(ctx context.Context, t *Stage, part movePart, do func(moved)) error {
	for page, err := range store.Pages(ctx, run.access.space.engine.ScanAt, part.lineage(t), part.within, fillPage) {
		if err != nil {
			return err
		}
		list, err := run.moves(ctx, t, part, page)
		if err != nil {
			return err
		}
		for _, m := range list {
			do(m)
		}
	}
	return nil
}

// count counts the effects of the move on a part.
func (run *moveRun) count(ctx context.Context, t *Stage, part movePart) error {
	return run.eachMoved(ctx, t, part, func(m moved) {
		switch {
		case m.stays() || m.from.Namespace != run.move.From:
		case m.same:
			run.result.Same++
		case m.to.Exists():
			run.differs(t.branch.Name, m)
		case m.isMemory():
			run.result.Memories++
		default:
			run.result.Records[m.from.Collection]++
		}
	})
}

// differs counts a key with another entry in the target.
func (run *moveRun) differs(branch string, m moved) {
	c := Clashing{Branch: branch, Key: m.from.Name, From: m.from.Version, To: m.to.Version, Taken: run.taken(m)}
	if m.system {
		c.Branch = ""
	}
	if m.isMemory() {
		run.result.Clashes++
	} else {
		c.Collection = m.from.Collection
		run.result.Differ[c.Collection]++
	}
	if len(run.result.Clashing) < mostClashing {
		run.result.Clashing = append(run.result.Clashing, c)
	}
}

// taken returns the side of a clash that the target gets.
func (run *moveRun) taken(m moved) Strategy {
	strategy := run.move.Strategy
	if strategy == Strict && !m.isMemory() {
		strategy = Newest
	}
	switch {
	case strategy == Newest && m.from.Version > m.to.Version:
		return Source
	case strategy == Newest:
		return Target
	}
	return strategy
}

// listUnreverted counts the entries of a part that stay; for memories, also the branch's events.
func (run *moveRun) leave(ctx context.Context, t *Stage, part movePart) error {
	within, as := part.within, part.within.Collection
	switch {
	case within.Namespace != run.move.From:
		return nil
	case within.Collection == memories:
		within.Collection, as = events, "events"
	case !run.remains(within.Collection):
		return nil
	}
	for e, err := range store.Entries(ctx, run.access.space.engine.ScanAt, part.lineage(t), within, fillPage) {
		if err != nil {
			return err
		}
		entry := leftEntry{e.Key, e.Version}
		if !run.left[entry] {
			run.result.Left[as]++
		}
		remember(&run.left, entry, true)
	}
	return nil
}

// numbers are those of a collection whose keys are sequence numbers.
type numbers struct{ last uint64 }

// numbersOf returns the numbers of the target's collection; nil: its keys, or those of the page, are none.
func (run *moveRun) numbersOf(ctx context.Context, t *Stage, part movePart, page []store.Entry) (*numbers, error) {
	if part.within.Collection == memories || part.within.Namespace != run.move.From || len(page) == 0 || !isSequence(page[0].Name) {
		return nil, nil
	}
	last, err := t.lastSequence(ctx, Collection{Name: part.within.Collection, PerSpace: part.system}, run.move.To)
	var none *Error
	if errors.As(err, &none) && none.Code == InvalidArgument {
		return nil, nil
	}
	return &numbers{last}, err
}

func isSequence(name string) bool {
	n, err := store.ParseSequence(name)
	return err == nil && store.SequenceName(n) == name
}

// after returns the number of an entry behind all others: its own, if it is.
func (n *numbers) after(name string) string {
	own, err := store.ParseSequence(name)
	if err != nil {
		return name
	}
	n.last = max(own, n.last+1)
	return store.SequenceName(n.last)
}
