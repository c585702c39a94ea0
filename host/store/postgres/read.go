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
