package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/lineage"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// WrittenQuery selects a page of writes.
type WrittenQuery struct {
	Branch      string
	PerSpace    bool     // entries shared by all branches, instead of those of Branch
	Memories    bool     // include memories
	Collections []string // include records of these
	Merges      bool     // include merges into Branch
	After       uint64   // only later versions
	Limit       int      // approximate number of changes, never part of a commit; 0: Limits.Page
}

// Written is a page of writes, in the order of versions, as far back as the branch is kept.
type Written struct {
	Entries []WrittenEntry
	Merges  []MergedBranch
	Upto    uint64 // After of the next page; unchanged without news
	More    bool   // more is available
}

// WrittenEntry is a memory or a record that a commit wrote or deleted.
type WrittenEntry struct {
	Collection string // of a record; empty for a memory
	Memory            // of a record Namespace, Key, Value, Agent, Version and Timestamp alone; of a deletion only where and when
	By         Caller // the author of the commit, without rights; empty if not recorded
}

// MergedBranch is a merge into a branch.
type MergedBranch struct {
	Source  string
	Version uint64
	By      Caller        // without rights
	Count   int           // memories that it changed and the caller may read
	Keys    []MergedEntry // the first of them
}

// MergedEntry is a memory that a merge changed.
type MergedEntry struct {
	Namespace, Key string
	Deleted        bool
}

// mergedKeys bounds the memories of a merge that are named.
const mergedKeys = 100

// Written lists writes that the caller may read. Purged ones are left out.
func (a *Access) Written(ctx context.Context, q WrittenQuery) (Written, error) {
	s := a.space
	b, err := a.branch(q.Branch)
	if q.PerSpace {
		b = s.catalogue.System()
	}
	if err != nil || b == nil {
		return Written{Upto: q.After}, err
	}
	begin, err := s.ownFloor(ctx, b.ID)
	if err != nil {
		return Written{}, s.translate("read the changes of a branch", err)
	}
	page := Written{Upto: max(q.After, begin.Version)}
	changes, next, err := s.engine.Changes(ctx, b.ID, page.Upto, store.Latest, s.page(q.Limit))
	if err != nil {
		return Written{}, s.translate("read what was written", err)
	}
	page.More = next != 0
	for len(changes) > 0 {
		n := slices.IndexFunc(changes, func(c store.Change) bool { return c.Version != changes[0].Version })
		if n < 0 {
			n = len(changes)
		}
		if err := a.addCommit(ctx, &page, b, q, changes[:n]); err != nil {
			return Written{}, s.translate("read what was written", err)
		}
		page.Upto, changes = changes[0].Version, changes[n:]
	}
	return page, nil
}

// addCommit adds the changes of one commit.
func (a *Access) addCommit(ctx context.Context, page *Written, b *lineage.Branch, q WrittenQuery, changes []store.Change) error {
	version := changes[0].Version
	var keys []store.Key
	merge := MergedBranch{Version: version}
	for _, c := range changes {
		if !a.caller.Rights.MayRead(c.Namespace) {
			continue
		}
		if c.Collection == memories && q.Memories || slices.Contains(q.Collections, c.Collection) {
			keys = append(keys, c.Key)
		}
		if c.Collection == memories {
			if merge.Count++; len(merge.Keys) < mergedKeys {
				merge.Keys = append(merge.Keys, MergedEntry{c.Namespace, c.Name, c.Deleted})
			}
		}
	}
	merged := false
	if q.Merges {
		var err error
		if merge.Source, merged, err = a.space.mergeAt(ctx, b, version); err != nil {
			return err
		}
	}
	if len(keys) == 0 && !merged {
		return nil
	}
	by, err := a.space.committedBy(ctx, version)
	if err != nil {
		return err
	}
	if merge.By = by; merged {
		page.Merges = append(page.Merges, merge)
	}
	entries, err := a.space.writtenAt(ctx, b, version, keys, by)
	page.Entries = append(page.Entries, entries...)
	return err
}

// writtenAt reads entries as a commit left them.
func (s *Space) writtenAt(ctx context.Context, b *lineage.Branch, version uint64, keys []store.Key, by Caller) (list []WrittenEntry, err error) {
	if len(keys) == 0 {
		return nil, nil
	}
	found, err := s.engine.GetAt(ctx, b.Lineage.At(version), keys)
	if _, trimmed := asTrimmed(err); trimmed {
		return nil, nil // trimmed meanwhile
	}
	if err != nil {
		return nil, err
	}
	for i, e := range found {
		w := WrittenEntry{Collection: keys[i].Collection, By: by, Memory: Memory{Namespace: keys[i].Namespace, Key: keys[i].Name, Version: version, Timestamp: e.Time}}
		if keys[i].Collection == memories {
			w.Collection = ""
		}
		switch {
		case e.Version != version:
			continue // its past was dropped
		case e.Deleted:
			w.Deleted = true
		default:
			r, err := record.Decode(e)
			if err != nil {
				return nil, err
			}
			if r.Expired(e.Time) || r.Purged != "" {
				continue
			}
			w.Memory = memoryOf(e, r)
		}
		list = append(list, w)
	}
	return list, nil
}

// committedBy returns the author of a version's commit, without rights; the zero Caller if not recorded.
func (s *Space) committedBy(ctx context.Context, version uint64) (Caller, error) {
	noted, err := s.engine.Notes(ctx, version-1, version+1, 1)
	if err != nil {
		return Caller{}, s.translate("read whose a commit is", err)
	}
	if len(noted) == 0 {
		return Caller{}, nil
	}
	n, _ := record.DecodeNote(noted[0].Note)
	return callerOf(n), nil
}

// mergeAt returns the source of the merge into a branch at a version; ok is false if the version is no merge.
func (s *Space) mergeAt(ctx context.Context, b *lineage.Branch, version uint64) (source string, ok bool, err error) {
	changes, err := s.changesOf(ctx, store.Catalogue, version)
	if err != nil {
		return "", false, err
	}
	for _, c := range changes {
		if m, is := lineage.MergeOf(c.Key); is && !c.Deleted && m.Target == b.ID {
			source, err = s.nameOfMerged(ctx, c, m.Source)
			return source, true, err
		}
	}
	return "", false, nil
}

// nameOfMerged returns the name of a merge's source, given the change with the record of the merge: from that record once the source is
// erased, or its number if the record has no name.
func (s *Space) nameOfMerged(ctx context.Context, merge store.Change, source store.BranchID) (string, error) {
	if s.catalogue.ByID(source) != nil {
		return s.catalogue.NameOf(source), nil
	}
	found, err := s.engine.GetAt(ctx, store.Lineage{{Branch: store.Catalogue, At: merge.Version}}, []store.Key{merge.Key})
	if err != nil || !found[0].Exists() {
		return s.catalogue.NameOf(source), err
	}
	r, err := lineage.ReadMerge(found[0])
	return cmp.Or(r.Name, s.catalogue.NameOf(source)), err
}

// changesOf returns the changes of one version on a branch; none if they are no longer kept.
func (s *Space) changesOf(ctx context.Context, b store.BranchID, version uint64) ([]store.Change, error) {
	changes, _, err := s.engine.Changes(ctx, b, version-1, version, 1)
	if _, trimmed := asTrimmed(err); trimmed {
		return nil, nil
	}
	return changes, err
}
