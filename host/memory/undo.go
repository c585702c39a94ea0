package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Undo selects commits of families to revert. Call, or Family with Since, is required.
type Undo struct {
	Call   string    // of this call
	Family string    // of this family; empty: any
	Since  time.Time // at or after this instant; zero: of any time
	Branch string    // only entries on this branch; empty: on all, and those that all branches share
}

// Undone is the result of an Undo, or of its dry run.
type Undone struct {
	DryRun   bool
	Commits  []CommittedBy // that were reverted, newest first, without their changes
	Reverted []Reversal    // what the undo changes, or would
	Kept     []Reversal    // what others changed since, or that cannot be restored; with Why
	Already  int           // entries that are as they were before, such as after an earlier undo
	Left     []string      // what is not reverted
	Versions []uint64      // of the undo's own commits, one for each branch; empty: nothing was written
}

// Reversal is an entry that a family wrote.
type Reversal struct {
	Branch     string
	Namespace  string
	Collection string // of a record; empty for a memory
	Key        string
	Written    uint64 // version of the family's last write
	To         uint64 // the version whose content is restored; 0: the entry did not exist
	Deletes    bool   // nothing is restored: the entry is deleted
	Why        string // it is kept; empty: it is reverted
}

// Bounds of an undo.
const (
	mostUndone    = 10_000 // commits
	mostReversals = 20_000 // entries
)

// undoEvent is the event that an undo adds to the log of each namespace.
const undoEvent = "undo"

// Undo reverts what families wrote, in one commit for each branch: every entry whose present content is theirs gets the content from
// before. An entry that others changed since is kept and reported. Only an operator may.
func (a *Access) Undo(ctx context.Context, u Undo, w Write) (Undone, error) {
	if !a.caller.Operator || !a.caller.Rights.readsAll() || !a.caller.Rights.writesAll() {
		return Undone{}, &Error{Code: Denied, Message: "only an operator may undo what a family did: with alcove family undo"}
	}
	if u.Call == "" && (u.Family == "" || u.Since.IsZero()) {
		return Undone{}, invalid("name a call, or a family and since when")
	}
	p := &undoRun{access: a, space: a.space, undo: u, written: map[store.BranchID]map[store.Key][]uint64{}}
	p.result.DryRun = w.DryRun
	if err := p.find(ctx); err != nil {
		return p.result, err
	}
	branches, err := p.branches()
	if err != nil {
		return p.result, err
	}
	for i, b := range branches {
		if err := p.revert(ctx, b, i == 0 && u.Branch == "", w); err != nil {
			if len(p.result.Versions) > 0 {
				p.result.Left = append(p.result.Left, fmt.Sprintf("branch %s and those after it: run it again", b.Name))
			}
			return p.result, a.space.translate("undo on branch "+b.Name, err)
		}
		if err := p.dropEmptied(ctx, b, w); err != nil {
			return p.result, err
		}
	}
	return p.result, nil
}

// dropEmptied deletes an open proposal of which the undo left nothing.
func (p *undoRun) dropEmptied(ctx context.Context, b *lineage.Branch, w Write) error {
	if w.DryRun || len(p.written[b.ID]) == 0 || b.Gathers == (Gatherer{}) {
		return nil
	}
	err := p.access.Delete(ctx, Deletion{Branch: b.Name}, Write{})
	if isConflict(err) { // it has something else
		return nil
	}
	if err == nil {
		p.result.Left = append(p.result.Left, fmt.Sprintf("branch %s, which proposed nothing else and was deleted", b.Name))
	}
	return err
}

// undoRun is an undo under way.
type undoRun struct {
	access  *Access
	space   *Space
	undo    Undo
	written map[store.BranchID]map[store.Key][]uint64 // versions that the commits wrote, ascending
	result  Undone
}

// matches reports whether the undo is about a commit.
func (u Undo) matches(n record.Note, at time.Time) bool {
	return (u.Call == "" || record.NoteField(u.Call) == n.Call) && (u.Family == "" || record.NoteField(u.Family) == n.Family) && !at.Before(u.Since) && (n.Family != "" || u.Call != "")
}

