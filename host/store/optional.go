package store

import (
	"context"
	"time"
)

// What follows is what an engine may offer beyond Engine. See Portable, Purger and Collecting too.

// WriteChecker is an engine that can lose the ability to write while it is open.
type WriteChecker interface {
	// Writable tells why nothing is written; nil when commits are.
	Writable() error
}

// Compactor is an engine whose files keep the space of what was deleted until they are rewritten.
type Compactor interface {
	// Compact rewrites the files without it. Reads go on; commits wait.
	Compact(ctx context.Context) (Compacted, error)
}

// Compacted is what a compaction did.
type Compacted struct {
	Before, After int64 // bytes of the database
}

// Durable is an engine that counts what it makes durable.
type Durable interface {
	Durability(ctx context.Context) (Durability, error)
}

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

// BackupNoter is an engine that remembers the last backup, so that operators can see how old it is.
type BackupNoter interface {
	// NoteBackup remembers a backup that is whole and on the disk.
	NoteBackup(ctx context.Context, b BackedUp) error
}

// BackedUp is what is known of the last backup of a space.
type BackedUp struct {
	Version uint64    `json:"version"` // the newest that a restore would have
	Made    time.Time `json:"made"`
}
