package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/alcove-memory/alcove/host/store"
)

// Every record has a CRC-32C over where it belongs, its key and its value. It stands behind the value, in an entry behind
// its header. A bucket's sequence is the sum of the checksums in it, so that a record that is missing, or a page from
// before, is noticed too.

const SumSize = 4

// Table is a bucket of records, as their checksums know it. What belongs to another one is not taken for whole here.
// Entries are the same wherever they are copied to: they say themselves which branch they are of.
type Table struct {
	Kind Kind
	seed uint32
}

// TableOf is a bucket of a branch or an overlay; owner 0: at the top.
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

// sum is the checksum of a record. The length of the key begins it: the border between key and value is not moved unnoticed.
func (p Table) sum(key []byte, parts ...[]byte) uint32 {
	table := crcTable()
	crc := crc32.Update(p.seed^uint32(len(key)), table, key)
	for _, part := range parts {
		crc = crc32.Update(crc, table, part)
	}
	return crc
}

// Seal is a value with its checksum.
func (p Table) Seal(key, value []byte) []byte {
	out := make([]byte, len(value), len(value)+SumSize)
	copy(out, value)
	return binary.BigEndian.AppendUint32(out, p.sum(key, value))
}

// Open is what was sealed. It points into data.
func (p Table) Open(key, data []byte) ([]byte, error) {
	at := len(data) - SumSize
	if at < 0 || p.sum(key, data[:at]) != binary.BigEndian.Uint32(data[at:]) {
		return nil, ErrChecksum
	}
	return data[:at:at], nil
}

// StoredSum is the checksum that a record says it has.
func (p Table) StoredSum(data []byte) uint32 {
	at := len(data) - SumSize
	if p.Kind == KindEntries {
		at = recordHeader - SumSize
	}
	if at < 0 || at+SumSize > len(data) {
		return 0
	}
	return binary.BigEndian.Uint32(data[at:])
}

// Verify makes sure that a record is as it was written.
func (p Table) Verify(key, data []byte) error {
	if p.Kind == KindEntries {
		_, err := p.DecodeRecord(key, data)
		return err
	}
	_, err := p.Open(key, data)
	return err
}

// IsRecord reports whether a key in the place is that of a record: the format is none.
func (p Table) IsRecord(key []byte) bool { return p.Kind != KindMeta || !bytes.Equal(key, KeyFormat) }

var ErrIncomplete = fmt.Errorf("records of it are missing, or are older ones: %w", store.ErrDamaged)

// Weight is what a record adds to the sum of its bucket. It is never 0.
func Weight(sum uint32) uint64 { return 1<<32 + uint64(sum) }