// find finds the commits and what they wrote.
func (p *undoRun) find(ctx context.Context) error {
	lost, events, internal := 0, 0, map[string]int{}
	for noted, err := range p.space.eachNote(ctx, 0, store.Latest) {
		if err != nil {
			return p.space.translate("find commits", err)
		}
		if noted.Time.Before(p.undo.Since) {
			break // notes are the newest first
		}
		n, ok := record.DecodeNote(noted.Note)
		if !ok || !p.undo.matches(n, noted.Time) {
			continue
		}
		if len(p.result.Commits) == mostUndone {
			return &Error{Code: Exhausted, Message: fmt.Sprintf("more than %d commits match: name a later --since, and repeat", mostUndone)}
		}
		p.result.Commits = append(p.result.Commits, CommittedBy{Version: noted.Version, Timestamp: noted.Time, Branch: n.Name, Caller: callerOf(n)})
		known, err := p.changes(ctx, n.Branch, noted.Version, &events, internal)
		if err != nil {
			return err
		}
		if !known {
			lost++
		}
	}
	p.listUnreverted(lost, events, internal)
	return p.mergedElsewhere(ctx)
}

// changes notes what a version wrote. known is false if that past is no longer kept.
func (p *undoRun) changes(ctx context.Context, on store.BranchID, version uint64, events *int, internal map[string]int) (known bool, err error) {
	branches := []store.BranchID{on}
	if system := p.space.catalogue.System(); system != nil && on != system.ID {
		branches = append(branches, system.ID)
	}
	for _, b := range branches {
		changes, _, err := p.space.engine.Changes(ctx, b, version-1, version, 1)
		if _, trimmed := asTrimmed(err); err != nil && !trimmed {
			return false, p.space.translate("find what a commit wrote", err)
		} else if !trimmed && b == on {
			known = true
		}
		for _, c := range changes {
			switch {
			case c.Namespace == lineage.Namespace:
			case c.Collection == eventLog:
				*events++
			case strings.HasPrefix(c.Collection, "_"):
				internal[c.Collection]++
			default:
				if p.written[b] == nil {
					p.written[b] = map[store.Key][]uint64{}
				}
				p.written[b][c.Key] = append([]uint64{version}, p.written[b][c.Key]...)
			}
		}
	}
	return known, nil
}

// eventLog is the collection of the log.
const eventLog = record.Events

// listUnreverted names what an undo does not revert.
func (p *undoRun) listUnreverted(lost, events int, internal map[string]int) {
	left := func(format string, args ...any) { p.result.Left = append(p.result.Left, fmt.Sprintf(format, args...)) }
	if lost > 0 {
		left("%d commits are older than the history that is kept", lost)
	}
	if events > 0 {
		left("%d events of the log, which is never changed", events)
	}
	for _, collection := range slices.Sorted(maps.Keys(internal)) {
		left("%d entries of the server's collection %s, such as queued jobs, settings, notices and published tools", internal[collection], collection)
	}
	if len(p.result.Commits) > 0 {
		left("counts of accesses and health, which have no versions, and what its store hook changed in writes of others, which are theirs")
	}
}

// mergedElsewhere names merges that carried commits to other branches: who merged them accepted them.
func (p *undoRun) mergedElsewhere(ctx context.Context) error {
	for _, b := range p.space.catalogue.Live() {
		for source, at := range p.space.catalogue.MergedInto(b.ID) {
			if len(p.written[source]) > 0 && (p.undo.Branch == "" || p.undo.Branch == b.Name) {
				p.result.Left = append(p.result.Left, fmt.Sprintf("branch %s was merged into %s at v%d: the merge accepted it there", p.space.catalogue.NameOf(source), b.Name, at))
			}
		}
	}
	return ctx.Err()
}

// branches returns the branches that can have the entries, by name, the default one first.
func (p *undoRun) branches() ([]*lineage.Branch, error) {
	if p.undo.Branch != "" {
		b, err := p.access.branch(p.undo.Branch)
		return []*lineage.Branch{b}, err
	}
	list := slices.Clone(p.space.catalogue.Live())
	list = slices.DeleteFunc(list, func(b *lineage.Branch) bool { return b.Name == lineage.System || p.isProposed(b) })
	slices.SortFunc(list, func(x, y *lineage.Branch) int { return cmp.Compare(x.ID, y.ID) })
	return list, nil
}

