package bolt

import (
	"hash/crc32"

	"github.com/alcove-memory/alcove/host/store"
)

// Formats 1 and 2 have a checksum in entries only. It does not cover the key, and goes over the value even where that
// stands apart, without a checksum of its own.

// oldRecord reads an entry of an older format. large finds a value that is kept apart.
func oldRecord(key, data []byte, large func(key []byte) []byte) (record, error) {
	r, err := splitRecord(data)
	if err != nil {
		return r, err
	}
	if r.flags&flagLarge != 0 {
		r.value = large(key)
	}
	sum := crc32.Update(crc32.Checksum(data[:recordStart], crcTable()), crcTable(), r.value)
	if sum != placeOf(kindEntries, 0).stored(data) {
		return r, errRot
	}
	return r, nil
}

// upgradeEntry is an entry of an older format in this one's.
func upgradeEntry(id store.BranchID, key, data []byte, large func(key []byte) []byte) (row, error) {
	old, err := oldRecord(key, data, large)
	if err != nil {
		return row{}, err
	}
	if old.branch != id {
		return row{}, errRot
	}
	r, apart := newRecord(id, key, point(nil, u64(uint64(old.micros))), old.value, old.flags&flagDeleted != 0)
	return row{key, r.encode(key), apart}, nil
}
