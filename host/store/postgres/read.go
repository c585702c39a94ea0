package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// beyond is greater than every key.
var beyond = slices.Repeat([]byte{255}, keyLimit+1)

// cut returns the branches and versions of a lineage, cut at the head: all statements of a read then see the same state.
func (e *Engine) cut(l store.Lineage) (branches, upto []int64) { return cut(l, e.newest().Version) }

func cut(l store.Lineage, head uint64) (branches, upto []int64) {
	for _, s := range l {
		branches, upto = append(branches, number(s.Branch)), append(upto, number(min(s.At, head)))
	}
	return branches, upto
}

// readLineage runs a read of a lineage; a TrimmedError if part of it was trimmed. It looks again afterwards: a trim records its floor
// before it drops anything.
func (e *Engine) readLineage(ctx context.Context, l store.Lineage, do func(ctx context.Context, branches, upto []int64) error) error {
	return e.read(ctx, func(ctx context.Context) error {
		if err := e.checkFloors(l); err != nil {
			return err
		}
		branches, upto := e.cut(l)
		err := do(ctx, branches, upto)
		if e.readOnly {
			err = errors.Join(err, e.loadFloors(ctx))
		}
		return errors.Join(e.checkFloors(l), err)
	})
}

// row is an entry as the database has it.
type row struct {
	Branch  int64
	Key     []byte
	Version int64
	Micros  int64
	Deleted bool
	Sum     int32
	Value   []byte
}

const rowColumns = `e.branch, e.key, e.version, e.micros, e.deleted, e.sum, e.value`

// entry verifies and decodes a row.
func (r row) entry() (e store.Entry, err error) {
	if e.Key, err = keycode.Decode(r.Key); err != nil {
		return e, err
	}
	e.Branch, e.Deleted, e.Point = store.BranchID(r.Branch), r.Deleted, pointOf(r.Version, r.Micros)
	if !r.Deleted {
		e.Value = r.Value
	}
	if r.Sum != sumOf(entryLine{place{e.Branch, string(r.Key)}, store.Point{Version: e.Version, Time: time.UnixMicro(r.Micros)}, r.Deleted, r.Value}) {
		return e, fmt.Errorf("read %s at version %d: its checksum differs: %w", e.Key, e.Version, store.ErrDamaged)
	}
	return e, nil
}

func (r *row) scan(rows pgx.Rows, more ...any) error {
	return rows.Scan(append([]any{&r.Branch, &r.Key, &r.Version, &r.Micros, &r.Deleted, &r.Sum, &r.Value}, more...)...)
}

const getSQL = `
SELECT ` + rowColumns + `, k.i
FROM unnest($2::bytea[]) WITH ORDINALITY AS k (key, i)
CROSS JOIN LATERAL (
	SELECT f.* FROM unnest($3::bigint[], $4::bigint[]) WITH ORDINALITY AS l (branch, upto, place)
	CROSS JOIN LATERAL (
		SELECT * FROM alcove.entries
		WHERE space = $1 AND branch = l.branch AND key = k.key AND version <= l.upto
		ORDER BY version DESC LIMIT 1
	) f
	ORDER BY l.place LIMIT 1
) e`

const ownedSQL = `SELECT owner = $2 FROM alcove.spaces WHERE space = $1`

// GetAt returns the newest entry of each key.
func (e *Engine) GetAt(ctx context.Context, l store.Lineage, keys []store.Key) (found []store.Entry, err error) {
	raw := make([][]byte, len(keys))
	for i, k := range keys {
		raw[i] = keycode.Encode(k)
	}
	if e.cache == nil {
		err = e.readLineage(ctx, l, func(ctx context.Context, branches, upto []int64) error {
			found, err = e.get(ctx, raw, branches, upto)
			return err
		})
		return found, err
	}
	err = e.read(ctx, func(ctx context.Context) error {
		if err := e.checkFloors(l); err != nil {
			return err
		}
		found, err = e.getCached(ctx, l, raw)
		return errors.Join(e.checkFloors(l), err)
	})
	return found, err
}

// getCached reads entries from the cache, and those that are missing there from the database.
func (e *Engine) getCached(ctx context.Context, l store.Lineage, raw [][]byte) ([]store.Entry, error) {
	at, head := e.lookUp(l, raw)
	var entries []store.Entry
	defer func() { at.end(l, raw, entries, head) }()
	for i := range at.found {
		at.found[i].Value = bytes.Clone(at.found[i].Value) // the caller's own
	}
	if len(at.missing) == 0 {
		return at.found, nil
	}
	missing := make([][]byte, len(at.missing))
	for n, i := range at.missing {
		missing[n] = raw[i]
	}
	branches, upto := cut(l, head)
	read, err := e.getOwned(ctx, at.stale, missing, branches, upto)
	if err != nil {
		return nil, err
	}
	entries = read
	for n, i := range at.missing {
		at.found[i] = read[n]
		at.found[i].Value = bytes.Clone(read[n].Value)
	}
	return at.found, nil
}

// lookUp looks into the cache as of the head.
func (e *Engine) lookUp(l store.Lineage, raw [][]byte) (at *lookup, head uint64) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.cache.lookUp(l, raw), e.head.Version
}

