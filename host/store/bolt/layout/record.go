package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// Record is how an entry is stored: flags, the instant in µs, the branch, a CRC-32C of the key, all this and the value,
// and the value. A large value stands in the branch's values, under the same key; its checksum is here instead.
type Record struct {
	flags  byte
	Micros int64
	Branch store.BranchID
	Value  []byte
}

const (
	flagDeleted = 1 << iota
	flagLarge

	recordStart  = 1 + 8 + 8 // bytes before the checksum
	recordHeader = recordStart + SumSize
	LargeValue   = 1 << 10 // bytes from which on a value is kept apart
)

var ErrChecksum = fmt.Errorf("checksum does not match: %w", store.ErrDamaged)

// NewRecord is the record of an entry, and its value as it is kept apart; nil when it is not.
func NewRecord(branch store.BranchID, key []byte, at store.Point, value []byte, deleted bool) (r Record, apart []byte) {
	r = Record{Micros: at.Time.UnixMicro(), Branch: branch, Value: value}
	if deleted {
		r.flags, r.Value = flagDeleted, nil
		return r, nil
	}
	if len(value) > LargeValue {
		apart = TableOf(KindValues, uint64(branch)).Seal(key, value)
		r.flags, r.Value = flagLarge, apart[len(value):]
	}
	return r, apart
}

func (r Record) Deleted() bool { return r.flags&flagDeleted != 0 }

// Large reports whether the value is kept apart.
func (r Record) Large() bool { return r.flags&flagLarge != 0 }

func (r Record) Encode(key []byte) []byte {
	out := make([]byte, recordStart, recordHeader+len(r.Value))
	out[0] = r.flags
	binary.BigEndian.PutUint64(out[1:], uint64(r.Micros))
	binary.BigEndian.PutUint64(out[9:], uint64(r.Branch))
	sum := TableOf(KindEntries, 0).sum(key, out, r.Value)
	return append(binary.BigEndian.AppendUint32(out, sum), r.Value...)
}

// DecodeRecord reads a record, and makes sure that it is whole. The value of a large one is the checksum of its value. p is the
// place of entries.
func (p Table) DecodeRecord(key, data []byte) (Record, error) {
	r, err := SplitRecord(data)
	if err == nil && p.sum(key, data[:recordStart], r.Value) != p.StoredSum(data) {
		err = ErrChecksum
	}
	return r, err
}

// SplitRecord takes a record apart, whether it is whole or not.
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

func (r Record) Entry(key store.Key, version uint64) store.Entry {
	e := store.Entry{Key: key, Branch: r.Branch, Deleted: r.Deleted(),
		Point: store.Point{Version: version, Time: time.UnixMicro(r.Micros).UTC()}}
	if !e.Deleted {
		e.Value = append([]byte{}, r.Value...)
	}
	return e
}

var ErrNoValue = fmt.Errorf("its value is missing: %w", store.ErrDamaged)

// OpenLarge is a value that was kept apart, which must be the one that its entry was written with.
func OpenLarge(p Table, key, data, sum []byte) ([]byte, error) {
	if data == nil {
		return nil, ErrNoValue
	}
	value, err := p.Open(key, data)
	if err == nil && !bytes.Equal(data[len(value):], sum) {
		err = ErrChecksum
	}
	return value, err
}
