// Package store says how versioned entries are kept on branches, and what an engine that keeps them
// must do.
//
// An engine holds one space. A space is a set of branches, each a set of entries under
// (namespace, collection, name), every write of which is a new version. Versions are assigned by the
// engine, grow by one with every commit in the space, and are shared by all entries of one commit.
// Branches are numbers that are never reused; what they are called, who forked whom and which of them
// still exist is the caller's to remember (see package memory), for instance as entries of branch
// Catalogue. What a branch can see is a Lineage.
package store

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
)

// BranchID names a branch for ever: ids are never used twice in a space.
type BranchID uint64

// Catalogue is the branch on which callers keep what they must remember about the others. It is an
// ordinary branch that is never forked, trimmed or reclaimed.
const Catalogue BranchID = 0

// Latest, as a Segment's At, sees every version of its branch.
const Latest uint64 = math.MaxUint64

// Segment is the part of one branch that a lineage sees: its versions up to and including At.
type Segment struct {
	Branch BranchID
	At     uint64
}

// Lineage is a branch's view of history: its own segment first, then each ancestor up to the version
// at which it was forked. Every version in a segment is greater than the At of the segment behind it,
// so of two versions of a key in one lineage the one in front is always the newer.
type Lineage []Segment

// At cuts the lineage so that it sees nothing newer than version. The result shares nothing with l.
func (l Lineage) At(version uint64) Lineage {
	cut := make(Lineage, 0, len(l))
	for i, s := range l {
		if i+1 < len(l) && l[i+1].At >= version {
			continue // every version of s is newer than the fork point behind it
		}
		cut = append(cut, Segment{s.Branch, min(s.At, version)})
	}
	return cut
}

// Fork is the lineage of a new branch that starts from what l sees.
func (l Lineage) Fork(child BranchID) Lineage {
	return append(Lineage{{child, Latest}}, l...)
}

// Has reports whether the lineage reads a branch.
func (l Lineage) Has(b BranchID) bool {
	return slices.ContainsFunc(l, func(s Segment) bool { return s.Branch == b })
}

// Key is where an entry lives. Names may hold any bytes; namespaces and collections must not contain
// a zero byte.
type Key struct {
	Namespace  string
	Collection string
	Name       string
}

func (k Key) String() string { return fmt.Sprintf("%s/%s/%q", k.Namespace, k.Collection, k.Name) }

// Point is a version and the instant at which it was committed. Both grow strictly with every commit,
// whatever the clock does; instants have microsecond resolution and are in UTC.
type Point struct {
	Version uint64
	Time    time.Time
}

// Entry is one version of a key.
type Entry struct {
	Key
	Point
	Branch  BranchID // the branch that it was written on
	Value   []byte   // the caller's own copy; nil when Deleted
	Deleted bool     // a tombstone
}

// Exists reports whether the entry is there: found, and not a tombstone.
func (e Entry) Exists() bool { return e.Version != 0 && !e.Deleted }

// Range selects keys, in the order of their bytes (namespace, then collection, then name). Empty
// fields do not select: the zero Range is everything.
type Range struct {
	Namespace  string
	Collection string // needs Namespace
	Prefix     string // of the name; needs Collection
	From       string // the first name, inclusive (the last one when Reverse); needs Collection
	Exact      bool   // only the name Prefix
	Reverse    bool   // last name first; ScanAt only
}

// Cursor continues a listing where the last page ended; empty at the start, and again after the end.
// It is only meaningful for the lineage and range it came from.
type Cursor string

// Change says that a commit wrote or deleted a key on a branch.
type Change struct {
	Key
	Version uint64
	Deleted bool
}

// Write is one entry to put, or to delete, on a branch. A batch writes a (branch, key) at most once.
type Write struct {
	Branch BranchID
	Key    Key
	Value  []byte
	Delete bool
}

