package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
)

// commitStats is statistics of commits. Only the writer updates them.
type commitStats struct {
	commits, syncs, failed atomic.Uint64
	last                   atomic.Int64 // µs since the epoch
	lastSync, slowest      atomic.Int64 // ns
}

// count records a group of commits.
func (w *commitStats) count(commits int, took time.Duration, now time.Time, err error) {
	if err != nil {
		w.failed.Add(1)
		return
	}
	w.commits.Add(uint64(commits))
	w.syncs.Add(1)
	w.last.Store(now.UnixMicro())
	w.lastSync.Store(int64(took))
	w.slowest.Store(max(w.slowest.Load(), int64(took)))
}

const durabilitySQL = `
SELECT s.erasing, coalesce(s.backup, '{}'), (SELECT count(*) FROM alcove.blobs b WHERE b.space = $1), pg_database_size(current_database())
FROM alcove.spaces s WHERE s.space = $1`

// Durability returns the counters of commits, and the size of the database with all its spaces.
func (e *Engine) Durability(ctx context.Context) (store.Durability, error) {
	d := store.Durability{
		Commits: e.written.commits.Load(), Syncs: e.written.syncs.Load(), Failed: e.written.failed.Load(),
		LastSync: time.Duration(e.written.lastSync.Load()), Slowest: time.Duration(e.written.slowest.Load()),
	}
	if micros := e.written.last.Load(); micros != 0 {
		d.Last = time.UnixMicro(micros).UTC()
	}
	err := e.read(ctx, func(ctx context.Context) error {
		var backup string
		if err := e.pool.QueryRow(ctx, durabilitySQL, e.space).Scan(&d.Purging, &backup, &d.Blobs, &d.Bytes); err != nil {
			return err
		}
		var last store.BackedUp
		err := json.Unmarshal([]byte(backup), &last)
		d.Backup, d.Saved = last.Made, last.Version
		return err
	})
	if head := e.newest().Version; head > d.Saved {
		d.Unsaved = head - d.Saved
	}
	return d, err
}

// NoteBackup records a complete and synced backup.
func (e *Engine) NoteBackup(ctx context.Context, b store.BackedUp) error {
	data, err := json.Marshal(b)
	if err == nil {
		err = e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE alcove.spaces SET backup = $2 WHERE space = $1`, e.space, string(data))
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("record the backup: %w", err)
	}
	return nil
}
