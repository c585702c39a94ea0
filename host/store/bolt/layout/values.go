package layout

import (
	"bytes"
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

func PointOf(version, micros []byte) store.Point {
	return store.Point{Version: FromU64(version), Time: time.UnixMicro(int64(FromU64(micros))).UTC()}
}

// Point is a record of a version and its instant; instant is one of an instant and its version.
func (p Table) Point(version, data []byte) (store.Point, error) {
	micros, err := p.Open(version, data)
	if err != nil {
		return store.Point{}, fmt.Errorf("read version %d: %w", FromU64(version), err)
	}
	return PointOf(version, micros), nil
}

func (p Table) Instant(micros, data []byte) (store.Point, error) {
	version, err := p.Open(micros, data)
	if err != nil {
		return store.Point{}, fmt.Errorf("read which version is of %s: %w", PointOf(nil, micros).Time, err)
	}
	return PointOf(version, micros), nil
}

// Counter is a counter record's value: nil when it was forgotten.
func (p Table) Counter(key, data []byte) ([]byte, error) {
	value, err := p.Open(key, data)
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

func EncodeCounter(value []byte) []byte {
	if value == nil {
		return []byte{0}
	}
	return append([]byte{1}, value...)
}

// ReadPurged are the entries whose values were purged, as encoded keys with versions, by branch.
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