// Append adds an entry with the next sequence number of a collection: one more than the newest that
// Lineage sees, starting at 1. Its name is SequenceName of that number. Two appends to one collection in
// one batch follow one another.
type Append struct {
	Lineage    Lineage // of the branch that is written to: its first segment
	Namespace  string
	Collection string
	// Seal makes the value from the entry before it (the zero Entry for the first), the sequence number
	// and the point of this commit. It runs inside the commit: it must be quick, pure, and must not call
	// the engine.
	Seal func(last Entry, sequence uint64, at Point) ([]byte, error)
}

// SequenceName is the name of the entry with this sequence number; names sort as the numbers do.
func SequenceName(sequence uint64) string { return fmt.Sprintf("%020d", sequence) }

// ParseSequence is the inverse of SequenceName.
func ParseSequence(name string) (uint64, error) { return strconv.ParseUint(name, 10, 64) }

// CounterWrite sets what is counted about a key on a branch, as seen from Version on. It replaces every
// record of the key on the branch that is newer than Keep; older ones stay, for branches forked there.
type CounterWrite struct {
	Branch  BranchID
	Key     Key
	Version uint64
	Keep    uint64
	Value   []byte // nil forgets: the counter reads as absent from Version on
}

// Counted is a counter record: what a CounterWrite left.
type Counted struct {
	Key     Key
	Version uint64
	Value   []byte // nil when forgotten
}

// Keep says which versions a branch keeps below its floor, for the histories of keys, beyond those that can still be read there.
type Keep struct {
	Namespace string `json:"namespace,omitempty"` // empty: all that have no Keep of their own
	Versions  int    `json:"versions,omitempty"`  // of each key, the newest so many
	From      uint64 `json:"from,omitempty"`      // and all from this version on; 0: none
}

// Keeps reports whether a version of a key in a namespace is kept: nth is how many of the key are newer.
func Keeps(keep []Keep, namespace string, version uint64, nth int) bool {
	at := slices.IndexFunc(keep, func(k Keep) bool { return k.Namespace == namespace })
	if at < 0 {
		at = slices.IndexFunc(keep, func(k Keep) bool { return k.Namespace == "" })
	}
	return at >= 0 && (nth < keep[at].Versions || keep[at].From != 0 && version >= keep[at].From)
}

// Expectation is a condition on what a lineage sees of a key when the batch commits: the version of the
// live entry, or 0 for none.
type Expectation struct {
	Lineage Lineage
	Key     Key
	Version uint64
}

// Quiet is a condition that nothing was written on a branch after a version.
type Quiet struct {
	Branch BranchID
	Since  uint64
}

// Request makes a batch idempotent: the same caller and id, with the same digest, commits once and is
// answered the same way for 24 hours. The zero Request is none.
type Request struct {
	Caller string
	ID     string
	Digest [32]byte
}

// Batch is what one commit does, all of it or nothing. An empty batch commits too: a version in which
// nothing changed.
type Batch struct {
	Writes   []Write
	Appends  []Append
	Counters []CounterWrite
	Expect   []Expectation
	Quiet    []Quiet
	Request  Request
}

// Committed is the outcome of a commit.
type Committed struct {
	Point
	Sequences []uint64 // of the batch's Appends, in their order
	Replayed  bool     // the request had been committed before; nothing was written now
}

// Blob describes a stored blob.
type Blob struct {
	Name   string
	Digest string // SHA-256 of its bytes, in hexadecimal
	Size   int64  // bytes
}

// BlobReader reads a blob. The caller closes it.
type BlobReader interface {
	io.ReaderAt
	io.Closer
	Size() int64
}

