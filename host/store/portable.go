package store

import "context"

// PortableEngine is an Engine that is Portable.
type PortableEngine interface {
	Engine
	Portable
}

// Portable is an engine that can dump its space with every version, instant, counter and floor.
type Portable interface {
	// History returns the incarnations that wrote the space.
	History(ctx context.Context) (History, error)
	// HoldVersions prevents drops of old versions (see HeldError) for a limited time or until release is called. It waits for
	// running drops. Callers hold before they choose the version to dump at.
	HoldVersions(ctx context.Context) (release func(), err error)
	// Dump yields the pieces of the space at a version in the order that a Loader expects: the branches, points
	// ascending with their notes, then per branch its state, its entries (keys in order, newest version first) and its counters. With
	// since > 0 it yields only newer and purged data, to be loaded after a dump at that version. Commits continue; a trim
	// or reclaim without HoldVersions ends the dump with ErrChanged.
	Dump(ctx context.Context, since, at uint64, yield func(Piece) error) error
	// DumpRuns is Dump in runs (see ReadRun) of about a megabyte. Each is appended to the slice that begin returns, and
	// passed to end.
	DumpRuns(ctx context.Context, since, at uint64, begin func() ([]byte, error), end func(run []byte, pieces int) error) error
	// YieldToCommits waits briefly until no commit is being written, so that a copy to the same disk does not delay commits.
	YieldToCommits(ctx context.Context)
}

// Loader creates a space from the pieces of a dump and of later incremental dumps.
type Loader interface {
	Add(Piece) error
	// Blob adds bytes to a blob's content. The calls for one blob are consecutive.
	Blob(digest string, data []byte) error
	// Blobs sets the list of blobs, replacing an earlier one. The content of each must have been added.
	Blobs([]Blob)
	// Continue sets the history that the space continues; without it the space starts a new one.
	Continue(History)
	// Finish makes the space durable and visible, atomically.
	Finish(ctx context.Context) error
	// Abort removes everything loaded. After Finish it does nothing.
	Abort() error
}

// Piece is a part of a dump. Exactly one field is set, and Note only with Point.
type Piece struct {
	Branches []BranchID // all existing branches
	Point    *Point
	Note     []byte // of the commit; nil: none
	Branch   *BranchState
	Entry    *Entry // of Entry.Branch; its instant is that of its version
	Counter  *CounterRecord
}

// BranchState is a branch with its floor.
type BranchState struct {
	ID    BranchID
	Floor Point // zero: not trimmed
	Pins  []uint64
	Keep  []Keep `json:",omitempty"` // further versions kept below the floor
}

// CounterRecord is a counter's record on a branch. A dump has all records of a key or none.
type CounterRecord struct {
	Branch  BranchID
	Key     Key
	Version uint64
	Value   []byte // nil when forgotten
}

// Purger is an engine that can erase stored values.
type Purger interface {
	// Replace replaces the values of versions atomically. Versions, instants and the change log stay; versions that no
	// longer exist are skipped. The old bytes may remain in unused parts of the files until Erase.
	Replace(ctx context.Context, list []Replacement) error
	// PurgeNotes drops the notes of commits like Replace: their bytes may remain until Erase, and incremental dumps drop them too.
	PurgeNotes(ctx context.Context, versions []uint64) error
	// Erase removes the bytes of replaced values from the space's files. After a crash, the next Open completes it.
	Erase(ctx context.Context) error
}

// Replacement is the new value of a version.
type Replacement struct {
	Branch  BranchID
	Key     Key
	Version uint64
	Value   []byte // at most 1 KiB
}

// Collecting is an engine that lists collections without reading their entries.
type Collecting interface {
	// Collections lists the collections of a branch's own entries, tombstones included, in order. The keys' names are
	// empty.
	Collections(ctx context.Context, b BranchID) ([]Key, error)
}

// Mirror is an engine whose space is a copy that takes what is written to the original.
type Mirror interface {
	// Apply adds what read passes to a Loader, dumps of the original that continue the copy, in one commit: all of it, or nothing. The Loader
	// need not be finished. ErrDiverged: they do not continue it.
	Apply(ctx context.Context, read func(Loader) error) (Applied, error)
	// Adopt replaces the space by a later one of the same original, which a Driver loaded in a folder of the same disk. ErrDiverged: it is
	// not a later one.
	Adopt(ctx context.Context, dir string) (Applied, error)
}

// Applied is what a Mirror took.
type Applied struct {
	From, To Point
	Replaced []Entry       // versions up to From whose values are other ones now, or are gone; without their values
	Trimmed  []BranchState // branches whose floor is another one
	Dropped  []BranchID
	All      bool // Replaced is not complete: any version may be another one
}

// MostReplaced is how many versions Applied lists.
const MostReplaced = 100_000
