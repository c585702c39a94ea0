package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
)

// trim is how far back a branch is kept.
type trim struct {
	store.BranchState
	done bool // what is not kept has been dropped
}

// keeps reports whether the branch can be read at a version.
func (t trim) keeps(at uint64) bool {
	_, pinned := slices.BinarySearch(t.Pins, at)
	return at >= t.Floor.Version || pinned
}

// needs reports whether a version can still be read, given the next newer one of its key.
func (t trim) needs(version, newer uint64) bool {
	if newer > t.Floor.Version {
		return true // visible at the floor or above
	}
	return slices.ContainsFunc(t.Pins, func(pin uint64) bool { return version <= pin && pin < newer })
}

func (e *Engine) floor(b store.BranchID) (trim, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, ok := e.floors[b]
	return t, ok
}

func (e *Engine) setFloor(t trim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floors[t.ID] = t
}

func (e *Engine) checkFloors(l store.Lineage) error {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if len(e.floors) == 0 {
		return nil
	}
	for _, s := range l {
		if t, ok := e.floors[s.Branch]; ok && !t.keeps(s.At) {
			return &store.TrimmedError{Branch: s.Branch, Floor: t.Floor}
		}
	}
	return nil
}

func (e *Engine) loadFloors(ctx context.Context) error {
	floors := map[store.BranchID]trim{}
	err := e.each(ctx, `SELECT branch, floor, micros, pins, keep, done FROM alcove.trims WHERE space = $1`, []any{e.space}, func(rows pgx.Rows) error {
		t, err := scanTrim(rows)
		floors[t.ID] = t
		return err
	})
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floors = floors
	return nil
}

func scanTrim(rows pgx.Rows) (t trim, err error) {
	var branch, version, micros int64
	var pins []int64
	var keep string
	if err := rows.Scan(&branch, &version, &micros, &pins, &keep, &t.done); err != nil {
		return t, err
	}
	t.ID, t.Floor = store.BranchID(branch), pointOf(version, micros)
	for _, p := range pins {
		t.Pins = append(t.Pins, uint64(p))
	}
	return t, json.Unmarshal([]byte(keep), &t.Keep)
}

const trimSQL = `
INSERT INTO alcove.trims (space, branch, floor, micros, pins, keep, done) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (space, branch) DO UPDATE
SET floor = excluded.floor, micros = excluded.micros, pins = excluded.pins, keep = excluded.keep, done = excluded.done`

func (t trim) write(ctx context.Context, tx pgx.Tx, space int64) error {
	pins := []int64{}
	for _, p := range t.Pins {
		pins = append(pins, number(p))
	}
	keep, err := json.Marshal(t.Keep)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, trimSQL, space, number(t.ID), number(t.Floor.Version), microsOf(t.Floor), pins, string(keep), t.done)
	return err
}

// Trim drops old versions. It records the floor first, so that nobody reads versions that are being dropped. After an interruption, the
// next trim of the branch or the next Open completes it.
func (e *Engine) Trim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep ...store.Keep) error {
	if floor == 0 {
		return ctx.Err()
	}
	done, err := e.holds.BeginDrop()
	if err != nil {
		return err
	}
	defer done()
	e.drops.Lock()
	defer e.drops.Unlock()
	t, err := e.beginTrim(ctx, b, floor, pins, keep)
	if err == nil && !t.done {
		err = e.finishTrim(ctx, t)
	}
	if err != nil {
		return fmt.Errorf("trim branch %d: %w", b, err)
	}
	return nil
}

// beginTrim returns the trim to execute: the last one if the floor is not above its floor.
func (e *Engine) beginTrim(ctx context.Context, b store.BranchID, floor uint64, pins []uint64, keep []store.Keep) (t trim, err error) {
	old, again := e.floor(b)
	if again && floor <= old.Floor.Version {
		return old, nil
	}
	t.ID, t.Keep = b, keep
	if t.Floor, err = e.PointOf(ctx, floor); err != nil {
		return t, err
	}
	for _, pin := range pins {
		if pin < floor && (!again || old.keeps(pin)) {
			t.Pins = append(t.Pins, pin)
		}
	}
	slices.Sort(t.Pins)
	err = e.update(ctx, func(ctx context.Context, tx pgx.Tx) error { return t.write(ctx, tx, e.space) })
	if err == nil {
		e.setFloor(t)
	}
	return t, err
}

func (e *Engine) finishTrim(ctx context.Context, t trim) error {
	if err := e.dropOld(ctx, t, e.update); err != nil {
		return err
	}
	t.done = true
	err := e.update(ctx, func(ctx context.Context, tx pgx.Tx) error { return t.write(ctx, tx, e.space) })
	if err == nil {
		e.setFloor(t)
	}
	return err
}

