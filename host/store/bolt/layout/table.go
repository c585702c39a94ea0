package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/alcove-memory/alcove/host/store"
)

// Every record has a CRC-32C over its table, key and value. It is stored behind the value; in an entry, behind the header. The
// sequence of a bucket is the sum of the checksums in it, which a missing record or an outdated page changes.

// SumSize is how many bytes a checksum has.
const SumSize = 4

// Table is a bucket of records as their checksums know it: a record that was moved here from another table does not verify. Entries
// are the same in every branch and overlay, and name their branch themselves.
type Table struct {
	Kind Kind
	seed uint32
}

// TableOf is the table of a kind in a branch or an overlay; owner is its id, 0 for the space.
func TableOf(k Kind, owner uint64) Table {
	if k == KindEntries {
		owner = 0
	}
	table, crc := crcTable(), ^uint32(0)
	crc = table[byte(crc)^byte(k)] ^ crc>>8 // byte by byte, since nothing is allocated so
	for shift := 56; shift >= 0; shift -= 8 {
		crc = table[byte(crc)^byte(owner>>shift)] ^ crc>>8
	}
	return Table{k, ^crc}
}

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sum is the checksum of a record. It begins with the length of the key, so that bytes cannot move between key and value.
func (t Table) sum(key []byte, parts ...[]byte) uint32 {
	table := crcTable()
	crc := crc32.Update(t.seed^uint32(len(key)), table, key)
	for _, part := range parts {
		crc = crc32.Update(crc, table, part)
	}
	return crc
}

// Seal is a value with its checksum behind it.
func (t Table) Seal(key, value []byte) []byte {
	out := make([]byte, len(value), len(value)+SumSize)
	copy(out, value)
	return binary.BigEndian.AppendUint32(out, t.sum(key, value))
}

// Open verifies a sealed value and returns the value, which is part of data, or ErrChecksum.
func (t Table) Open(key, data []byte) ([]byte, error) {
	at := len(data) - SumSize
	if at < 0 || t.sum(key, data[:at]) != binary.BigEndian.Uint32(data[at:]) {
		return nil, ErrChecksum
	}
	return data[:at:at], nil
}

// StoredSum is the checksum that a record has, true or not; 0 where it is truncated.
func (t Table) StoredSum(data []byte) uint32 {
	at := len(data) - SumSize
	if t.Kind == KindEntries {
		at = recordHeader - SumSize
	}
	if at < 0 || at+SumSize > len(data) {
		return 0
	}
	return binary.BigEndian.Uint32(data[at:])
}

// Verify returns ErrChecksum, or why it cannot be decoded, for a record that is not as it was written.
func (t Table) Verify(key, data []byte) error {
	if t.Kind == KindEntries {
		_, err := t.DecodeRecord(key, data)
		return err
	}
	_, err := t.Open(key, data)
	return err
}

// IsRecord reports whether a key is that of a record. The format has none.
func (t Table) IsRecord(key []byte) bool { return t.Kind != KindMeta || !bytes.Equal(key, KeyFormat) }

// ErrIncomplete is that the checksums in a bucket do not add up to its sequence.
var ErrIncomplete = fmt.Errorf("records of it are missing, or are older ones: %w", store.ErrDamaged)

// Weight is what a record, given its checksum, adds to the sequence of its bucket. It is never 0.
func Weight(sum uint32) uint64 { return 1<<32 + uint64(sum) }
