package layout

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// PointOf is a point, given its version and its instant in µs.
func PointOf(version, micros []byte) store.Point {
	return store.Point{Version: FromU64(version), Time: time.UnixMicro(int64(FromU64(micros))).UTC()}
}

// Point verifies and decodes a record of KindPoints.
func (t Table) Point(version, data []byte) (store.Point, error) {
	micros, err := t.Open(version, data)
	if err != nil {
		return store.Point{}, fmt.Errorf("read version %d: %w", FromU64(version), err)
	}
	return PointOf(version, micros), nil
}

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