// finishTrims completes trims that were interrupted. It runs before the writer starts.
func (e *Engine) finishTrims(ctx context.Context) error {
	for _, t := range e.floors {
		if t.done {
			continue
		}
		err := e.dropOld(ctx, t, e.updateBeforeStart)
		if err == nil {
			t.done = true
			err = e.updateBeforeStart(ctx, func(ctx context.Context, tx pgx.Tx) error { return t.write(ctx, tx, e.space) })
		}
		if err != nil {
			return fmt.Errorf("finish trimming branch %d: %w", t.ID, err)
		}
		e.setFloor(t)
	}
	return nil
}

// updateBeforeStart runs work like update, before the writer starts.
func (e *Engine) updateBeforeStart(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
	return e.runWork(&job{ctx: ctx, work: work})
}

const (
	dropPage = 2000 // versions examined at once, and dropped in one transaction

	oldSQL = `
SELECT key, version FROM alcove.entries
WHERE space = $1 AND branch = $2 AND key >= $3 AND (key > $3 OR version < $4) ORDER BY key, version DESC LIMIT $5`

	dropSQL = `
DELETE FROM alcove.entries e USING unnest($3::bytea[], $4::bigint[]) AS d (key, version)
WHERE e.space = $1 AND e.branch = $2 AND e.key = d.key AND e.version = d.version`
)

// updater runs work in a transaction that holds the space.
type updater func(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error

// dropOld drops, in pages, the versions that a trim does not retain.
func (e *Engine) dropOld(ctx context.Context, t trim, update updater) error {
	d := dropping{trim: t, raw: []byte{}}
	for more := true; more; {
		var keys [][]byte
		var versions []int64
		from, below, seen := d, number(d.newer), 0
		err := e.retry(ctx, func(ctx context.Context) error {
			d, keys, versions, seen = from, nil, nil, 0
			return e.each(ctx, oldSQL, []any{e.space, number(t.ID), from.raw, below, dropPage}, func(rows pgx.Rows) error {
				var raw []byte
				var version int64
				err := rows.Scan(&raw, &version)
				if seen++; err == nil && !d.keeps(raw, uint64(version)) {
					keys, versions = append(keys, raw), append(versions, version)
				}
				return err
			})
		})
		if err == nil && len(keys) > 0 {
			err = update(ctx, func(ctx context.Context, tx pgx.Tx) error {
				_, err := tx.Exec(ctx, dropSQL, e.space, number(t.ID), keys, versions)
				return err
			})
		}
		if err != nil {
			return err
		}
		more = seen == dropPage
	}
	return nil
}

// dropping decides about versions in the order of keys, the newest first.
type dropping struct {
	trim
	raw       []byte // the key
	namespace string // the key's
	newer     uint64 // the last version of it
	nth       int    // newer versions of it
}

func (d *dropping) keeps(raw []byte, version uint64) bool {
	if !bytes.Equal(raw, d.raw) {
		namespace, _, _ := bytes.Cut(raw, []byte{0})
		d.raw, d.namespace, d.newer, d.nth = raw, string(namespace), store.Latest, 0
	}
	kept := d.needs(version, d.newer) || store.Keeps(d.Keep, d.namespace, version, d.nth)
	d.newer = version
	d.nth++
	return kept
}

const reclaimPage = 5000 // rows erased in one transaction

// Reclaim erases a branch, in pages: nobody reads it any more. What an interruption leaves, the next one erases.
func (e *Engine) Reclaim(ctx context.Context, b store.BranchID) error {
	done, err := e.holds.BeginDrop()
	if err != nil {
		return err
	}
	defer done()
	e.drops.Lock()
	defer e.drops.Unlock()
	for _, table := range []string{"entries", "counters"} {
		query := fmt.Sprintf(`
DELETE FROM alcove.%[1]s e USING (SELECT key, version FROM alcove.%[1]s WHERE space = $1 AND branch = $2 ORDER BY key, version LIMIT $3) d
WHERE e.space = $1 AND e.branch = $2 AND e.key = d.key AND e.version = d.version`, table)
		for erased := int64(reclaimPage); erased == reclaimPage; {
			err := e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
				tag, err := tx.Exec(ctx, query, e.space, number(b), reclaimPage)
				erased = tag.RowsAffected()
				return err
			})
			if err != nil {
				return fmt.Errorf("reclaim branch %d: %w", b, err)
			}
		}
	}
	err = e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `DELETE FROM alcove.trims WHERE space = $1 AND branch = $2`, e.space, number(b))
		return err
	})
	if err != nil {
		return fmt.Errorf("reclaim branch %d: %w", b, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.floors, b)
	return nil
}
