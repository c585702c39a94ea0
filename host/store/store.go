// Package store defines versioned entries on branches, and the interface of the engines that store them.
//
// An engine holds one space. A space is a set of branches, each a set of entries under
// (namespace, collection, name). Every write is a new version. The engine assigns versions: they grow by
// one with every commit in the space, and all entries of a commit share one. Branches are numbers that
// are never reused. Their names, ancestry and existence are the caller's data (see package memory), for
// instance entries of branch Catalogue. A Lineage is what a branch sees.
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

// BranchID identifies a branch. A space never reuses an id.
type BranchID uint64

// Catalogue is the branch for the callers' data about other branches. It is an ordinary branch that is
// never forked, trimmed or reclaimed.
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

// Key identifies an entry. Names may contain any bytes; namespaces and collections no zero byte.
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

// Entry is a version of a key.
type Entry struct {
	Key
	Point
	Branch  BranchID // the branch on which it was written
	Value   []byte   // the caller's own copy; nil when Deleted
	Deleted bool     // a tombstone
}

// Exists reports whether the entry was found and is not a tombstone.
func (e Entry) Exists() bool { return e.Version != 0 && !e.Deleted }

// Range selects keys, in byte order by namespace, collection and name. Empty fields match everything.
type Range struct {
	Namespace  string
	Collection string // needs Namespace
	Prefix     string // of the name; needs Collection
	From       string // the first name, inclusive (the last one when Reverse); needs Collection
	Exact      bool   // only the name Prefix
	Reverse    bool   // last name first; ScanAt only
}

// Cursor continues a listing where the last page ended; empty at the start, and again after the end.
// It is valid only with the same lineage and range.
type Cursor string

// Change is a key that a commit wrote or deleted on a branch.
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
// Lineage sees, starting at 1. Its name is SequenceName of that number. Appends to one collection in one
// batch get consecutive numbers.
type Append struct {
	Lineage    Lineage // of the branch that is written to: its first segment
	Namespace  string
	Collection string
	// Seal computes the value from the previous entry (the zero Entry for the first), the sequence number
	// and the point of this commit. It runs inside the commit: it must be quick and pure, and must not
	// call the engine.
	Seal func(last Entry, sequence uint64, at Point) ([]byte, error)
}

// SequenceName returns the name of the entry with this sequence number; names sort like the numbers.
func SequenceName(sequence uint64) string { return fmt.Sprintf("%020d", sequence) }

// ParseSequence is the inverse of SequenceName.
func ParseSequence(name string) (uint64, error) { return strconv.ParseUint(name, 10, 64) }

// CounterWrite sets a key's counter on a branch, from Version on. It replaces every record of the key on
// the branch newer than Keep; older ones stay, for branches forked there.
type CounterWrite struct {
	Branch  BranchID
	Key     Key
	Version uint64
	Keep    uint64
	Value   []byte // nil forgets: the counter reads as absent from Version on
}

// Counted is a counter record.
type Counted struct {
	Key     Key
	Version uint64
	Value   []byte // nil when forgotten
}

// Keep selects versions below a branch's floor that Trim retains for the histories of keys.
type Keep struct {
	Namespace string `json:"namespace,omitempty"` // empty: all namespaces without a Keep of their own
	Versions  int    `json:"versions,omitempty"`  // the newest versions of each key
	From      uint64 `json:"from,omitempty"`      // and all from this version on; 0: none
}

// Keeps reports whether keep retains a version of a key with nth newer ones.
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

// Batch is the writes and conditions of one atomic commit. An empty batch commits a version without
// changes.
type Batch struct {
	Writes   []Write
	Appends  []Append
	Counters []CounterWrite
	Expect   []Expectation
	Quiet    []Quiet
	Request  Request
	Note     []byte // the caller's data about the commit, which Notes returns; at most NoteLimit bytes; empty: none
}

// NoteLimit is the size limit of a commit's note in bytes.
const NoteLimit = 32 << 10

// Noted is a commit and its note.
type Noted struct {
	Point
	Note []byte // the receiver's own copy
}

