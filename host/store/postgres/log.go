package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const lastSQL = `
SELECT key FROM alcove.entries WHERE space = $1 AND branch = $2 AND key >= $3 AND key < $4 ORDER BY key DESC LIMIT 1`

// lastRead returns the newest entry of a log that a lineage sees. In a cut segment it finds the newest visible one by binary search:
// numbers and versions grow together.
func (e *Engine) lastRead(ctx context.Context, l store.Lineage, id log) (store.Entry, error) {
	prefix := keycode.Prefix(store.Range{Namespace: id.namespace, Collection: id.collection})
	for i, segment := range l {
		var raw []byte
		err := e.pool.QueryRow(ctx, lastSQL, e.space, number(segment.Branch), prefix, keycode.After(prefix)).Scan(&raw)
		if errors.Is(err, pgx.ErrNoRows) {
			continue
		}
		if err != nil {
			return store.Entry{}, err
		}
		newest, err := keycode.Decode(raw)
		if err != nil {
			return store.Entry{}, err
		}
		high, err := store.ParseSequence(newest.Name)
		if err != nil {
			return store.Entry{}, fmt.Errorf("append to %s/%s: %w", id.namespace, id.collection, err)
		}
		if found, err := e.lastVisible(ctx, l[i:], newest, high); err != nil || found.Version != 0 {
			return found, err
		}
	}
	return store.Entry{}, nil
}

func (e *Engine) lastVisible(ctx context.Context, l store.Lineage, key store.Key, high uint64) (best store.Entry, err error) {
	branches, upto := e.cut(l)
	middle := high // usually the last one is visible
	for low := uint64(1); low <= high; middle = low + (high-low)/2 {
		key.Name = store.SequenceName(middle)
		var found store.Entry
		err := e.each(ctx, getSQL, []any{e.space, [][]byte{keycode.Encode(key)}, branches, upto}, func(rows pgx.Rows) (err error) {
			var r row
			if err := r.scan(rows, new(int64)); err != nil {
				return err
			}
			found, err = r.entry()
			return err
		})
		if err != nil {
			return best, err
		}
		if found.Exists() {
			best, low = found, middle+1
			continue
		}
		high = middle - 1
	}
	return best, nil
}
