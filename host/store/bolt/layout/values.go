package layout

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// EncodePoint is the value of the record of a point: its instant in µs, and the note of the commit behind it.
func EncodePoint(p store.Point, note []byte) []byte {
	return append(U64(uint64(p.Time.UnixMicro())), note...)
}

// SplitPoint separates the value of the record of a point into instant and note, without its tail; nil where it is truncated.
func SplitPoint(value []byte) (micros, note []byte) {
	micros, _, note, _ = splitTailed(value)
	return micros, note
}

// PointOf is a point, given its version and its instant in µs.
func PointOf(version, micros []byte) store.Point {
	return store.Point{Version: FromU64(version), Time: time.UnixMicro(int64(FromU64(micros))).UTC()}
}

// Point verifies and decodes a record of KindPoints.
func (t Table) Point(version, data []byte) (store.Point, error) {
	p, err := t.Noted(version, data)
	return p.Point, err
}

// Noted verifies and decodes a record of KindPoints with its note, which is part of data.
func (t Table) Noted(version, data []byte) (store.Noted, error) {
	value, err := t.Open(version, data)
	if err != nil {
		return store.Noted{}, fmt.Errorf("read version %d: %w", FromU64(version), err)
	}
	micros, note := SplitPoint(value)
	return store.Noted{Point: PointOf(version, micros), Note: note}, nil
}

// PurgedNote is the key of a purged note among the records of KindPurged: as an entry of a branch that there is not.
func PurgedNote(version uint64) []byte { return append(U64(uint64(PurgedNotes)), U64(version)...) }

// PurgedNotes is the branch under which ReadPurged lists the versions of purged notes.
const PurgedNotes = ^store.BranchID(0)

// Instant verifies and decodes a record of KindTime.
func (t Table) Instant(micros, data []byte) (store.Point, error) {
	version, err := t.Open(micros, data)
	if err != nil {
		return store.Point{}, fmt.Errorf("read the version of %s: %w", PointOf(nil, micros).Time, err)
	}
	return PointOf(version, micros), nil
}

// Counter verifies and decodes the record of a counter; nil when it was forgotten.
func (t Table) Counter(key, data []byte) ([]byte, error) {
	value, err := t.Open(key, data)
	if err != nil {
		return nil, err
	}
	return count(value), nil
}

func count(value []byte) []byte {
	if len(value) == 0 || value[0] == 0 {
		return nil
	}
	return bytes.Clone(value[1:])
}

// EncodeCounter is the value of the record of a counter; nil forgets it.
func EncodeCounter(value []byte) []byte {
	if value == nil {
		return []byte{0}
	}
	return append([]byte{1}, value...)
}

// ReadPurged are the keys, with versions, of entries whose values were purged, by branch.
func ReadPurged(tx *bbolt.Tx) (map[store.BranchID][][]byte, error) {
	purged := map[store.BranchID][][]byte{}
	r := InSpace(tx, KindPurged)
	c := r.Cursor()
	for at, data := c.First(); at != nil; at, data = c.Next() {
		if _, err := r.Open(at, data); err != nil || len(at) <= 8 {
			return nil, fmt.Errorf("read what was purged: %q: %w", at, ErrChecksum)
		}
		id := store.BranchID(FromU64(at[:8]))
		purged[id] = append(purged[id], bytes.Clone(at[8:]))
	}
	return purged, nil
}
