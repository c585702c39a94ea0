package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Move moves the memories of a namespace to another one, on all branches.
type Move struct {
	From     string
	To       string
	Strategy Strategy // for keys that both have, with different memories: Strict (if empty), Source, Target or Newest
}

// Moved is what a Move did, or would.
type Moved struct {
	Memories int            // that were moved
	Same     int            // that were there already
	Clashes  int            // of keys with different memories
	Clashing []Clashing     // the first of them, by branch and key
	Left     map[string]int // records of families that stay, by collection, and events of the log
	Commits  int
}

// Clashing is a key under which both namespaces have different memories.
type Clashing struct {
	Branch, Key string
	From, To    uint64 // their versions
	Taken       Strategy
}

// Bounds of a move.
const (
	mostMoved    = 2000    // memories of one commit
	mostMovedIn  = 8 << 20 // bytes of one commit
	mostClashing = 200     // that are named
	moveAttempts = 8       // of a commit whose entries change meanwhile
)

// Move moves memories in commits that each take some of them whole: at any instant a memory is in one of the namespaces. Whoever repeats
// a move that was interrupted completes it. The calls that undo it, the last first, are the caller's with .1, .2 and so on. A memory keeps
// when it was created, by whom, and its counters; its history stays under its former name, and so do events of
// the log and families' records.
func (a *Access) Move(ctx context.Context, m Move, w Write) (Moved, error) {
	run := &moveRun{access: a, move: m, result: Moved{Left: map[string]int{}}}
	if run.move.Strategy = cmp.Or(m.Strategy, Strict); !slices.Contains([]Strategy{Strict, Source, Target, Newest}, run.move.Strategy) {
		return run.result, invalid("strategy %q is not one of strict, source, target, newest", m.Strategy)
	}
	branches, err := run.check()
	if err != nil {
		return run.result, err
	}
	for _, b := range branches {
		if err := run.plan(ctx, b); err != nil {
			return run.result, err
		}
	}
	if run.result.Clashes > 0 && run.move.Strategy == Strict {
		return run.result, run.clash()
	}
	if w.DryRun {
		return run.result, nil
	}
	for _, b := range branches {
		for more := true; more; {
			if more, err = run.some(ctx, b, w); err != nil {
				return run.result, a.space.translate("move memories", err)
			}
		}
	}
	return run.result, nil
}

// moveRun is a move under way.
type moveRun struct {
	access *Access
	move   Move
	result Moved
	left   map[leftEntry]bool // that were counted: branches share what they inherited
}

// leftEntry is an entry that stays.
type leftEntry struct {
	key     store.Key
	version uint64
}

// check returns the branches to move on.
func (run *moveRun) check() ([]*lineage.Branch, error) {
	s, m := run.access.space, run.move
	for _, name := range []string{m.From, m.To} {
		if _, err := run.access.reading(Location{Branch: Default, Namespace: name}); err != nil {
			return nil, err
		}
		if _, err := run.access.writing(Location{Branch: Default, Namespace: name}); err != nil {
			return nil, err
		}
		if s.scopes.Of(name) != nil {
			return nil, invalid("namespace %q has members with rights of their own, which a move would change: delete its rights record first", name)
		}
	}
	if m.From == m.To {
		return nil, invalid("namespace %q cannot be moved to itself: name another one", m.From)
	}
	stays := func(b *lineage.Branch) bool { return b.Name == lineage.System || IsProposal(b.Name) }
	branches := slices.DeleteFunc(slices.Clone(s.catalogue.Live()), stays)
	slices.SortFunc(branches, func(x, y *lineage.Branch) int { return cmp.Compare(x.ID, y.ID) })
	return branches, nil
}

// entries goes through a namespace's memories, those that were purged left out.
func (run *moveRun) entries(ctx context.Context, t *Stage, do func(store.Entry, record.Record) (more bool, err error)) error {
	within := store.Range{Namespace: run.move.From, Collection: memories}
	for e, err := range store.Entries(ctx, run.access.space.engine.ScanAt, t.lineage(), within, fillPage) {
		if err != nil {
			return err
		}
		r, err := t.live(e)
		if err != nil {
			return err
		}
		if r == nil {
			continue
		}
		if more, err := do(e, *r); err != nil || !more {
			return err
		}
	}
	return nil
}

