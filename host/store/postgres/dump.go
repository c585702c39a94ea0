package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/dumping"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// Dump yields the pieces of the space at a version.
func (e *Engine) Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error {
	return e.dump(ctx, since, at, dumping.Pieces(yield))
}

// DumpRuns yields the pieces of the space at a version, in runs.
func (e *Engine) DumpRuns(ctx context.Context, since, at uint64, begin func() ([]byte, error), end func(run []byte, pieces int) error) error {
	out, err := dumping.Runs(begin, end)
	if err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return e.dump(ctx, since, at, out)
}

func (e *Engine) dump(ctx context.Context, since, at uint64, out dumping.Output) error {
	d := &dump{engine: e, ctx: ctx, since: since, at: at, out: out}
	if err := d.run(); err != nil {
		return fmt.Errorf("dump: %w", err)
	}
	return nil
}

type dump struct {
	engine    *Engine
	ctx       context.Context
	since, at uint64
	out       dumping.Output
}

func (d *dump) run() error {
	states, err := d.states()
	if err != nil {
		return err
	}
	ids := make([]store.BranchID, len(states))
	for i, s := range states {
		ids[i] = s.ID
		if s.Floor.Version > d.at {
			return fmt.Errorf("branch %d: %w", s.ID, store.ErrChanged)
		}
	}
	d.out.Add(store.Piece{Branches: ids})
	if d.since > 0 {
		if err := d.purgedNotes(); err != nil {
			return err
		}
	}
	if err := d.points(); err != nil {
		return err
	}
	for _, s := range states {
		if err := d.branch(s); err != nil {
			return err
		}
	}
	if err := d.out.Flush(); err != nil {
		return err
	}
	return d.unchanged(states)
}

// statesSQL lists the branches that have anything, with their trims.
const statesSQL = `
WITH RECURSIVE e (branch) AS (
	(SELECT branch FROM alcove.entries WHERE space = $1 ORDER BY branch LIMIT 1)
	UNION ALL
	SELECT (SELECT n.branch FROM alcove.entries n WHERE n.space = $1 AND n.branch > e.branch ORDER BY n.branch LIMIT 1) FROM e WHERE e.branch IS NOT NULL
), c (branch) AS (
	(SELECT branch FROM alcove.counters WHERE space = $1 ORDER BY branch LIMIT 1)
	UNION ALL
	SELECT (SELECT n.branch FROM alcove.counters n WHERE n.space = $1 AND n.branch > c.branch ORDER BY n.branch LIMIT 1) FROM c WHERE c.branch IS NOT NULL
), branches AS (
	SELECT branch FROM e UNION SELECT branch FROM c UNION SELECT branch FROM alcove.trims WHERE space = $1
)
SELECT b.branch, coalesce(t.floor, 0), coalesce(t.micros, 0), coalesce(t.pins, '{}'), coalesce(t.keep, 'null'), coalesce(t.done, false)
FROM branches b LEFT JOIN alcove.trims t ON t.space = $1 AND t.branch = b.branch
WHERE b.branch IS NOT NULL ORDER BY b.branch`

func (e *Engine) states(ctx context.Context) (states []store.BranchState, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		states = nil
		return e.each(ctx, statesSQL, []any{e.space}, func(rows pgx.Rows) error {
			t, err := scanTrim(rows)
			states = append(states, t.BranchState)
			return err
		})
	})
	return states, err
}

func (d *dump) states() ([]store.BranchState, error) { return d.engine.states(d.ctx) }

// unchanged returns ErrChanged if anything was dropped since the dump began.
func (d *dump) unchanged(before []store.BranchState) error {
	after, err := d.states()
	if err != nil {
		return err
	}
	for _, was := range before {
		i := slices.IndexFunc(after, func(s store.BranchState) bool { return s.ID == was.ID })
		if i < 0 || after[i].Floor != was.Floor {
			return fmt.Errorf("branch %d: %w", was.ID, store.ErrChanged)
		}
	}
	return nil
}

// page reads at most dumping.Page rows of a query, and flushes the output if it is full. A page that fails is read again before any of
// it is passed on.
func (d *dump) page(query string, arguments []any, read func(rows pgx.Rows) (store.Piece, error)) (n int, last store.Piece, err error) {
	var page []store.Piece
	err = d.engine.read(d.ctx, func(ctx context.Context) error {
		page = page[:0]
		return d.engine.each(ctx, query, arguments, func(rows pgx.Rows) error {
			p, err := read(rows)
			page = append(page, p)
			return err
		})
	})
	if err != nil {
		return 0, last, err
	}
	for _, p := range page {
		if d.out.Add(p); d.out.Full() {
			if err := d.out.Flush(); err != nil {
				return 0, last, err
			}
		}
		last = p
	}
	return len(page), last, nil
}

func readPoint(rows pgx.Rows) (store.Piece, error) {
	n, err := scanNoted(rows)
	return store.Piece{Point: &n.Point, Note: emptyIsNil(n.Note)}, err
}

