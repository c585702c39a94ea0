package store

import (
	"context"
	"time"
)

// Optional interfaces of an engine, beside Portable, Purger and Collecting.

// WriteChecker is an engine that can lose the ability to write while it is open.
type WriteChecker interface {
	// Writable returns the error that commits fail with, for instance ErrReplaced or ErrFull; nil while they succeed.
	Writable() error
}

// Compactor is an engine whose files retain the bytes of deleted data until they are rewritten.
type Compactor interface {
	// Compact rewrites the files without deleted data. Reads continue; commits wait.
	Compact(ctx context.Context) (Compacted, error)
}

// Compacted is the result of a compaction.
type Compacted struct {
	Before int64 `json:"before"` // bytes of the database
	After  int64 `json:"after"`  // likewise
}

// Durable is an engine with counters of its commits.
type Durable interface {
	Durability(ctx context.Context) (Durability, error)
}

// Durability are counters since an engine was opened, and the state of its file.
type Durability struct {
	Commits  uint64        `json:"commits"`          // durable ones
	Syncs    uint64        `json:"syncs"`            // writes to the disk; concurrent commits share one
	Failed   uint64        `json:"failed"`           // failed writes; their commits were not acknowledged
	Last     time.Time     `json:"last_commit"`      // zero: none yet
	LastSync time.Duration `json:"last_sync_ns"`     // duration of the last write
	Slowest  time.Duration `json:"slowest_sync_ns"`  // duration of the slowest write
	Bytes    int64         `json:"database_bytes"`   // size of the file
	Unused   int64         `json:"unused_bytes"`     // free pages among them
	Overlays int           `json:"overlays"`         // merged segments of lineages
	Blobs    int           `json:"blobs"`            // files beside the database
	Compact  time.Time     `json:"last_compaction"`  // zero: none since it was opened
	Purging  bool          `json:"purge_unfinished"` // bytes of purged values may still be in the file
	Backup   time.Time     `json:"last_backup"`      // zero: none is known
	Saved    uint64        `json:"backed_up_to"`     // the newest version in it
	Unsaved  uint64        `json:"not_backed_up"`    // versions since
}

// BackupNoter is an engine that records the last backup for operators.
type BackupNoter interface {
	// NoteBackup records a complete and synced backup.
	NoteBackup(ctx context.Context, b BackedUp) error
}

// BackedUp is a record of the last backup of a space.
type BackedUp struct {
	Version uint64    `json:"version"` // the newest in it
	Made    time.Time `json:"made"`
}
