package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

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
