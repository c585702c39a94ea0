package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const countersSQL = `
SELECT k.i, c.value
FROM unnest($2::bytea[]) WITH ORDINALITY AS k (key, i)
CROSS JOIN LATERAL (
	SELECT f.value FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS l (branch, upto, place)
	CROSS JOIN LATERAL (
		SELECT value FROM alcove.counters
		WHERE space = $1 AND branch = l.branch AND key = k.key AND version <= l.upto
		ORDER BY version DESC LIMIT 1
	) f
	ORDER BY l.place LIMIT 1
) c`

// Counters returns counters. Their versions are the callers', so the lineage is not cut at the head.
func (e *Engine) Counters(ctx context.Context, l store.Lineage, keys []store.Key) (found [][]byte, err error) {
	raw := make([][]byte, len(keys))
	for i, k := range keys {
		raw[i] = keycode.Encode(k)
	}
	var branches, upto []int64
	for _, s := range l {
		branches, upto = append(branches, number(s.Branch)), append(upto, number(s.At))
	}
	err = e.read(ctx, func(ctx context.Context) error {
		found = make([][]byte, len(keys))
		return e.each(ctx, countersSQL, []any{e.space, raw, branches, upto}, func(rows pgx.Rows) error {
			var i int64
			var value []byte
			err := rows.Scan(&i, &value)
			found[i-1] = value
			return err
		})
	})
	return found, err
}

const countersOnSQL = `
SELECT DISTINCT ON (key) key, version, value FROM alcove.counters
WHERE space = $1 AND branch = $2 AND version > $3 AND key >= $4 ORDER BY key, version DESC LIMIT $5`

// CountersOn lists a branch's own counters.
func (e *Engine) CountersOn(ctx context.Context, b store.BranchID, after uint64, c store.Cursor, limit int) (list []store.Counted, next store.Cursor, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		list, next = nil, ""
		return e.each(ctx, countersOnSQL, []any{e.space, number(b), number(after), []byte(c), limit + 1}, func(rows pgx.Rows) error {
			var key []byte
			var version int64
			var counted store.Counted
			if err := rows.Scan(&key, &version, &counted.Value); err != nil {
				return err
			}
			if len(list) == limit {
				next = store.Cursor(key)
				return nil
			}
			var err error
			counted.Key, err = keycode.Decode(key)
			counted.Version = uint64(version)
			list = append(list, counted)
			return err
		})
	})
	return list, next, err
}