// stage begins a stage of the move.
func (run *moveRun) stage(ctx context.Context, b *lineage.Branch, a *Access) (*Stage, error) {
	t, err := a.Stage(ctx, b.Name)
	if err != nil {
		return nil, err
	}
	t.expiry, t.origin = WithExpired, fromUndo
	return t, nil
}

// plan counts what a move would do on a branch.
func (run *moveRun) plan(ctx context.Context, b *lineage.Branch) error {
	t, err := run.stage(ctx, b, run.access)
	if err != nil {
		return err
	}
	var page []store.Entry
	flush := func() error {
		defer func() { page = page[:0] }()
		there, err := run.there(ctx, t, page)
		for i, e := range page {
			if err == nil {
				err = run.count(b.Name, e, there[i])
			}
		}
		return err
	}
	err = run.entries(ctx, t, func(e store.Entry, _ record.Record) (bool, error) {
		if page = append(page, e); len(page) < fillPage {
			return true, nil
		}
		return true, flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return err
	}
	return run.leave(ctx, t)
}

// there reads the memories of the target's namespace under the keys of entries.
func (run *moveRun) there(ctx context.Context, t *Stage, page []store.Entry) ([]store.Entry, error) {
	keys := make([]store.Key, len(page))
	for i, e := range page {
		keys[i] = memoryKey(run.move.To, e.Name)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	return run.access.space.engine.GetAt(ctx, t.lineage(), keys)
}

func (run *moveRun) count(branch string, from, to store.Entry) error {
	same, err := run.same(from, to)
	switch {
	case err != nil:
		return err
	case !to.Exists():
		run.result.Memories++
		return nil
	case same:
		run.result.Same++
		return nil
	}
	run.result.Clashes++
	if len(run.result.Clashing) < mostClashing {
		c := Clashing{Branch: branch, Key: from.Name, From: from.Version, To: to.Version, Taken: run.taken(from, to)}
		run.result.Clashing = append(run.result.Clashing, c)
	}
	return nil
}

// same reports whether two entries, of which the first exists, have the same content.
func (run *moveRun) same(from, to store.Entry) (bool, error) {
	if !to.Exists() {
		return false, nil
	}
	return sameContent(from, to)
}

// taken is the side of a clash that the target gets.
func (run *moveRun) taken(from, to store.Entry) Strategy {
	switch {
	case run.move.Strategy == Newest && from.Version > to.Version:
		return Source
	case run.move.Strategy == Newest:
		return Target
	}
	return run.move.Strategy
}

func (run *moveRun) clash() error {
	first := run.result.Clashing[0]
	return &Error{Code: Conflict, Message: fmt.Sprintf(
		"%d keys of %s are in %s, too, with other memories, such as %q: nothing was moved; take a side with a strategy, source, target or newest",
		run.result.Clashes, run.move.From, run.move.To, clip(first.Key, 64)), Details: map[string]any{"clashes": run.result.Clashes}}
}

// leave counts what stays in a namespace.
func (run *moveRun) leave(ctx context.Context, t *Stage) error {
	for e, err := range store.Entries(ctx, run.access.space.engine.ScanAt, t.lineage(), store.Range{Namespace: run.move.From}, fillPage) {
		if err != nil {
			return err
		}
		entry := leftEntry{e.Key, e.Version}
		switch {
		case !e.Exists() || e.Collection == memories || run.left[entry]:
			continue
		case e.Collection == events:
			run.result.Left["events"]++
		case !strings.HasPrefix(e.Collection, "_"):
			run.result.Left[e.Collection]++
		}
		remember(&run.left, entry, true)
	}
	return nil
}

// some moves as many memories as one commit takes. Entries that change meanwhile are looked at again.
func (run *moveRun) some(ctx context.Context, b *lineage.Branch, w Write) (more bool, err error) {
	for attempt := 1; ; attempt++ {
		more, err = run.trySome(ctx, b, w)
		if !errors.Is(err, store.ErrConflict) && !isConflict(err) || attempt == moveAttempts {
			return more, err
		}
	}
}

func (run *moveRun) trySome(ctx context.Context, b *lineage.Branch, w Write) (more bool, err error) {
	by := run.access.caller
	by.Call = fmt.Sprintf("%s.%d", by.Call, run.result.Commits+1)
	a := &Access{space: run.access.space, caller: by}
	t, err := run.stage(ctx, b, a)
	if err != nil {
		return false, err
	}
	var page []store.Entry
	bytes := 0
	err = run.entries(ctx, t, func(e store.Entry, _ record.Record) (bool, error) {
		page = append(page, e)
		bytes += len(e.Value)
		more = len(page) == mostMoved || bytes >= mostMovedIn
		return !more, nil
	})
	if err != nil || len(page) == 0 {
		return false, err
	}
	if err := run.carry(ctx, t, page); err != nil {
		return false, err
	}
	if _, _, err := t.commit(ctx, Commit{Write: a.sign(w)}, store.Request{}, "move"); err != nil {
		return false, err
	}
	run.result.Commits++
	return more, nil
}

// carry stages the move of entries.
func (run *moveRun) carry(ctx context.Context, t *Stage, page []store.Entry) error {
	there, err := run.there(ctx, t, page)
	if err != nil {
		return err
	}
	keys := make([]store.Key, len(page))
	for i, e := range page {
		keys[i] = e.Key
	}
	counted, err := run.access.space.countersOf(ctx, t.branch, keys)
	if err != nil {
		return err
	}
	for i, from := range page {
		if err := run.one(ctx, t, from, there[i], counted[i]); err != nil {
			return err
		}
	}
	return nil
}

// one stages the move of an entry.
func (run *moveRun) one(ctx context.Context, t *Stage, from, to store.Entry, counted Counters) error {
	same, err := run.same(from, to)
	if err != nil {
		return err
	}
	source, target := site{Key: from.Key}, site{Key: memoryKey(run.move.To, from.Name)}
	t.expect(source, from)
	t.expect(target, to)
	if to.Exists() && !same && run.move.Strategy == Strict { // since the plan
		return run.clashOf(from, to)
	}
	if !to.Exists() || !same && run.taken(from, to) == Source {
		r, err := run.moved(from, to)
		if err != nil {
			return err
		}
		if err := t.weigh(ctx, target, to, &r, Quota{}); err != nil {
			return err
		}
		t.set(target, &r)
	}
	if counted.Accesses > 0 || counted.Health != 0 {
		t.counts = append(t.counts, stagedCount{target.Key, int64(counted.Accesses), counted.Health})
	}
	if err := t.weigh(ctx, source, from, nil, Quota{}); err != nil {
		return err
	}
	t.set(source, nil)
	return nil
}

func (run *moveRun) clashOf(from, to store.Entry) error {
	run.result.Clashes = 1
	run.result.Clashing = []Clashing{{Key: from.Name, From: from.Version, To: to.Version, Taken: Strict}}
	e := run.clash()
	return fmt.Errorf("%w (written since the move began)", e)
}

// moved is an entry's record as the target gets it.
func (run *moveRun) moved(from, to store.Entry) (record.Record, error) {
	r, err := record.Decode(from)
	if err != nil {
		return r, err
	}
	created := r.CreatedAt(from)
	if to.Exists() {
		was, err := record.Decode(to)
		if err != nil {
			return r, err
		}
		if before := was.CreatedAt(to); before.Before(created) {
			created = before
		}
	}
	r.Created = created.UnixMicro()
	r.Links, r.Supersedes = run.renamed(r.Links), run.renamed(r.Supersedes)
	return r, nil
}

// renamed are keys of memories, of which some may name the namespace.
func (run *moveRun) renamed(keys []string) []string {
	keys = slices.Clone(keys)
	for i, key := range keys {
		if rest, is := strings.CutPrefix(key, run.move.From+"#"); is {
			keys[i] = run.move.To + "#" + rest
		}
	}
	return keys
}
