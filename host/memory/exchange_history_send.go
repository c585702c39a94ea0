package memory

import (
	"context"
	"slices"

	"github.com/alcove-memory/alcove/host/memory/provenance"
	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// Histories lists all versions of memories on a branch that a receiver lacks, including deletions, but not purged or expired ones.
// Query.Known is that of the receiver's HistoryPeer.
func (a *Access) Histories(ctx context.Context, q ExchangeQuery) (ExchangePage, error) {
	return a.list(ctx, q, func(p *sending) sent { return sent{has: p.sure, wants: p.wantsHistory, all: true} })
}

func (p *sending) wantsHistory(key store.Key) bool {
	return (key.Collection == memories || key.Collection == pasts) && p.query.Scope.Covers(key.Namespace) && p.rights.MayRead(key.Namespace)
}

// each adds every version in some changes of a branch.
func (p *sending) each(ctx context.Context, b store.BranchID, changes []store.Change) error {
	wanted := map[store.Key][]uint64{}
	var keys []store.Key
	for _, c := range changes {
		if !p.what.wants(c.Key) {
			continue
		}
		if wanted[c.Key] == nil {
			keys = append(keys, c.Key)
		}
		wanted[c.Key] = append(wanted[c.Key], c.Version)
	}
	if len(keys) == 0 {
		return nil
	}
	view := store.Lineage{{Branch: b, At: changes[len(changes)-1].Version}}
	both := slices.Clone(keys)
	for _, key := range keys {
		both = append(both, originKey(key))
	}
	found, err := p.space.engine.GetAt(ctx, view, both)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if versions := wanted[key]; len(versions) == 1 && found[i].Version == versions[0] {
			err = p.version(found[i], found[len(keys)+i])
		} else { // the next changes, of the same commit, may have a newer one
			err = p.several(ctx, view.At(versions[len(versions)-1]), key, versions)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// several adds versions of a memory, which are the newest of a view.
func (p *sending) several(ctx context.Context, view store.Lineage, key store.Key, versions []uint64) error {
	entries, _, err := p.space.engine.Versions(ctx, view, exactly(key), "", len(versions))
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e store.Entry) bool { return !slices.Contains(versions, e.Version) })
	return p.noted(ctx, view, entries)
}

// noted adds versions of one memory, the newest first.
func (p *sending) noted(ctx context.Context, view store.Lineage, entries []store.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var from map[uint64]store.Entry
	if entries[0].Collection == memories {
		var err error
		if from, err = p.space.notesOf(ctx, view, entries[0].Key, entries[len(entries)-1].Version); err != nil {
			return err
		}
	}
	for _, e := range slices.Backward(entries) {
		if err := p.version(e, from[e.Version]); err != nil {
			return err
		}
	}
	return nil
}

// withNotes adds what is wanted of entries in the order of keys.
func (p *sending) withNotes(ctx context.Context, entries []store.Entry) error {
	for len(entries) > 0 {
		n := 1
		for n < len(entries) && entries[n].Key == entries[0].Key {
			n++
		}
		if p.what.wants(entries[0].Key) {
			if err := p.noted(ctx, p.lineage, entries[:n]); err != nil {
				return err
			}
		}
		entries = entries[n:]
	}
	return nil
}

// version adds a version, unless the receiver has it.
func (p *sending) version(e, noted store.Entry) error {
	m, from, err := p.origin(e, noted)
	if err != nil || from == nil || m.Purged != "" || p.knownIn(e.Namespace).HasAll(from) {
		return err
	}
	if !m.ExpiresAt.IsZero() && !m.ExpiresAt.After(p.space.clock()) {
		return nil
	}
	v := Exchanged{Deleted: m.Deleted, Origins: from}
	if v.Namespace, v.Key = m.Namespace, m.Key; !m.Deleted {
		v.Memory = exported(m)
		v.Version, v.Timestamp = 0, nil // Origins tell
	}
	p.sends(v, len(e.Value))
	return nil
}

// origin returns a version of a memory with its origin; nil: there is none, or it was dropped.
func (p *sending) origin(e, noted store.Entry) (Memory, []provenance.Version, error) {
	if e.Collection == pasts {
		if !e.Exists() {
			return Memory{}, nil, nil
		}
		m, from, err := pastMemory(e)
		return m, []provenance.Version{from}, err
	}
	from, err := p.space.originsOf(e, noted)
	if err != nil || !e.Exists() {
		return Memory{Namespace: e.Namespace, Key: e.Name, Deleted: true}, from, err
	}
	r, err := record.Decode(e)
	return memoryOf(e, r), from, err
}