// Committed is the outcome of a commit.
type Committed struct {
	Point
	Sequences []uint64 // of the batch's Appends, in their order
	Replayed  bool     // the request was committed earlier; nothing was written now
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

// Engine stores the entries of one space. It is safe for concurrent use, and results belong to the
// caller. With a cancelled context a method returns its error; a Commit that is being written may take
// effect nevertheless.
type Engine interface {
	// Head returns the newest commit; the zero Point in an empty space.
	Head(ctx context.Context) (Point, error)
	// VersionAt returns the newest commit at or before t; the zero Point if there is none.
	VersionAt(ctx context.Context, t time.Time) (Point, error)
	// PointOf returns the commit with a version; ErrNotFound if there is none.
	PointOf(ctx context.Context, version uint64) (Point, error)

	// Notes lists the commits with after < version < before that have a note, newest first, at most limit. A page with fewer is
	// the last; the next one begins before the last version of this one.
	Notes(ctx context.Context, after, before uint64, limit int) ([]Noted, error)
	// DropNotes drops the notes of commits. Versions without one are skipped.
	DropNotes(ctx context.Context, versions []uint64) error

	// GetAt returns, in the order of keys, the newest entry of each key that the lineage sees, which may
	// be a tombstone, or the zero Entry.
	GetAt(ctx context.Context, l Lineage, keys []Key) ([]Entry, error)
	// ScanAt lists the live entries that the lineage sees, in key order, at most limit.
	ScanAt(ctx context.Context, l Lineage, r Range, c Cursor, limit int) ([]Entry, Cursor, error)
	// Versions lists every version that the lineage sees, tombstones included: keys in order, newest
	// version first. A page may end inside a key.
	Versions(ctx context.Context, l Lineage, r Range, c Cursor, limit int) ([]Entry, Cursor, error)
	// Changes lists the changes of a branch with from < version <= to, oldest first. The result ends with
	// a whole version and has at least one version's changes if there are any, even beyond limit. next is
	// the version to continue from; 0: the end. If from is below the branch's floor, the log is trimmed
	// and the error is a TrimmedError.
	Changes(ctx context.Context, b BranchID, from, to uint64, limit int) (changes []Change, next uint64, err error)

	// Commit applies a batch durably, or fails and changes nothing. A ConflictError means an unmet
	// condition; ErrRequestReused, a request id that was used with another digest.
	Commit(ctx context.Context, b Batch) (Committed, error)

	// Requested returns the earlier commit of a request, if done; ErrRequestReused as for Commit.
	Requested(ctx context.Context, r Request) (c Committed, done bool, err error)

	// Counters returns the counter of each key that the lineage sees; nil for none.
	Counters(ctx context.Context, l Lineage, keys []Key) ([][]byte, error)

	// CountersOn lists each key's newest counter record on one branch that is newer than after.
	CountersOn(ctx context.Context, b BranchID, after uint64, c Cursor, limit int) ([]Counted, Cursor, error)

	// Consolidate speeds up reads of a deep lineage by merging its ancestors' segments into shared
	// overlays. Results do not change. It may take long; commits continue.
	Consolidate(ctx context.Context, l Lineage) error
	// Trim drops old versions of a branch. Of each key it retains the newest at or below floor, all above
	// it, the newest at or below each pin, and those that keep selects, for Versions alone. Pins are the
	// versions at which branches were forked or merged. Afterwards, reading the branch below floor at
	// other versions than pins is a TrimmedError. The change log up to floor is dropped. A floor of 0 or
	// below an earlier one changes nothing. A HeldError means that a dump is running.
	Trim(ctx context.Context, b BranchID, floor uint64, pins []uint64, keep ...Keep) error
	// Reclaim erases a branch and its derived data. The caller ensures that no lineage in use contains
	// it. Reclaiming a branch that does not exist succeeds. A HeldError means that a dump is running.
	Reclaim(ctx context.Context, b BranchID) error

	// PutBlob durably stores the content of r under name, replacing an earlier blob.
	PutBlob(ctx context.Context, name string, r io.Reader) (Blob, error)
	// GetBlob opens a blob; ErrNotFound if there is none. A reader stays valid after the blob is dropped.
	GetBlob(ctx context.Context, name string) (BlobReader, error)
	// DropBlob removes a blob. Dropping one that does not exist succeeds.
	DropBlob(ctx context.Context, name string) error
	// Blobs lists the blobs whose names start with prefix, by name.
	Blobs(ctx context.Context, prefix string) ([]Blob, error)

	// Watch returns a channel of new versions. A slow receiver gets only the newest. The channel is closed
	// when ctx or the engine ends.
	Watch(ctx context.Context) <-chan uint64

	// Check reads everything and returns the inconsistencies, joined; nil if there are none.
	Check(ctx context.Context) error
	// Close waits for running calls, refuses new ones with ErrClosed, and releases the space.
	Close() error
}
