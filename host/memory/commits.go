package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/store"
)

// commitNotes is the collection of the system branch that says whose each commit is, a note beside what the commit wrote. Their
// names go up in the order in which the commits began.
const commitNotes = "_commits"

type commitNote struct {
	Branch  store.BranchID `json:"b"`
	Name    string         `json:"n"` // of the branch, for when it is gone
	Agent   string         `json:"a,omitempty"`
	Client  string         `json:"p,omitempty"`
	Session string         `json:"s,omitempty"`
	Family  string         `json:"f,omitempty"`
	Call    string         `json:"c,omitempty"`
}

// noting names the notes of commits.
type noting struct {
	mu   sync.Mutex
	last uint64 // µs since the epoch, or more where commits came faster or the clock went back
}

// load finds where an earlier process left off.
func (n *noting) load(ctx context.Context, s *Space) error {
	b := s.catalogue.System()
	if b == nil {
		return nil
	}
	newest, _, err := s.engine.ScanAt(ctx, b.Lineage, store.Range{Namespace: lineage.Namespace, Collection: commitNotes, Reverse: true}, "", 1)
	if err != nil || len(newest) == 0 {
		return err
	}
	n.last, err = store.ParseSequence(newest[0].Name)
	return err
}

func (n *noting) next(now int64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = max(n.last+1, uint64(max(now, 0)))
	return store.SequenceName(n.last)
}

// noted is a batch with a note of whose it is. Without a call or a family there is none: the author is in what was written.
func (s *Space) noted(batch store.Batch, b store.BranchID, name string, by Caller) (store.Batch, error) {
	system := s.catalogue.System()
	if by.Call == "" && by.Family == "" || system == nil {
		return batch, nil
	}
	value, err := json.Marshal(commitNote{b, name, by.Agent, by.Client, by.Session, by.Family, by.Call})
	if err != nil {
		return batch, fmt.Errorf("note whose a commit is: %w", err)
	}
	key := store.Key{Namespace: lineage.Namespace, Collection: commitNotes, Name: s.noting.next(s.clock().UnixMicro())}
	batch.Writes = append(batch.Writes, store.Write{Branch: system.ID, Key: key, Value: value})
	return batch, nil
}

// mostCredited is how many notes of commits are read for the authors of one page of the feed.
const mostCredited = 10_000

// creditCommits fills in who deleted what notices are about, by the notes of commits: a deletion has no author of its own.
func (s *Space) creditCommits(ctx context.Context, notices []Notice) error {
	system := s.catalogue.System()
	if system == nil {
		return nil
	}
	missing := map[uint64][]int{}
	for i, n := range notices {
		if n.Agent == "" && n.Kind == MemoryForgotten {
			missing[n.Watermark] = append(missing[n.Watermark], i)
		}
	}
	first, last := notices[0], notices[len(notices)-1]
	// Notes are named by when their commits began, which may be a while before they were written.
	const began = time.Minute
	from := store.SequenceName(uint64(max(first.Timestamp.Add(-began).UnixMicro(), 0)))
	read := 0
	for e, err := range eachEntry(ctx, s.engine.ScanAt, system.Lineage, store.Range{Namespace: lineage.Namespace, Collection: commitNotes, From: from}, fillPage) {
		if err != nil {
			return s.translate("read the feed", err)
		}
		if read++; read > mostCredited || len(missing) == 0 || e.Time.After(last.Timestamp.Add(began)) {
			return nil
		}
		if len(missing[e.Version]) == 0 {
			continue
		}
		var note commitNote
		if err := json.Unmarshal(e.Value, &note); err != nil {
			return fmt.Errorf("decode the note of commit %d: %w", e.Version, err)
		}
		for _, i := range missing[e.Version] {
			notices[i].Agent = note.Agent
		}
		delete(missing, e.Version)
	}
	return nil
}

// CommitQuery says whose commits to list. Empty fields do not select.
type CommitQuery struct {
	Call   string
	Family string
	Agent  string
	Branch string
	Since  uint64 // only versions after it
	Before uint64 // only versions before it: where an earlier answer ended; 0: up to the newest
	Limit  int    // 0: Limits.Page
}

// CommittedBy is a commit, and whose it is.
type CommittedBy struct {
	Version   uint64
	Timestamp time.Time
	Branch    string
	Caller    Caller // without rights
	// Changes are what it wrote, as far as the caller may read that; nil when that past is not kept any more.
	Changes []CommittedChange
}

