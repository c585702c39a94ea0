package memory

import (
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// callerOf returns the author of a commit, without rights.
func callerOf(n record.Note) Caller {
	return Caller{Agent: n.Agent, Client: n.Client, Session: n.Session, Family: n.Family, Call: n.Call, Generation: n.Generation, Account: n.Account}
}

// CommitQuery selects commits by author. Empty fields match everything.
type CommitQuery struct {
	Call   string
	Family string
	Agent  string
	Branch string
	Since  uint64 // only later versions
	Before uint64 // only earlier versions: the end of the previous page; 0: from the newest
	Limit  int    // 0: Limits.Page
}

// CommittedBy is a commit with its author.
type CommittedBy struct {
	Version   uint64
	Timestamp time.Time
	Branch    string
	Caller    Caller // without rights
	// Changes are its writes that the caller may read; nil if that past is no longer kept.
	Changes []CommittedChange
}

// CommittedChange is one entry that a commit wrote or deleted.
type CommittedChange struct {
	Namespace  string
	Collection string // of a family's record, or of an event; empty for a memory
	Key        string
	Deleted    bool
}

// Commits lists the commits of calls and families, newest first. before is the Before of the next page; 0: the last page.
// A caller that may not read everything sees the commits with a change it may read.
func (a *Access) Commits(ctx context.Context, q CommitQuery) (list []CommittedBy, before uint64, err error) {
	s := a.space
	if _, err := a.readable(nil); err != nil {
		return nil, 0, err
	}
	if q.Since > 0 {
		if _, _, err := s.resolve(ctx, AsOf{Version: q.Since}); err != nil {
			return nil, 0, err
		}
	}
	limit := s.page(q.Limit)
	for n, err := range s.eachNote(ctx, q.Since, cmp.Or(q.Before, store.Latest)) {
		if err != nil {
			return nil, 0, s.translate("list commits", err)
		}
		c, err := a.committed(ctx, q, n)
		if err != nil {
			return nil, 0, err
		}
		if c == nil {
			continue
		}
		if len(list) == limit {
			return list, list[limit-1].Version, nil
		}
		list = append(list, *c)
	}
	return list, 0, nil
}

// eachNote visits the notes of commits with after < version < before, newest first.
func (s *Space) eachNote(ctx context.Context, after, before uint64) iter.Seq2[store.Noted, error] {
	return store.Notes(ctx, s.engine.Notes, after, before, fillPage)
}

// Accounts visits the commits after a version that have an account, newest first, without their changes.
func (s *Space) Accounts(ctx context.Context, after uint64) iter.Seq2[CommittedBy, error] {
	return func(yield func(CommittedBy, error) bool) {
		for noted, err := range store.Notes(ctx, s.engine.Notes, after, store.Latest, fillPage) {
			if err != nil {
				yield(CommittedBy{}, s.translate("list commits", err))
				return
			}
			n, ok := record.DecodeNote(noted.Note)
			if ok && n.Account != nil && !yield(CommittedBy{Version: noted.Version, Timestamp: noted.Time, Branch: n.Name, Caller: callerOf(n)}, nil) {
				return
			}
		}
	}
}

// committed returns the commit of a note; nil if it does not match, or the caller may not see it.
func (a *Access) committed(ctx context.Context, q CommitQuery, noted store.Noted) (_ *CommittedBy, err error) {
	n, ok := record.DecodeNote(noted.Note)
	if !ok {
		return nil, nil
	}
	c := &CommittedBy{Version: noted.Version, Timestamp: noted.Time, Branch: n.Name, Caller: callerOf(n)}
	for _, asked := range []struct{ want, have string }{{q.Call, n.Call}, {q.Family, n.Family}, {q.Agent, n.Agent}, {q.Branch, c.Branch}} {
		if asked.want != "" && record.NoteField(asked.want) != asked.have {
			return nil, nil
		}
	}
	on := []store.BranchID{n.Branch}
	if system := a.space.catalogue.System(); system != nil {
		on = append(on, system.ID)
	}
	for _, b := range on {
		if c.Changes, err = a.changed(ctx, b, noted.Version, c.Changes); err != nil {
			return nil, err
		}
	}
	if len(c.Changes) == 0 && !a.caller.Rights.readsAll() {
		return nil, nil
	}
	return c, nil
}

// changed adds the changes of a version on a branch that are still kept and that the caller may read.
func (a *Access) changed(ctx context.Context, b store.BranchID, version uint64, list []CommittedChange) ([]CommittedChange, error) {
	changes, _, err := a.space.engine.Changes(ctx, b, version-1, version, 1)
	if _, trimmed := asTrimmed(err); err != nil && !trimmed {
		return nil, a.space.translate("list commits", err)
	}
	for _, change := range changes {
		if change.Namespace == lineage.Namespace || !a.caller.Rights.MayRead(change.Namespace) {
			continue
		}
		made := CommittedChange{Namespace: change.Namespace, Collection: change.Collection, Key: change.Name, Deleted: change.Deleted}
		if made.Collection == memories {
			made.Collection = ""
		}
		list = append(list, made)
	}
	return list, nil
}

// dropNotes drops the notes of commits whose changes retention removed: they can no longer be undone.
func (s *Space) dropNotes(ctx context.Context) error {
	floors, oldest, newest := map[store.BranchID]uint64{}, store.Latest, uint64(0)
	for _, b := range s.catalogue.Live() {
		floor, err := s.ownFloor(ctx, b.ID)
		if err != nil {
			return err
		}
		floors[b.ID] = floor.Version
		oldest, newest = min(oldest, floor.Version), max(newest, floor.Version)
	}
	if newest == 0 {
		return nil
	}
	gone := func(n store.Noted) bool {
		note, _ := record.DecodeNote(n.Note) // a malformed note has no branch
		floor, live := floors[note.Branch]
		return n.Version <= floor || !live && n.Version <= newest
	}
	var drop []uint64
	for n, err := range store.Notes(ctx, s.engine.Notes, s.notesDropped.Load(), newest+1, fillPage) {
		if err != nil {
			return err
		}
		if gone(n) {
			drop = append(drop, n.Version)
		}
	}
	if err := s.engine.DropNotes(ctx, drop); err != nil {
		return err
	}
	s.notesDropped.Store(oldest)
	return nil
}
