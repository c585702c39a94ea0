package bolt

import (
	"context"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
)

// Durability is what an engine did since it was opened, and what its file holds.
type Durability struct {
	Commits  uint64        `json:"commits"`          // that are durable
	Syncs    uint64        `json:"syncs"`            // writes to the disk that they shared
	Failed   uint64        `json:"failed"`           // writes that failed; what they held was not acknowledged
	Last     time.Time     `json:"last_commit"`      // zero: none yet
	LastSync time.Duration `json:"last_sync_ns"`     // how long the last write took
	Slowest  time.Duration `json:"slowest_sync_ns"`  // how long the slowest took
	Bytes    int64         `json:"database_bytes"`   // of the file
	Unused   int64         `json:"unused_bytes"`     // in it, which compacting gives back
	Overlays int           `json:"overlays"`         // merged stretches of history
	Blobs    int           `json:"blobs"`            // files beside the database
	Compact  time.Time     `json:"last_compaction"`  // zero: not since it was opened
	Purging  bool          `json:"purge_unfinished"` // bytes of purged values may still be in the file
	Backup   time.Time     `json:"last_backup"`      // zero: none is known
	Saved    uint64        `json:"backed_up_to"`     // the newest version in it
	Unsaved  uint64        `json:"not_backed_up"`    // versions since
}

// written counts. Only the writer changes it; anybody reads it.
type written struct {
	commits, syncs, failed atomic.Uint64
	last, compacted        atomic.Int64 // µs since the epoch
	lastSync, slowest      atomic.Int64 // ns
	looks, longestLook     atomic.Int64 // of checks; ns
}

// looked notes that a check looked at the file for a while.
func (w *written) looked(took time.Duration) {
	w.looks.Add(1)
	w.longestLook.Store(max(w.longestLook.Load(), int64(took)))
}

// count notes a write of a group of commits.
func (w *written) count(commits int, took time.Duration, now time.Time, err error) {
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

// Durability tells what was made durable, and how.
func (e *Engine) Durability(ctx context.Context) (Durability, error) {
	d := Durability{
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
		mark, err := top(tx, kindMeta).get(keyErase)
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