// CommittedChange is one entry that a commit wrote or deleted.
type CommittedChange struct {
	Namespace  string
	Collection string // of a family's record, or of an event; empty for a memory
	Key        string
	Deleted    bool
}

// Commits lists the commits of calls and families, newest first. before is the Before of the next page; 0 when that was all.
// A caller that may not read everything gets those of whose changes it may read any.
func (a *Access) Commits(ctx context.Context, q CommitQuery) (list []CommittedBy, before uint64, err error) {
	s := a.space
	if _, err := a.readable(nil); err != nil {
		return nil, 0, err
	}
	system := s.catalogue.System()
	if system == nil {
		return nil, 0, nil
	}
	limit, oldest, err := s.page(q.Limit), time.Time{}, error(nil)
	if q.Since > 0 {
		if _, oldest, err = s.resolve(ctx, AsOf{Version: q.Since}); err != nil {
			return nil, 0, err
		}
	}
	notes := store.Range{Namespace: lineage.Namespace, Collection: commitNotes, Reverse: true}
	for e, err := range eachEntry(ctx, s.engine.ScanAt, system.Lineage, notes, fillPage) {
		switch {
		case err != nil:
			return nil, 0, s.translate("list commits", err)
		case e.Time.Before(oldest.Add(-longestCommit)):
			return list, 0, nil
		case e.Version <= q.Since || q.Before != 0 && e.Version >= q.Before:
			continue
		}
		c, err := a.committed(ctx, q, e)
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

// longestCommit is how long after its note is named a commit is surely done: notes are that much out of the order of versions.
const longestCommit = 10 * time.Minute

// committed is the commit of a note; nil when it was not asked for, or is none of the caller's business.
func (a *Access) committed(ctx context.Context, q CommitQuery, e store.Entry) (_ *CommittedBy, err error) {
	var n commitNote
	if err := json.Unmarshal(e.Value, &n); err != nil {
		return nil, fmt.Errorf("read whose version %d is: %w", e.Version, err)
	}
	c := &CommittedBy{Version: e.Version, Timestamp: e.Time, Branch: n.Name,
		Caller: Caller{Agent: n.Agent, Client: n.Client, Session: n.Session, Family: n.Family, Call: n.Call}}
	for _, asked := range []struct{ want, have string }{{q.Call, n.Call}, {q.Family, n.Family}, {q.Agent, n.Agent}, {q.Branch, c.Branch}} {
		if asked.want != "" && asked.want != asked.have {
			return nil, nil
		}
	}
	for _, b := range []store.BranchID{n.Branch, e.Branch} {
		if c.Changes, err = a.changed(ctx, b, e.Version, c.Changes); err != nil {
			return nil, err
		}
	}
	if len(c.Changes) == 0 && !a.caller.Rights.readsAll() {
		return nil, nil
	}
	return c, nil
}

// changed adds what a version changed on a branch, as far as that is known and the caller may read it.
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

// dropNotes forgets whose the commits were that retention left nothing of: nobody can undo them any more.
func (s *Space) dropNotes(ctx context.Context, system *lineage.Branch) error {
	floors, newest := map[store.BranchID]uint64{}, uint64(0)
	for _, b := range s.catalogue.Live() {
		floor, err := s.ownFloor(ctx, b.ID)
		if err != nil {
			return err
		}
		floors[b.ID] = floor.Version
		newest = max(newest, floor.Version)
	}
	if newest == 0 {
		return nil
	}
	within := store.Range{Namespace: lineage.Namespace, Collection: commitNotes}
	for page, err := range eachPage(ctx, s.engine.ScanAt, system.Lineage, within, cataloguePage) {
		if err != nil {
			return err
		}
		gone := store.Batch{Expect: []store.Expectation{system.Alive()}}
		for _, e := range page {
			var n commitNote
			if err := json.Unmarshal(e.Value, &n); err != nil {
				return fmt.Errorf("read whose version %d is: %w", e.Version, err)
			}
			if floor, live := floors[n.Branch]; e.Version <= floor || !live && e.Version <= newest {
				gone.Writes = append(gone.Writes, store.Write{Branch: system.ID, Key: e.Key, Delete: true})
			}
		}
		if len(gone.Writes) > 0 {
			if _, err := s.engine.Commit(ctx, gone); err != nil {
				return err
			}
		}
		if len(page) > 0 && page[len(page)-1].Version > newest {
			return nil
		}
	}
	return nil
}
