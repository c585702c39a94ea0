package bolt

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/dumping"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// DumpRuns yields the pieces of the space at a version, in runs.
func (e *Engine) DumpRuns(ctx context.Context, since, at uint64, begin func() ([]byte, error), end func(run []byte, pieces int) error) error {
	out, err := dumping.Runs(begin, end)
	if err == nil {
		err = (&dump{engine: e, ctx: ctx, since: since, at: at, out: out}).run()
	}
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}

// peeker decodes entries of a branch in key order without copying their values.
type peeker struct {
	table, apart          layout.Table // of entries, and of values that are kept apart
	values                *bbolt.Cursor
	value, large          []byte // where it stands
	namespace, collection string // of the last entry: the next one is likely to be there too
}

func newPeeker(branch *bbolt.Bucket, id store.BranchID) *peeker {
	return &peeker{table: layout.TableOf(layout.KindEntries, 0), apart: layout.TableOf(layout.KindValues, uint64(id)), values: branch.Bucket(layout.KindValues.Bucket()).Cursor()}
}

// peek decodes an entry. The transaction owns its value.
func (p *peeker) peek(key, data []byte) (e store.Entry, err error) {
	raw, version, err := keycode.SplitVersion(key)
	if err != nil {
		return e, err
	}
	if e.Key, err = p.key(raw); err != nil {
		return e, err
	}
	rec, err := p.table.DecodeRecord(key, data)
	if err == nil && rec.Large() {
		rec.Value, err = layout.OpenLarge(p.apart, key, p.largeValue(key), rec.Value)
	}
	if err != nil {
		return e, fmt.Errorf("read %s at version %d: %w", e.Key, version, err)
	}
	e.Branch, e.Deleted, e.Version, e.Time = rec.Branch, rec.Deleted(), version, time.UnixMicro(rec.Micros).UTC()
	if !e.Deleted {
		e.Value = rec.Value
	}
	return e, nil
}

// largeValue returns a separately stored value, usually the one after the last.
func (p *peeker) largeValue(key []byte) []byte {
	if p.value != nil {
		p.value, p.large = p.values.Next()
	}
	if !bytes.Equal(p.value, key) {
		p.value, p.large = p.values.Seek(key)
	}
	if !bytes.Equal(p.value, key) {
		return nil
	}
	return p.large
}

// key decodes a key. It reuses the last namespace and collection if they are equal.
func (p *peeker) key(raw []byte) (store.Key, error) {
	n, c := len(p.namespace), len(p.collection)
	same := len(raw) > n+c+4 && raw[n] == 0 && raw[n+1+c] == 0 && string(raw[:n]) == p.namespace && string(raw[n+1:n+1+c]) == p.collection
	if name := raw[min(n+c+2, len(raw)):]; same && bytes.IndexByte(name, 0) == len(name)-2 && name[len(name)-1] == 1 {
		return store.Key{Namespace: p.namespace, Collection: p.collection, Name: string(name[:len(name)-2])}, nil
	}
	k, err := keycode.Decode(raw)
	p.namespace, p.collection = k.Namespace, k.Collection
	return k, err
}

// sortedUnique sorts keys and removes duplicates.
func sortedUnique(keys [][]byte) [][]byte {
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}