// getOwned reads entries from the database. If ask is set, the same round trip tells whether the space is still this engine's.
func (e *Engine) getOwned(ctx context.Context, ask bool, raw [][]byte, branches, upto []int64) (found []store.Entry, err error) {
	if !ask {
		return e.get(ctx, raw, branches, upto)
	}
	began, owned := time.Now(), false
	var b pgx.Batch
	b.Queue(ownedSQL, e.space, e.owner).QueryRow(func(row pgx.Row) error { return row.Scan(&owned) })
	b.Queue(getSQL, e.space, raw, branches, upto).Query(func(rows pgx.Rows) (err error) {
		found, err = got(rows, len(raw))
		return err
	})
	if err := e.pool.SendBatch(ctx, &b).Close(); err != nil {
		return nil, err
	}
	if owned {
		e.cache.confirm(began)
	} else {
		e.cache.end()
	}
	return found, nil
}

func (e *Engine) get(ctx context.Context, raw [][]byte, branches, upto []int64) ([]store.Entry, error) {
	rows, err := e.pool.Query(ctx, getSQL, e.space, raw, branches, upto)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	return got(rows, len(raw))
}

// got reads the rows of getSQL.
func got(rows pgx.Rows, keys int) ([]store.Entry, error) {
	found := make([]store.Entry, keys)
	for rows.Next() {
		var r row
		var i int64
		err := r.scan(rows, &i)
		if err == nil {
			found[i-1], err = r.entry()
		}
		if err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}

// each calls do for each row of an answer.
func (e *Engine) each(ctx context.Context, query string, arguments []any, do func(rows pgx.Rows) error) error {
	rows, err := e.pool.Query(ctx, query, arguments...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := do(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// entries reads rows as entries.
func (e *Engine) entries(ctx context.Context, query string, arguments ...any) (list []store.Entry, err error) {
	err = e.each(ctx, query, arguments, func(rows pgx.Rows) error {
		var r row
		if err := r.scan(rows); err != nil {
			return err
		}
		found, err := r.entry()
		list = append(list, found)
		return err
	})
	return list, err
}

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

const changesSQL = `
SELECT key, version, deleted FROM alcove.entries
WHERE space = $1 AND branch = $2 AND version + 0 > $3 AND version + 0 <= $4 ORDER BY version + 0, key LIMIT $5`

// Changes lists a branch's change log: its entries by version.
func (e *Engine) Changes(ctx context.Context, b store.BranchID, from, to uint64, limit int) (changes []store.Change, next uint64, err error) {
	checkFloor := func() error {
		if t, trimmed := e.floor(b); trimmed && from < t.Floor.Version {
			return &store.TrimmedError{Branch: b, Floor: t.Floor}
		}
		return nil
	}
	err = e.read(ctx, func(ctx context.Context) error {
		if err := checkFloor(); err != nil {
			return err
		}
		to := min(to, e.newest().Version)
		changes, next = nil, 0
		list, err := e.changes(ctx, b, from, to, max(limit, 1)+1)
		if err == nil && len(list) > max(limit, 1) {
			list, next, err = e.wholeVersion(ctx, b, to, list)
		}
		changes = list
		return errors.Join(checkFloor(), err)
	})
	return changes, next, err
}

// wholeVersion makes a page of changes end with the version of the last but one, and returns the version to continue from.
func (e *Engine) wholeVersion(ctx context.Context, b store.BranchID, to uint64, list []store.Change) ([]store.Change, uint64, error) {
	n := len(list) - 1
	last := list[n-1].Version
	if list[n].Version != last {
		return list[:n], last, nil
	}
	rest, err := e.changes(ctx, b, last-1, last, maxRows)
	if err != nil {
		return nil, 0, err
	}
	first := slices.IndexFunc(list, func(c store.Change) bool { return c.Version == last })
	list = append(list[:first], rest...)
	more, err := e.changes(ctx, b, last, to, 1)
	if len(more) == 0 {
		last = 0
	}
	return list, last, err
}

const maxRows = 1 << 31

func (e *Engine) changes(ctx context.Context, b store.BranchID, from, to uint64, limit int) (list []store.Change, err error) {
	err = e.each(ctx, changesSQL, []any{e.space, number(b), number(from), number(to), limit}, func(rows pgx.Rows) error {
		var key []byte
		var version int64
		var c store.Change
		err := rows.Scan(&key, &version, &c.Deleted)
		if err == nil {
			c.Key, err = keycode.Decode(key)
		}
		c.Version = uint64(version)
		list = append(list, c)
		return err
	})
	return list, err
}

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

const requestedSQL = `SELECT version, micros, digest, sequences FROM alcove.requests WHERE space = $1 AND request = $2`

// Requested returns the earlier commit of a request, if found. If the outcome of a commit is unknown, it is settled first.
func (e *Engine) Requested(ctx context.Context, r store.Request) (done store.Committed, found bool, err error) {
	if r == (store.Request{}) {
		return done, false, ctx.Err()
	}
	if e.unresolved.Load() {
		if err := e.update(ctx, func(context.Context, pgx.Tx) error { return nil }); err != nil {
			return done, false, err
		}
	}
	key := r.Identity()
	err = e.read(ctx, func(ctx context.Context) error {
		var version, micros int64
		var digest []byte
		var sequences string
		err := e.pool.QueryRow(ctx, requestedSQL, e.space, key[:]).Scan(&version, &micros, &digest, &sequences)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		was, err := decodeRequest(version, micros, digest, sequences)
		if err != nil || e.now().Sub(was.done.Time) > requestAge {
			return err
		}
		if was.digest != r.Digest {
			return store.ErrRequestReused
		}
		done, found = was.done, true
		done.Replayed = true
		return nil
	})
	return done, found, err
}
