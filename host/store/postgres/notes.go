package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
)

const notesSQL = `
SELECT version, micros, note FROM alcove.points
WHERE space = $1 AND version > $2 AND version < $3 AND note IS NOT NULL ORDER BY version DESC LIMIT $4`

// Notes lists the commits that have a note.
func (e *Engine) Notes(ctx context.Context, after, before uint64, limit int) (list []store.Noted, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		list = nil
		return e.each(ctx, notesSQL, []any{e.space, number(after), number(before), limit}, func(rows pgx.Rows) error {
			n, err := scanNoted(rows)
			list = append(list, n)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list notes: %w", err)
	}
	return list, nil
}

func scanNoted(rows pgx.Rows) (n store.Noted, err error) {
	var version, micros int64
	err = rows.Scan(&version, &micros, &n.Note)
	n.Point = pointOf(version, micros)
	return n, err
}

const dropNotesSQL = `UPDATE alcove.points SET note = NULL WHERE space = $1 AND version = ANY($2::bigint[]) AND note IS NOT NULL`

func numbers(list []uint64) []int64 {
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = number(n)
	}
	return out
}

// DropNotes drops the notes of commits.
func (e *Engine) DropNotes(ctx context.Context, versions []uint64) error {
	err := e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, dropNotesSQL, e.space, numbers(versions))
		return err
	})
	if err != nil {
		return fmt.Errorf("drop notes: %w", err)
	}
	return nil
}