// Engine keeps the entries of one space. All methods may be called from many goroutines at once, and
// what they return belongs to the caller. A method that is given a cancelled context returns its error;
// a Commit that was already handed to the disk may nevertheless happen.
type Engine interface {
	// Head is the newest commit of the space; the zero Point in an empty one.
	Head(ctx context.Context) (Point, error)
	// VersionAt is the newest commit at or before t; the zero Point when there is none.
	VersionAt(ctx context.Context, t time.Time) (Point, error)
	// PointOf is the commit with this version; ErrNotFound when there is none.
	PointOf(ctx context.Context, version uint64) (Point, error)

	// GetAt looks up each key: the newest entry that the lineage sees, which may be a tombstone, or the
	// zero Entry. The result has the length and order of keys.
	GetAt(ctx context.Context, l Lineage, keys []Key) ([]Entry, error)
	// ScanAt lists the live entries that the lineage sees, in key order, at most limit.
	ScanAt(ctx context.Context, l Lineage, r Range, c Cursor, limit int) ([]Entry, Cursor, error)
	// Versions lists every version that the lineage sees, tombstones too: keys in order, and of each key
	// the newest first. A page may end inside a key.
	Versions(ctx context.Context, l Lineage, r Range, c Cursor, limit int) ([]Entry, Cursor, error)
	// Changes lists what was written on a branch with from < version <= to, oldest first. The result
	// ends with a whole version; next is the version to go on from, or 0 when there is no more. It holds
	// at least one version's changes if there are any, even beyond limit. A TrimmedError when from is below
	// the branch's floor: the log before it is gone.
	Changes(ctx context.Context, b BranchID, from, to uint64, limit int) (changes []Change, next uint64, err error)

	// Commit applies a batch durably, or fails and changes nothing: with a ConflictError when an
	// expectation does not hold, with ErrRequestReused when the request's id was used for another digest.
	Commit(ctx context.Context, b Batch) (Committed, error)

	// Requested looks for an earlier commit of the same request; ErrRequestReused as for Commit.
	Requested(ctx context.Context, r Request) (c Committed, done bool, err error)

	// Counters looks up what is counted about each key as the lineage sees it; nil for nothing.
	Counters(ctx context.Context, l Lineage, keys []Key) ([][]byte, error)

	// CountersOn lists, of one branch alone, each key's newest counter record that is newer than after.
	CountersOn(ctx context.Context, b BranchID, after uint64, c Cursor, limit int) ([]Counted, Cursor, error)

	// Consolidate makes reading a deep lineage fast by merging its ancestors' segments into shared
	// overlays. It changes no answer. It may take long; commits go on meanwhile.
	Consolidate(ctx context.Context, l Lineage) error
	// Trim drops the versions of a branch that nobody can ask for any more: of each key it keeps the
	// newest at or below floor, all above it, and the newest at or below each pin. Afterwards reading a
	// segment of the branch below floor, other than exactly at a pin, is a TrimmedError. The change log
	// up to floor goes too; pins are versions at which branches were forked or merged. A floor below an
	// earlier one changes nothing, and neither does 0. What keep says is kept too, to be listed by Versions.
	Trim(ctx context.Context, b BranchID, floor uint64, pins []uint64, keep ...Keep) error
	// Reclaim erases a branch and everything derived from it. The caller makes sure that no lineage in
	// use contains it. Reclaiming a branch that does not exist succeeds.
	Reclaim(ctx context.Context, b BranchID) error

	// PutBlob stores all that r gives under name, replacing what was there, durably.
	PutBlob(ctx context.Context, name string, r io.Reader) (Blob, error)
	// GetBlob opens a blob; ErrNotFound when there is none. A reader stays good when the blob is dropped.
	GetBlob(ctx context.Context, name string) (BlobReader, error)
	// DropBlob forgets a blob; dropping one that does not exist succeeds.
	DropBlob(ctx context.Context, name string) error
	// Blobs lists the blobs whose names start with prefix, by name.
	Blobs(ctx context.Context, prefix string) ([]Blob, error)

	// Watch tells of new commits: the channel carries the newest version, skipping those that the reader
	// was too slow for, and is closed when ctx or the engine ends.
	Watch(ctx context.Context) <-chan uint64

	// Check reads everything and reports what is inconsistent; nil when nothing is.
	Check(ctx context.Context) error
	// Close waits for running calls, refuses new ones with ErrClosed, and releases the space.
	Close() error
}
