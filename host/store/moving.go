package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
)

// Movable is a Driver to which a space can be moved from another one. The space is staged: it is copied under a name of its own, which nobody
// opens, and then placed.
type Movable interface {
	Driver
	// Stage begins a copy, in place of what an interrupted one left. The error wraps ErrNotEmpty if there is a space already, unless it was
	// moved away.
	Stage(ctx context.Context, dir, move string) (Staged, error)
	// Remove removes a space that was moved away, and what is left of copies.
	Remove(ctx context.Context, dir string) error
}

// Staged is a copy of a space that nobody can open yet. Its methods are not called concurrently.
type Staged interface {
	Loader
	// Remember adds what a space remembers beside the pieces of a dump.
	Remember(Memo) error
	// PutDocument adds a document, where the driver is Documented, and returns its revision; otherwise it does nothing.
	PutDocument(ctx context.Context, d Document) (revision uint64, err error)
	// Sync makes what was added durable and consistent. More dumps may follow.
	Sync(ctx context.Context) error
	// Dump is that of a Portable, of what was settled.
	Dump(ctx context.Context, since, at uint64, yield func(Piece) error) error
	// Memos is that of an engine that is Remembering, of what was settled.
	Memos(ctx context.Context, since Point, yield func(Memo) error) error
	// Stored lists the blobs of what was settled.
	Stored(ctx context.Context) ([]Blob, error)
	// Place makes the copy the space, atomically, and ends its use. In a database it also says that this move did it. Abort does nothing then.
	Place(ctx context.Context) error
	// Close ends the use of a copy that was settled, and leaves it to be placed.
	Close() error
}

// Placing is a Movable whose spaces are files of a data directory.
type Placing interface {
	// PlaceStaged places what was staged there before a crash.
	PlaceStaged(dir string) error
	// DropStaged drops it instead.
	DropStaged(dir string) error
}

// Deciding is a Movable whose database decides whether a move to it or from it took place.
type Deciding interface {
	// Arrived reports whether a move placed its copy. If it did not, it never will: the copy is removed.
	Arrived(ctx context.Context, move string) (bool, error)
	// Departed reports whether a move took the space away. If it did not, it never will.
	Departed(ctx context.Context, move string) (bool, error)
}

// Departing is an engine of a Deciding driver.
type Departing interface {
	// Depart marks the space as moved away, atomically. No engine can write to it from then on, or be opened.
	Depart(ctx context.Context, move, to string) error
}

// Remembering is an engine that lists what it remembers beside the pieces of a dump.
type Remembering interface {
	// Memos yields the requests after a point, all marks of purges, and the note of the last backup.
	Memos(ctx context.Context, since Point, yield func(Memo) error) error
}

// Memo is a part of what a space remembers. Exactly one field is set.
type Memo struct {
	Request *Requested
	Purged  *PurgedVersion
	Backup  *BackedUp
}

// Requested is the outcome of a request.
type Requested struct {
	Key    [32]byte // of the request
	Digest [32]byte
	Committed
}

// PurgedVersion is a version whose value was purged, or a commit whose note was, which later incremental dumps repeat.
type PurgedVersion struct {
	Note    bool
	Branch  BranchID
	Key     Key
	Version uint64
}

// Identity identifies a request by its caller and id, which may be of any length.
func (r Request) Identity() [32]byte { return IdentityOf(r.Caller, r.ID) }

// IdentityOf is the identity of a caller's request.
func IdentityOf(caller, id string) [32]byte {
	head := binary.BigEndian.AppendUint64(nil, uint64(len(caller)))
	return sha256.Sum256(append(append(head, caller...), id...))
}

// DepartedError means that a space was moved away, and cannot be opened here.
type DepartedError struct{ Space, To string }

func (e *DepartedError) Error() string { return e.Space + " was moved to " + e.To }
