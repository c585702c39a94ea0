package store

import "context"

// PortableEngine is an engine that is portable.
type PortableEngine interface {
	Engine
	Portable
}

// Portable is an engine whose space can be copied faithfully: every version, instant, counter and floor.
type Portable interface {
	// History names the data directories that wrote the space.
	History(ctx context.Context) (History, error)
	// Hold keeps old versions from being dropped (see HeldError), though not for ever, until release is called. It waits for
	// drops that run. Whoever dumps holds first, and then looks for the version to dump at.
	Hold(ctx context.Context) (release func(), err error)
	// Dump gives the space as it was at a version, piece by piece, in the order that a Loader takes: what branches
	// there are, points ascending, then branch by branch its state, its entries (keys in order, the newest version
	// first) and its counters. With since, only what is newer, and what was purged: to be loaded on top of a dump at
	// that version. Commits go on meanwhile; a trim or a reclaim, which nothing held, ends it with ErrChanged.
	Dump(ctx context.Context, since, at uint64, yield func(Piece) error) error
	// DumpRuns gives the same in runs (see ReadRun) of about a megabyte. Each is appended to what begin gives, and handed
	// over to end.
	DumpRuns(ctx context.Context, since, at uint64, begin func() ([]byte, error), end func(run []byte, pieces int) error) error
	// WaitTurn waits until no commit is being written, but not for long: a copy that is written to the same disk lets commits go
	// first.
	WaitTurn(ctx context.Context)
}

// Loader makes a space from the pieces of a dump, and of later ones on top of it.
type Loader interface {
	Add(Piece) error
	// Blob takes the next bytes of a blob's content; those of one blob follow one another.
	Blob(digest string, data []byte) error
	// Blobs says which blobs there are, instead of those that were said before. The content of each must have come.
	Blobs([]Blob)
	// Continue says whose history the space goes on from; without it the space begins one of its own.
	Continue(History)
	// Finish makes the space durable and lets it appear, all at once.
	Finish(ctx context.Context) error
	// Abort leaves nothing behind. After Finish it does nothing.
	Abort() error
}

// Piece is a part of a dump. One of its fields is set.
type Piece struct {
	Branches []BranchID // all that there are
	Point    *Point
	Branch   *BranchState
	Entry    *Entry // Branch is where it is kept; the instant is its version's
	Counter  *CounterRecord
}

// BranchState is a branch, and how far back it is kept.
type BranchState struct {
	ID    BranchID
	Floor Point // zero: everything is kept
	Pins  []uint64
	Keep  []Keep `json:",omitempty"` // what is kept below the floor beyond that
}

// CounterRecord is what a CounterWrite left on a branch. Of a key that a dump has, it has all records.
type CounterRecord struct {
	Branch  BranchID
	Key     Key
	Version uint64
	Value   []byte // nil when forgotten
}

// Purger is an engine that can erase what was stored.
type Purger interface {
	// Replace puts other values in the place of some versions, all of them or none. Versions, instants and the change log stay;
	// those that are not there any more are passed over. What the values were may be left in unused parts of the space's files
	// until Erase.
	Replace(ctx context.Context, list []Replacement) error
	// Erase makes sure that the bytes of values that were replaced are nowhere in the space's files. What a crash keeps from it, the
	// next opening does.
	Erase(ctx context.Context) error
}

// Replacement is a value in the place of that of a version.
type Replacement struct {
	Branch  BranchID
	Key     Key
	Version uint64
	Value   []byte // at most 1 KiB
}

// Collecting is an engine that knows which collections there are without reading what is in them.
type Collecting interface {
	// Collections lists the collections of a branch's own entries, tombstones too, in order. The names of the keys are empty.
	Collections(ctx context.Context, b BranchID) ([]Key, error)
}