// isProposed reports whether a branch has a proposed change that stays as it is, which an undo leaves to whoever decides about it.
func (p *undoRun) isProposed(b *lineage.Branch) bool {
	if !IsProposal(b.Name) || b.Gathers != (Gatherer{}) {
		return false
	}
	if len(p.written[b.ID]) > 0 {
		p.result.Left = append(p.result.Left, fmt.Sprintf("the change that is proposed on branch %s: whoever decides about it can reject or delete it", b.Name))
	}
	return true
}

// revert reverts the entries of a branch, and with shared those that all branches have. Entries that change meanwhile are
// compared again.
func (p *undoRun) revert(ctx context.Context, b *lineage.Branch, shared bool, w Write) error {
	before := p.result
	for attempt := 1; ; attempt++ {
		p.result = before
		p.result.Reverted, p.result.Kept = slices.Clip(before.Reverted), slices.Clip(before.Kept)
		err := p.tryRevert(ctx, b, shared, w)
		if !errors.Is(err, store.ErrConflict) && !isConflict(err) || attempt == undoAttempts {
			return err
		}
	}
}

// undoAttempts limits how often a branch is reverted whose entries change meanwhile.
const undoAttempts = 8

func isConflict(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == Conflict
}

func (p *undoRun) tryRevert(ctx context.Context, b *lineage.Branch, shared bool, w Write) error {
	t, err := p.access.Stage(ctx, b.Name)
	if err != nil {
		return err
	}
	t.expiry, t.origin = WithExpired, fromUndo
	if err := p.stage(ctx, t, b.ID, t.lineage(), false); err != nil {
		return err
	}
	if system := p.space.catalogue.System(); shared && system != nil {
		if err := p.stage(ctx, t, system.ID, t.systemLineage(), true); err != nil {
			return err
		}
	}
	if t.Changes() == 0 || w.DryRun {
		return nil
	}
	if err := p.report(t); err != nil {
		return err
	}
	done, _, err := t.commit(ctx, Commit{Write: p.access.sign(w)}, store.Request{}, "undo")
	if err == nil {
		p.result.Versions = append(p.result.Versions, done.Version)
	}
	return err
}

