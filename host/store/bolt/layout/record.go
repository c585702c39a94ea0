package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Record is a stored entry: flags, instant, branch, a CRC-32C of the key and of all this, and the value. A large value is stored in
// the values of its branch, under the same key; then Value is its checksum.
type Record struct {
	flags  byte
	Micros int64 // since the epoch
	Branch store.BranchID
	Value  []byte
}

const (
	flagDeleted = 1 << iota
	flagLarge

	recordStart  = 1 + 8 + 8 // bytes before the checksum
	recordHeader = recordStart + SumSize
	LargeValue   = 1 << 10 // bytes; a larger value is stored apart
)

// ErrChecksum is that a record is not as it was written.
var ErrChecksum = fmt.Errorf("checksum does not match: %w", store.ErrDamaged)

// NewRecord is the record of an entry whose encoded key is key, and its sealed value if that is stored apart; nil otherwise.
func NewRecord(key []byte, e store.Entry) (r Record, apart []byte) {
	r = Record{Micros: e.Time.UnixMicro(), Branch: e.Branch, Value: e.Value}
	if e.Deleted {
		r.flags, r.Value = flagDeleted, nil
		return r, nil
	}
	if len(e.Value) > LargeValue {
		apart = TableOf(KindValues, uint64(e.Branch)).Seal(key, e.Value)
		r.flags, r.Value = flagLarge, apart[len(e.Value):]
	}
	return r, apart
}

// Deleted reports whether the entry is a tombstone.
func (r Record) Deleted() bool { return r.flags&flagDeleted != 0 }

// Large reports whether the value is stored apart.
func (r Record) Large() bool { return r.flags&flagLarge != 0 }

// Encode is the record as it is stored under a key.
func (r Record) Encode(key []byte) []byte {
	out := make([]byte, recordStart, recordHeader+len(r.Value))
	out[0] = r.flags
	binary.BigEndian.PutUint64(out[1:], uint64(r.Micros))
	binary.BigEndian.PutUint64(out[9:], uint64(r.Branch))
	sum := TableOf(KindEntries, 0).sum(key, out, r.Value)
	return append(binary.BigEndian.AppendUint32(out, sum), r.Value...)
}

// DecodeRecord decodes and verifies an entry. t is the table of entries.
func (t Table) DecodeRecord(key, data []byte) (Record, error) {
	r, err := SplitRecord(data)
	if err == nil && t.sum(key, data[:recordStart], r.Value) != t.StoredSum(data) {
		err = ErrChecksum
	}
	return r, err
}

// SplitRecord decodes an entry without verifying it.
func SplitRecord(data []byte) (Record, error) {
	if len(data) < recordHeader {
		return Record{}, fmt.Errorf("record of %d bytes is too short: %w", len(data), store.ErrDamaged)
	}
	if data[0]&^(flagDeleted|flagLarge) != 0 {
		return Record{}, fmt.Errorf("record has the flags %#x, of which some are unknown: %w", data[0], store.ErrDamaged)
	}
	return Record{
		flags:  data[0],
		Micros: int64(binary.BigEndian.Uint64(data[1:])),
		Branch: store.BranchID(binary.BigEndian.Uint64(data[9:])),
		Value:  data[recordHeader:],
	}, nil
}

// Entry is the record as an entry, with a copy of its value.
func (r Record) Entry(key store.Key, version uint64) store.Entry {
	e := store.Entry{Key: key, Branch: r.Branch, Deleted: r.Deleted(),
		Point: store.Point{Version: version, Time: time.UnixMicro(r.Micros).UTC()}}
	if !e.Deleted {
		e.Value = append([]byte{}, r.Value...)
	}
	return e
}

// ErrNoValue is that the large value of an entry is missing.
var ErrNoValue = fmt.Errorf("its value is missing: %w", store.ErrDamaged)

// OpenLarge verifies a large value, which must be the one that its entry was written with. t is the table of values.
func OpenLarge(t Table, key, data, sum []byte) ([]byte, error) {
	if data == nil {
		return nil, ErrNoValue
	}
	value, err := t.Open(key, data)
	if err == nil && !bytes.Equal(data[len(value):], sum) {
		err = ErrChecksum
	}
	return value, err
}
