package memory

import (
	"context"
	"time"

	"github.com/alcove-memory/alcove/host/memory/record"
	"github.com/alcove-memory/alcove/host/store"
)

// RecordHistory lists the versions of a record, newest first, none newer than before (0: the stage's version), at most limit. next is
// the before of the next page; 0: the last page. Staged changes are not listed.
func (t *Stage) RecordHistory(ctx context.Context, c Collection, namespace, key string, before uint64, limit int) (versions []Record, next uint64, err error) {
	namespace, err = t.allowing(c).readingKeys(namespace, []string{key})
	if err != nil {
		return nil, 0, err
	}
	if c.Unversioned {
		return nil, 0, invalid("collection %s keeps no history: its manifest says versioned=false", c.Name)
	}
	lineage := t.lineageOf(c)
	if lineage == nil {
		return nil, 0, nil
	}
	if before != 0 {
		lineage = lineage.At(min(before, t.version))
	}
	limit = t.space.page(limit)
	within := store.Range{Namespace: namespace, Collection: c.Name, Prefix: key, Exact: true}
	for e, err := range store.Entries(ctx, t.space.engine.Versions, lineage, within, limit+1) {
		if err != nil {
			return nil, 0, t.space.translate("read the history of "+clip(key, 64), err)
		}
		if len(versions) == limit {
			return versions, e.Version, nil
		}
		version, err := versionOf(e)
		if err != nil {
			return nil, 0, err
		}
		versions = append(versions, version)
	}
	return versions, 0, nil
}

func versionOf(e store.Entry) (Record, error) {
	version := Record{Namespace: e.Namespace, Key: e.Name, Version: e.Version, Timestamp: e.Time, Deleted: e.Deleted}
	if e.Deleted {
		return version, nil
	}
	r, err := record.Decode(e)
	version.Value, version.ExpiresAt = r.Value, r.ExpiresAt()
	return version, err
}

// Expired returns the stage for reads that include expired records.
func (t *Stage) Expired() *Stage {
	if t.seen == nil { // reads through either are expected
		t.seen = map[site]uint64{}
	}
	all := *t
	all.now = time.Time{}
	return &all
}
