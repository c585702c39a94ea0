package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// Move moves the memories of a namespace, and what families keep there, to another one, on all branches.
type Move struct {
	From     string
	To       string
	Strategy Strategy // for keys that both have, with different memories: Strict (if empty), Source, Target or Newest
	Stays    []string // collections whose records stay
	Whole    []string // families whose records stay, all of them, if the record of a key differs in the other namespace
}

// Moved is the result of a Move or of its dry run.
type Moved struct {
	Memories int            // that were moved
	Same     int            // memories and records that were there already
	Clashes  int            // of keys with different memories
	Clashing []Clashing     // the first of the keys with different memories or records
	Records  map[string]int // records of families that were moved, by collection
	Differ   map[string]int // keys with different records, by collection
	Left     map[string]int // records of families that stay, by collection, and events of the log
	Commits  int
}

// Clashing is a key under which both namespaces have different memories, or records of a family.
type Clashing struct {
	Branch     string // empty: all branches share it
	Collection string // of a record; empty for a memory
	Key        string
	From, To   uint64 // their versions
	Taken      Strategy
}

// Bounds of a move.
const (
	mostMoved    = 2000    // entries of one commit
	mostMovedIn  = 8 << 20 // bytes of one commit
	mostClashing = 200     // that are named
	moveAttempts = 8       // of a commit whose entries change meanwhile
)

// Move moves memories and records in several commits. At any instant, each is in exactly one of the namespaces. Repeating an interrupted
// move completes it. To undo it, undo the calls with the caller's id and .1, .2 and so on, last first. A memory keeps its creation time, author
// and counters. Its history and the events of the log stay under the former name.
//
// Only an operator's move includes records, since they belong to families. If both namespaces have a record under a key, the strategy selects
// one; Strict takes the newer one, because nobody could choose between records. Records with sequence numbers as keys are appended to those of
// the target. Texts in records that name the namespace or one of its keys are renamed, also in records of the target.
func (a *Access) Move(ctx context.Context, m Move, w Write) (Moved, error) {
	run := &moveRun{access: a, move: m, result: Moved{Records: map[string]int{}, Differ: map[string]int{}, Left: map[string]int{}}}
	if run.move.Strategy = cmp.Or(m.Strategy, Strict); !slices.Contains([]Strategy{Strict, Source, Target, Newest}, run.move.Strategy) {
		return run.result, invalid("strategy %q is not one of strict, source, target, newest", m.Strategy)
	}
	branches, err := run.check()
	if err != nil {
		return run.result, err
	}
	if err := run.plan(ctx, branches); err != nil || w.DryRun {
		return run.result, err
	}
	for _, part := range run.parts {
		for cursor, more := store.Cursor(""), true; more; {
			if cursor, err = run.some(ctx, part, cursor, w); err != nil {
				return run.result, a.space.translate("move memories", err)
			}
			more = cursor != ""
		}
	}
	return run.result, nil
}

// moveRun is a move under way.
type moveRun struct {
	access *Access
	move   Move
	parts  []movePart
	result Moved
	left   map[leftEntry]bool // counted entries: branches share what they inherited
	whole  map[string]bool    // families whose records stay because some differ
}

// movePart is a collection of a namespace, as a branch sees it.
type movePart struct {
	branch *lineage.Branch
	system bool // it is the same on every branch
	within store.Range
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

// stage begins a stage of the move.
func (run *moveRun) stage(ctx context.Context, b *lineage.Branch, a *Access) (*Stage, error) {
	t, err := a.Stage(ctx, b.Name)
	if err != nil {
		return nil, err
	}
	t.expiry, t.origin = WithExpired, fromUndo
	return t, nil
}

// some moves as much of a part as one commit takes, from a cursor on, and returns the next cursor; empty: the end. Entries that change
// meanwhile are retried.
func (run *moveRun) some(ctx context.Context, part movePart, from store.Cursor, w Write) (next store.Cursor, err error) {
	for attempt := 1; ; attempt++ {
		next, err = run.trySome(ctx, part, from, w)
		if !errors.Is(err, store.ErrConflict) && !isConflict(err) || attempt == moveAttempts {
			return next, err
		}
	}
}

func (run *moveRun) trySome(ctx context.Context, part movePart, from store.Cursor, w Write) (next store.Cursor, err error) {
	by := run.access.caller
	by.Call = fmt.Sprintf("%s.%d", by.Call, run.result.Commits+1)
	a := &Access{space: run.access.space, caller: by}
	t, err := run.stage(ctx, part.branch, a)
	if err != nil {
		return "", err
	}
	for staged, more := 0, true; more && staged < mostMoved && t.bytes < mostMovedIn; {
		var page []store.Entry
		if page, next, err = t.space.engine.ScanAt(ctx, part.lineage(t), part.within, from, fillPage); err != nil {
			return "", err
		}
		if err := run.carry(ctx, t, part, page); err != nil {
			return "", err
		}
		from, staged, more = next, staged+len(page), next != ""
	}
	if t.Changes() == 0 {
		return next, nil
	}
	if _, _, err := t.commit(ctx, Commit{Write: a.sign(w)}, store.Request{}, "move"); err != nil {
		return "", err
	}
	run.result.Commits++
	return next, nil
}

// lineage returns the lineage of the part; nil: it is empty.
func (part movePart) lineage(t *Stage) store.Lineage {
	if part.system {
		return t.systemLineage()
	}
	return t.lineage()
}

// carry stages the move of entries.
func (run *moveRun) carry(ctx context.Context, t *Stage, part movePart, page []store.Entry) error {
	moves, err := run.moves(ctx, t, part, page)
	if err != nil || len(moves) == 0 {
		return err
	}
	counted := make([]Counters, len(moves))
	if part.within.Collection == memories {
		keys := make([]store.Key, len(moves))
		for i, m := range moves {
			keys[i] = m.from.Key
		}
		if counted, err = run.access.space.countersOf(ctx, t.branch, keys); err != nil {
			return err
		}
	}
	for i, m := range moves {
		if err := run.one(ctx, t, m, counted[i]); err != nil {
			return err
		}
	}
	return nil
}

// one stages the move of an entry.
func (run *moveRun) one(ctx context.Context, t *Stage, m moved, counted Counters) error {
	source := site{m.system, m.from.Key}
	t.expect(source, m.from)
	t.expect(m.target, m.to)
	if m.clashes() && m.isMemory() && run.move.Strategy == Strict { // since the plan
		return run.clashOf(m.from, m.to)
	}
	if !m.same && (!m.to.Exists() || m.stays() || run.taken(m) == Source) {
		if err := t.weigh(ctx, m.target, m.to, &m.record, Quota{}); err != nil {
			return err
		}
		t.set(m.target, &m.record)
	}
	if counted.Accesses > 0 || counted.Health != 0 {
		t.counts = append(t.counts, stagedCount{m.target.Key, int64(counted.Accesses), counted.Health})
	}
	if m.stays() {
		return nil
	}
	if err := t.weigh(ctx, source, m.from, nil, Quota{}); err != nil {
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

func (run *moveRun) clash() error {
	first := run.result.Clashing[slices.IndexFunc(run.result.Clashing, func(c Clashing) bool { return c.Collection == "" })]
	return &Error{Code: Conflict, Message: fmt.Sprintf(
		"%d keys of %s are in %s, too, with other memories, such as %q: nothing was moved; take a side with a strategy, source, target or newest",
		run.result.Clashes, run.move.From, run.move.To, clip(first.Key, 64)), Details: map[string]any{"clashes": run.result.Clashes}}
}
