package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const (
	largestReplacement = 1 << 10 // bytes
	notesBranch        = -1      // stands for purged notes among purged entries

	replacedSQL = `
SELECT ` + rowColumns + `
FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS r (branch, key, version)
JOIN alcove.entries e ON e.space = $1 AND e.branch = r.branch AND e.key = r.key AND e.version = r.version`

	replaceSQL = `
UPDATE alcove.entries e SET value = r.value, sum = r.sum, deleted = r.deleted
FROM unnest($2::bigint[], $3::bytea[], $4::bigint[], $5::bytea[], $6::int[], $7::boolean[]) AS r (branch, key, version, value, sum, deleted)
WHERE e.space = $1 AND e.branch = r.branch AND e.key = r.key AND e.version = r.version`

	purgedSQL = `
INSERT INTO alcove.purged (space, branch, key, version)
SELECT $1, r.branch, r.key, r.version FROM unnest($2::bigint[], $3::bytea[], $4::bigint[]) AS r (branch, key, version) ON CONFLICT DO NOTHING`

	purgeNotesSQL = `
WITH dropped AS (
	UPDATE alcove.points SET note = NULL WHERE space = $1 AND version = ANY($2::bigint[]) AND note IS NOT NULL RETURNING version
), noted AS (
	INSERT INTO alcove.purged (space, branch, key, version) SELECT $1, $3::bigint, ''::bytea, version FROM dropped ON CONFLICT DO NOTHING
)
UPDATE alcove.spaces SET erasing = true, purges = purges + 1 WHERE space = $1 AND EXISTS (SELECT 1 FROM dropped)`
)

// Replace replaces the values of versions.
func (e *Engine) Replace(ctx context.Context, list []store.Replacement) error {
	values := map[place]map[uint64][]byte{}
	var branches, versions []int64
	var keys [][]byte
	for _, r := range list {
		if len(r.Value) > largestReplacement {
			return fmt.Errorf("replace %s: the new value has %d bytes: at most %d are allowed", r.Key, len(r.Value), largestReplacement)
		}
		raw := keycode.Encode(r.Key)
		at := place{r.Branch, string(raw)}
		if values[at] == nil {
			values[at] = map[uint64][]byte{}
		}
		values[at][r.Version] = r.Value
		branches, keys, versions = append(branches, number(r.Branch)), append(keys, raw), append(versions, number(r.Version))
	}
	return e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, replacedSQL, e.space, branches, keys, versions)
		if err != nil {
			return err
		}
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[row])
		if err != nil || len(found) == 0 {
			return err
		}
		var c columns
		for _, r := range found {
			if _, err := r.entry(); err != nil {
				return err
			}
			at := place{store.BranchID(r.Branch), string(r.Key)}
			version := uint64(r.Version)
			c.add(entryLine{at, store.Point{Version: version, Time: time.UnixMicro(r.Micros)}, false, values[at][version]})
		}
		batch := &pgx.Batch{}
		batch.Queue(replaceSQL, e.space, c.branch, c.key, c.version, c.value, c.sum, c.deleted)
		batch.Queue(purgedSQL, e.space, c.branch, c.key, c.version)
		batch.Queue(`UPDATE alcove.spaces SET erasing = true, purges = purges + 1 WHERE space = $1`, e.space)
		return tx.SendBatch(ctx, batch).Close()
	})
}

// PurgeNotes drops the notes of commits, and marks their bytes for Erase.
func (e *Engine) PurgeNotes(ctx context.Context, versions []uint64) error {
	if len(versions) == 0 {
		return ctx.Err()
	}
	err := e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, purgeNotesSQL, e.space, numbers(versions), notesBranch)
		return err
	})
	if err != nil {
		return fmt.Errorf("purge notes: %w", err)
	}
	return nil
}

// Erase has the database remove replaced values from the tables. Their bytes may remain in free parts of pages until these are used
// again, and in the database's own log and backups.
func (e *Engine) Erase(ctx context.Context) error {
	end, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := e.erase(ctx, e.update); err != nil {
		return fmt.Errorf("values are replaced, but their bytes may still be in the tables: %w", translate(err))
	}
	return nil
}

func (e *Engine) erase(ctx context.Context, update updater) error {
	pending := false
	if err := e.pool.QueryRow(ctx, `SELECT erasing FROM alcove.spaces WHERE space = $1`, e.space).Scan(&pending); err != nil || !pending {
		return err
	}
	for _, table := range []string{"entries", "points"} {
		if _, err := e.pool.Exec(ctx, `VACUUM alcove.`+table, pgx.QueryExecModeSimpleProtocol); err != nil {
			return err
		}
	}
	return update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE alcove.spaces SET erasing = false WHERE space = $1`, e.space)
		return err
	})
}

// finishPurge erases what an interrupted purge left. It runs before the writer starts.
func (e *Engine) finishPurge(ctx context.Context) error { return e.erase(ctx, e.updateBeforeStart) }
