package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// Every record has a CRC-32C over where it belongs, its key and its value. It stands behind the value, in an entry behind
// its header. A bucket's sequence is the sum of the checksums in it, so that a record that is missing, or a page from
// before, is noticed too.

// kind is what the records of a bucket are. It is part of their checksums and never changes its number.
type kind byte

const (
	kindMeta kind = iota + 1
	kindTime
	kindPoints
	kindRequests
	kindAges
	kindBlobs
	kindPurged
	kindOverlay
	kindEntries
	kindValues
	kindLog
	kindCounters
	kindTrim
	kindCounted
)

const sealSize = 4

// place is a bucket of records, as their checksums know it. What belongs to another one is not taken for whole here.
// Entries are the same wherever they are copied to: they say themselves which branch they are of.
type place struct {
	kind kind
	seed uint32
}

// placeOf is a bucket of a branch or an overlay; owner 0: at the top.
func placeOf(k kind, owner uint64) place {
	if k == kindEntries {
		owner = 0
	}
	table, crc := crcTable(), ^uint32(0)
	crc = table[byte(crc)^byte(k)] ^ crc>>8 // byte by byte, since nothing is allocated so
	for shift := 56; shift >= 0; shift -= 8 {
		crc = table[byte(crc)^byte(owner>>shift)] ^ crc>>8
	}
	return place{k, ^crc}
}

func crcTable() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// sum is the checksum of a record. The length of the key begins it: the border between key and value is not moved unnoticed.
func (p place) sum(key []byte, parts ...[]byte) uint32 {
	table := crcTable()
	crc := crc32.Update(p.seed^uint32(len(key)), table, key)
	for _, part := range parts {
		crc = crc32.Update(crc, table, part)
	}
	return crc
}

// seal is a value with its checksum.
func (p place) seal(key, value []byte) []byte {
	out := make([]byte, len(value), len(value)+sealSize)
	copy(out, value)
	return binary.BigEndian.AppendUint32(out, p.sum(key, value))
}

// open is what was sealed. It points into data.
func (p place) open(key, data []byte) ([]byte, error) {
	at := len(data) - sealSize
	if at < 0 || p.sum(key, data[:at]) != binary.BigEndian.Uint32(data[at:]) {
		return nil, errRot
	}
	return data[:at:at], nil
}

// stored is the checksum that a record says it has.
func (p place) stored(data []byte) uint32 {
	at := len(data) - sealSize
	if p.kind == kindEntries {
		at = recordHeader - sealSize
	}
	if at < 0 || at+sealSize > len(data) {
		return 0
	}
	return binary.BigEndian.Uint32(data[at:])
}

// whole makes sure that a record is as it was written.
func (p place) whole(key, data []byte) error {
	if p.kind == kindEntries {
		_, err := p.decodeRecord(key, data)
		return err
	}
	_, err := p.open(key, data)
	return err
}

// counts reports whether a key in the place is that of a record: the format is none.
func (p place) counts(key []byte) bool { return p.kind != kindMeta || !bytes.Equal(key, keyFormat) }

var errIncomplete = fmt.Errorf("records of it are missing, or are older ones: %w", store.ErrDamaged)

// weight is what a record adds to the sum of its bucket. It is never 0.
func weight(sum uint32) uint64 { return 1<<32 + uint64(sum) }

// records is a bucket of records.
type records struct {
	*bbolt.Bucket
	place
}

// get is a record's value, which belongs to the transaction; nil for none.
func (r records) get(key []byte) ([]byte, error) {
	data := r.Get(key)
	if data == nil {
		return nil, nil
	}
	value, err := r.open(key, data)
	if err != nil {
		return nil, fmt.Errorf("record %q: %w", key, err)
	}
	return value, nil
}

// put writes a record, whether it is there or not.
func (r records) put(key, value []byte) error { return r.replace(key, r.seal(key, value)) }

// add writes a record that is surely not there.
func (r records) add(key, value []byte) error { return r.insert(key, r.seal(key, value)) }

// replace writes a record that has its checksum.
func (r records) replace(key, data []byte) error {
	if err := r.remove(key); err != nil {
		return err
	}
	return r.insert(key, data)
}

func (r records) insert(key, data []byte) error {
	if err := r.Put(key, data); err != nil {
		return err
	}
	return r.SetSequence(r.Sequence() + weight(r.stored(data)))
}

// remove deletes a record, if it is there.
func (r records) remove(key []byte) error {
	data := r.Get(key)
	if data == nil {
		return nil
	}
	sum := r.stored(data)
	if err := r.Delete(key); err != nil {
		return err
	}
	return r.SetSequence(r.Sequence() - weight(sum))
}

// topKinds and branchKinds are the buckets of records at the top, and of a branch.
func topKinds() []kind {
	return []kind{kindMeta, kindTime, kindPoints, kindRequests, kindAges, kindBlobs, kindPurged}
}

func branchKinds() []kind {
	return []kind{kindEntries, kindValues, kindLog, kindCounters, kindCounted, kindTrim}
}

// bucket is what the bucket is called.
func (k kind) bucket() []byte {
	switch k {
	case kindMeta:
		return bucketMeta
	case kindTime:
		return bucketTime
	case kindPoints:
		return bucketPoints
	case kindRequests:
		return bucketRequests
	case kindAges:
		return bucketAges
	case kindBlobs:
		return bucketBlobs
	case kindPurged:
		return bucketPurged
	case kindEntries:
		return bucketEntries
	case kindValues:
		return bucketValues
	case kindLog:
		return bucketLog
	case kindCounters:
		return bucketCounters
	case kindTrim:
		return bucketTrim
	case kindCounted:
		return bucketCounted
	}
	return nil
}

// top is a bucket of records at the top.
func top(tx *bbolt.Tx, k kind) records { return records{tx.Bucket(k.bucket()), placeOf(k, 0)} }

// of is a bucket of a branch.
func of(branch *bbolt.Bucket, id store.BranchID, k kind) records {
	return records{branch.Bucket(k.bucket()), placeOf(k, uint64(id))}
}
