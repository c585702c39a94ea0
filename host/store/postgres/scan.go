package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// scanSQL lists the newest version of each key between two, tombstones included. Of each segment it reads as many keys as it lists, so
// that the first of all segments are complete. %[1]s is empty, or DESC.
const scanSQL = `
WITH found AS (
	SELECT DISTINCT ON (f.key) f.key, f.branch, f.version
	FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS l (branch, upto, place)
	CROSS JOIN LATERAL (
		SELECT DISTINCT ON (key) key, branch, version FROM alcove.entries
		WHERE space = $1 AND branch = l.branch AND key >= $4 AND key < $5 AND version <= l.upto
		ORDER BY key %[1]s, version DESC LIMIT $6
	) f
	ORDER BY f.key %[1]s, l.place LIMIT $6
)
SELECT ` + rowColumns + `
FROM found f JOIN alcove.entries e ON e.space = $1 AND e.branch = f.branch AND e.key = f.key AND e.version = f.version
ORDER BY e.key %[1]s`

// span is the keys of a listing: from the first, inclusive, to the end, exclusive.
type span struct{ from, end []byte }

func spanOf(r store.Range, c store.Cursor) (s span, err error) {
	prefix := keycode.Prefix(r)
	start, err := keycode.Start(r, prefix, c)
	if err != nil {
		return s, err
	}
	if r.Reverse {
		s = span{from: prefix, end: start}
	} else {
		s = span{from: start, end: keycode.After(prefix)}
	}
	if s.end == nil {
		s.end = beyond
	}
	if s.from == nil {
		s.from = []byte{}
	}
	return s, nil
}

const scanPage = 32 // the fewest keys that are read at once: some may be tombstones

// ScanAt lists live entries.
func (e *Engine) ScanAt(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) (list []store.Entry, next store.Cursor, err error) {
	all, err := spanOf(r, c)
	if err != nil {
		return nil, "", fmt.Errorf("scan: %w", err)
	}
	query := fmt.Sprintf(scanSQL, "")
	if r.Reverse {
		query = fmt.Sprintf(scanSQL, "DESC")
	}
	err = e.readLineage(ctx, l, func(ctx context.Context, branches, upto []int64) error {
		list, next = nil, ""
		for s := all; ; {
			page := max(limit-len(list)+1, scanPage)
			found, err := e.entries(ctx, query, e.space, branches, upto, s.from, s.end, page)
			if err != nil {
				return err
			}
			for _, f := range found {
				raw := keycode.Encode(f.Key)
				if len(list) >= limit {
					next = store.Cursor(raw)
					if r.Reverse {
						next = store.Cursor(keycode.Version(raw, 0))
					}
					return nil
				}
				if f.Exists() {
					list = append(list, f)
				}
			}
			if len(found) < page {
				return nil
			}
			last := keycode.Encode(found[len(found)-1].Key)
			if r.Reverse {
				s.end = last
			} else {
				s.from = keycode.Version(last, 0)
			}
		}
	})
	return list, next, err
}

const versionsSQL = `
SELECT ` + rowColumns + `
FROM unnest($2::bigint[], $3::bigint[]) WITH ORDINALITY AS l (branch, upto, place)
CROSS JOIN LATERAL (
	SELECT * FROM alcove.entries
	WHERE space = $1 AND branch = l.branch AND key >= $4 AND key < $5 AND version <= l.upto AND (key > $6 OR version < $7)
	ORDER BY key, version DESC LIMIT $8
) e
ORDER BY e.key, l.place, e.version DESC LIMIT $8`

// Versions lists every version. A cursor inside a key has the version to continue from.
func (e *Engine) Versions(ctx context.Context, l store.Lineage, r store.Range, c store.Cursor, limit int) (list []store.Entry, next store.Cursor, err error) {
	resume, below := []byte{}, store.Latest
	if len(c) > keycode.VersionSize {
		if resume, below, err = keycode.SplitVersion([]byte(c)); err != nil {
			return nil, "", fmt.Errorf("list versions: %w", err)
		}
	}
	all, err := spanOf(r, store.Cursor(resume))
	if err != nil {
		return nil, "", fmt.Errorf("list versions: %w", err)
	}
	err = e.readLineage(ctx, l, func(ctx context.Context, branches, upto []int64) error {
		next = ""
		list, err = e.entries(ctx, versionsSQL, e.space, branches, upto, all.from, all.end, resume, number(below), limit+1)
		if err == nil && len(list) > limit {
			next = store.Cursor(keycode.Version(keycode.Encode(list[limit].Key), list[limit].Version+1))
			list = list[:limit]
		}
		return err
	})
	return list, next, err
}

const collectionsSQL = `
WITH RECURSIVE c (key) AS (
	(SELECT key FROM alcove.entries WHERE space = $1 AND branch = $2 ORDER BY key LIMIT 1)
	UNION ALL
	SELECT (
		SELECT e.key FROM alcove.entries e
		WHERE e.space = $1 AND e.branch = $2 AND e.key >= substring(c.key FROM 1 FOR position('\x00'::bytea IN c.key) +
			position('\x00'::bytea IN substring(c.key FROM position('\x00'::bytea IN c.key) + 1)) - 1) || '\x01'::bytea
		ORDER BY e.key LIMIT 1
	) FROM c WHERE c.key IS NOT NULL
)
SELECT key FROM c WHERE key IS NOT NULL`

// Collections lists the collections of a branch's own entries. It reads one key of each.
func (e *Engine) Collections(ctx context.Context, b store.BranchID) (list []store.Key, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		list = nil
		return e.each(ctx, collectionsSQL, []any{e.space, number(b)}, func(rows pgx.Rows) error {
			var raw []byte
			if err := rows.Scan(&raw); err != nil {
				return err
			}
			k, err := keycode.Decode(raw)
			list = append(list, store.Key{Namespace: k.Namespace, Collection: k.Collection})
			return err
		})
	})
	return list, err
}