// stage stages the reversals of what a lineage sees.
func (p *undoRun) stage(ctx context.Context, t *Stage, on store.BranchID, seen store.Lineage, system bool) error {
	for _, s := range seen {
		if IsProposal(t.branch.Name) && s.Branch != on {
			break // what its branch has is undone there
		}
		written := p.written[s.Branch]
		var keys []store.Key
		for k, versions := range written {
			if versions[0] <= s.At { // else written after the fork
				keys = append(keys, k)
			}
		}
		slices.SortFunc(keys, func(a, b store.Key) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Collection, b.Collection), cmp.Compare(a.Name, b.Name))
		})
		for len(keys) > 0 {
			page := keys[:min(fillPage, len(keys))]
			keys = keys[len(page):]
			found, err := p.space.engine.GetAt(ctx, seen, page)
			if err != nil {
				return err
			}
			for i, e := range found {
				if err := p.one(ctx, t, on, seen, s, site{system, page[i]}, e); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// one decides about an entry that the undone commits wrote on a part of a lineage.
func (p *undoRun) one(ctx context.Context, t *Stage, on store.BranchID, seen store.Lineage, part store.Segment, at site, now store.Entry) error {
	versions := p.written[part.Branch][at.Key]
	last := versions[0]
	for _, v := range versions {
		if v <= part.At {
			last = v
		}
	}
	r := Reversal{Branch: t.branch.Name, Namespace: at.Namespace, Collection: at.Collection, Key: at.Name, Written: last}
	if at.Collection == memories {
		r.Collection = ""
	}
	if at.system {
		r.Branch = ""
	}
	theirs := now.Branch == part.Branch && now.Version == last
	if !theirs && now.Branch != part.Branch && now.Branch != on && p.isWritten(now) {
		return nil // another part of the lineage has a later one of them
	}
	before, err := p.before(ctx, seen, at.Key, last)
	if _, trimmed := asTrimmed(err); trimmed {
		return p.keep(r, "the history before it is no longer kept")
	}
	if err != nil {
		return err
	}
	if !theirs {
		return p.changed(r, now, before)
	}
	return p.restore(ctx, t, at, r, now, before)
}

// isWritten reports whether the undone commits wrote an entry.
func (p *undoRun) isWritten(e store.Entry) bool {
	return slices.Contains(p.written[e.Branch][e.Key], e.Version)
}

// before returns the newest entry below a version that the undone commits did not write.
func (p *undoRun) before(ctx context.Context, seen store.Lineage, key store.Key, version uint64) (e store.Entry, err error) {
	for {
		if version <= 1 {
			return store.Entry{Key: key}, nil
		}
		found, err := p.space.engine.GetAt(ctx, seen.At(version-1), []store.Key{key})
		if err != nil || !p.isWritten(found[0]) {
			return found[0], err
		}
		version = found[0].Version
	}
}

// changed reports an entry that others changed since.
func (p *undoRun) changed(r Reversal, now, before store.Entry) error {
	same, err := sameContent(now, before)
	if err != nil {
		return err
	}
	switch {
	case same:
		p.result.Already++
		return nil
	case now.Deleted || !now.Exists():
		return p.keep(r, fmt.Sprintf("it was deleted at v%d, after the family wrote it", now.Version))
	}
	return p.keep(r, fmt.Sprintf("it was changed at v%d, after the family wrote it", now.Version))
}

func (p *undoRun) keep(r Reversal, why string) error {
	if len(p.result.Kept)+len(p.result.Reverted) >= mostReversals {
		return &Error{Code: Exhausted, Message: fmt.Sprintf("more than %d entries were written: name a later --since or one --branch, and repeat", mostReversals)}
	}
	if r.Why = why; why == "" {
		p.result.Reverted = append(p.result.Reverted, r)
	} else {
		p.result.Kept = append(p.result.Kept, r)
	}
	return nil
}

// restore stages the content from before.
func (p *undoRun) restore(ctx context.Context, t *Stage, at site, r Reversal, now, before store.Entry) error {
	var old *record.Record
	if before.Exists() {
		decoded, err := record.Decode(before)
		if err != nil {
			return err
		}
		if decoded.Purged != "" {
			return p.keep(r, "what was there before was purged")
		}
		old = &decoded
	}
	same, err := sameContent(now, before)
	if err != nil {
		return err
	}
	if same {
		p.result.Already++
		return nil
	}
	if r.Deletes = old == nil; old != nil {
		r.To = before.Version
	}
	if err := p.keep(r, ""); err != nil {
		return err
	}
	if _, staged := t.changed[at]; staged {
		return nil
	}
	t.expect(at, now)
	if err := t.weigh(ctx, at, now, old, Quota{}); err != nil {
		return err
	}
	t.set(at, old)
	return nil
}

// sameContent reports whether two entries have the same content, or both none.
func sameContent(a, b store.Entry) (bool, error) {
	if !a.Exists() || !b.Exists() {
		return a.Exists() == b.Exists(), nil
	}
	of, err := stateOf(a)
	if err != nil {
		return false, err
	}
	and, err := stateOf(b)
	return of == and, err
}

// report stages an event for the log of each namespace that changes.
func (p *undoRun) report(t *Stage) error {
	count := map[string]int{}
	for _, at := range t.order {
		if !at.system {
			count[at.Namespace]++
		}
	}
	for _, namespace := range slices.Sorted(maps.Keys(count)) {
		data, err := json.Marshal(struct {
			Family string `json:"family,omitempty"`
			Call   string `json:"call,omitempty"`
			Keys   int    `json:"keys"`
		}{p.undo.Family, p.undo.Call, count[namespace]})
		if err != nil {
			return err
		}
		t.events = append(t.events, stagedEvent{namespace, undoEvent, data})
	}
	return nil
}