func readEntry(rows pgx.Rows) (store.Piece, error) {
	var r row
	if err := r.scan(rows); err != nil {
		return store.Piece{}, err
	}
	e, err := r.entry()
	return store.Piece{Entry: &e}, err
}

func (d *dump) points() error {
	query := `SELECT version, micros, note FROM alcove.points WHERE space = $1 AND version > $2 AND version <= $3 ORDER BY version LIMIT $4`
	for after, n := d.since, dumping.Page; n == dumping.Page; {
		var last store.Piece
		var err error
		if n, last, err = d.page(query, []any{d.engine.space, number(after), number(d.at), dumping.Page}, readPoint); err != nil {
			return err
		}
		if n > 0 {
			after = last.Point.Version
		}
	}
	return nil
}

// purgedNotes yields the points of an earlier dump whose notes have been purged.
func (d *dump) purgedNotes() error {
	query := `
SELECT p.version, p.micros, p.note FROM alcove.points p
JOIN alcove.purged g ON g.space = $1 AND g.branch = $2 AND g.key = '' AND g.version = p.version
WHERE p.space = $1 AND p.version <= $3 ORDER BY p.version`
	_, _, err := d.page(query, []any{d.engine.space, notesBranch, number(d.since)}, readPoint)
	return err
}

func (d *dump) branch(s store.BranchState) error {
	d.out.Add(store.Piece{Branch: &s})
	query := entriesSQL
	if d.since > 0 && d.since >= s.Floor.Version {
		query = changedSQL
	}
	if err := d.entries(query, s.ID); err != nil {
		return err
	}
	return d.counters(s.ID)
}

const (
	entriesSQL = `
SELECT ` + rowColumns + ` FROM alcove.entries e
WHERE e.space = $1 AND e.branch = $2 AND e.version <= $3 AND e.key >= $4 AND (e.key > $4 OR e.version < $5) AND $6::bigint IS NOT NULL
ORDER BY e.key, e.version DESC LIMIT $7`

	// changedSQL lists the entries since a version, and those that were purged.
	changedSQL = `
SELECT ` + rowColumns + ` FROM alcove.entries e
WHERE e.space = $1 AND e.branch = $2 AND e.version <= $3 AND e.key >= $4 AND (e.key > $4 OR e.version < $5)
AND (e.version > $6 OR EXISTS (SELECT 1 FROM alcove.purged g WHERE g.space = $1 AND g.branch = $2 AND g.key = e.key AND g.version = e.version))
ORDER BY e.key, e.version DESC LIMIT $7`
)

func (d *dump) entries(query string, id store.BranchID) error {
	key, below := []byte{}, store.Latest
	for n := dumping.Page; n == dumping.Page; {
		var last store.Piece
		var err error
		if n, last, err = d.page(query, []any{d.engine.space, number(id), number(d.at), key, number(below), number(d.since), dumping.Page}, readEntry); err != nil {
			return err
		}
		if n > 0 {
			key, below = keycode.Encode(last.Entry.Key), last.Entry.Version
		}
	}
	return nil
}

const dumpCountersSQL = `
SELECT key, version, written, value FROM alcove.counters
WHERE space = $1 AND branch = $2 AND key >= $3 ORDER BY key, version DESC LIMIT $4`

// counters yields all records of the keys counted since.
func (d *dump) counters(id store.BranchID) error {
	type counted struct {
		Key              []byte
		Version, Written int64
		Value            []byte
	}
	const page = 10_000
	from := []byte{}
	for limit := page; ; {
		var list []counted
		err := d.engine.read(d.ctx, func(ctx context.Context) error {
			rows, err := d.engine.pool.Query(ctx, dumpCountersSQL, d.engine.space, number(id), from, limit)
			if err == nil {
				list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[counted])
			}
			return err
		})
		if err != nil {
			return err
		}
		whole := len(list) < limit
		for len(list) > 0 {
			n := slices.IndexFunc(list, func(c counted) bool { return !bytes.Equal(c.Key, list[0].Key) })
			if n < 0 && !whole {
				break // the key may go on
			}
			if n < 0 {
				n = len(list)
			}
			key, err := keycode.Decode(list[0].Key)
			if err != nil {
				return err
			}
			fresh := d.since == 0 || slices.ContainsFunc(list[:n], func(c counted) bool { return uint64(c.Version) > d.since || uint64(c.Written) > d.since })
			for _, c := range list[:n] {
				if fresh {
					d.out.Add(store.Piece{Counter: &store.CounterRecord{Branch: id, Key: key, Version: uint64(c.Version), Value: c.Value}})
				}
			}
			list = list[n:]
		}
		if err := d.out.Flush(); err != nil || whole {
			return err
		}
		if bytes.Equal(list[0].Key, from) {
			limit *= 2 // a key has more records than a page
		}
		from = list[0].Key
	}
}
