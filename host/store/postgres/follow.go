package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
)

var _ store.Following = (*Engine)(nil)

const lookSQL = `
SELECT s.head, s.micros, s.epoch, s.purges,
	coalesce((SELECT n.name FROM alcove.names n WHERE n.space = s.space), ''),
	coalesce((SELECT max(d.revision) FROM alcove.documents d WHERE d.space = s.space AND NOT EXISTS (
		SELECT FROM unnest($2::text[]) AS but WHERE d.name = but OR right(but, 1) = '/' AND starts_with(d.name, but))), 0)
FROM alcove.spaces s WHERE s.space = $1`

// Look implements store.Following. An error is that of one attempt: who follows has another server to ask.
func (e *Engine) Look(ctx context.Context, but ...string) (s store.Sight, err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return s, err
	}
	defer end()
	var version, micros, epoch, purges, revision int64
	var name string
	if but == nil {
		but = []string{}
	}
	err = e.pool.QueryRow(ctx, lookSQL, e.space, but).Scan(&version, &micros, &epoch, &purges, &name, &revision)
	if err != nil {
		return s, fmt.Errorf("look where %s is: %w", e.public, translate(err))
	}
	s.Head, s.Mark = pointOf(version, micros), fmt.Sprintf("%q %d %d %d", name, epoch, purges, revision)
	return s, nil
}

// Follow implements store.Following.
func (e *Engine) Follow(to store.Point) { e.announce(to, nil) }

// Tidy implements store.Following.
func (e *Engine) Tidy(ctx context.Context) error {
	e.blobMu.Lock()
	defer e.blobMu.Unlock()
	return e.sweepCopies(ctx)
}

const writtenSQL = `
SELECT b.branch FROM unnest($2::bigint[]) AS b (branch)
WHERE EXISTS (SELECT 1 FROM alcove.entries e WHERE e.space = $1 AND e.branch = b.branch AND e.version + 0 > $3 AND e.version + 0 <= $4)`

// Written implements store.Following.
func (e *Engine) Written(ctx context.Context, branches []store.BranchID, after, upTo uint64) (list []store.BranchID, err error) {
	all := make([]int64, len(branches))
	for i, b := range branches {
		all[i] = number(b)
	}
	err = e.read(ctx, func(ctx context.Context) error {
		list = nil
		return e.each(ctx, writtenSQL, []any{e.space, all, number(after), number(upTo)}, func(rows pgx.Rows) error {
			var b int64
			err := rows.Scan(&b)
			list = append(list, store.BranchID(b))
			return err
		})
	})
	return list, err
}
