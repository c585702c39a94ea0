package bolt

import (
	"context"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

var _ store.Durable = (*Engine)(nil)

// commitStats is statistics of commits and checks. Only the writer updates those of commits.
type commitStats struct {
	commits, syncs, failed atomic.Uint64
	last, compacted        atomic.Int64 // µs since the epoch
	lastSync, slowest      atomic.Int64 // ns
	looks, longestLook     atomic.Int64 // of checks; ns
}

// recordCheck records the duration of a slice of a check.
func (w *commitStats) recordCheck(took time.Duration) {
	w.looks.Add(1)
	w.longestLook.Store(max(w.longestLook.Load(), int64(took)))
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

func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// Durability returns the counters of commits and the state of the file.
func (e *Engine) Durability(ctx context.Context) (store.Durability, error) {
	d := store.Durability{
		Commits: e.written.commits.Load(), Syncs: e.written.syncs.Load(), Failed: e.written.failed.Load(), Last: instant(e.written.last.Load()),
		LastSync: time.Duration(e.written.lastSync.Load()), Slowest: time.Duration(e.written.slowest.Load()), Compact: instant(e.written.compacted.Load()),
	}
	blobs, err := e.Blobs(ctx, "")
	if err != nil {
		return d, err
	}
	d.Blobs = len(blobs)
	if d.Bytes, err = size(e.path()); err != nil {
		return d, err
	}
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		free := tx.DB().Stats()
		d.Unused = int64(free.FreePageN+free.PendingPageN) * int64(tx.DB().Info().PageSize)
		mark, err := layout.InSpace(tx, layout.KindMeta).Read(keyErase)
		if err != nil {
			return err
		}
		d.Purging = mark != nil
		last, err := readBackup(tx)
		d.Backup, d.Saved = last.Made, last.Version
		return err
	})
	e.mu.RLock()
	defer e.mu.RUnlock()
	d.Overlays = len(e.overlays)
	if e.head.Version > d.Saved {
		d.Unsaved = e.head.Version - d.Saved
	}
	return d, err
}
