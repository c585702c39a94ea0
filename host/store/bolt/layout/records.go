package layout

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// Records is a bucket of records.
type Records struct {
	*bbolt.Bucket
	Table
}

// Read is a record's value, which belongs to the transaction; nil for none.
func (r Records) Read(key []byte) ([]byte, error) {
	data := r.Get(key)
	if data == nil {
		return nil, nil
	}
	value, err := r.Open(key, data)
	if err != nil {
		return nil, fmt.Errorf("record %q: %w", key, err)
	}
	return value, nil
}

// Write writes a record, whether it is there or not.
func (r Records) Write(key, value []byte) error { return r.WriteSealed(key, r.Seal(key, value)) }

// Add writes a record that is surely not there.
func (r Records) Add(key, value []byte) error { return r.AddSealed(key, r.Seal(key, value)) }

// WriteSealed writes a record that has its checksum.
func (r Records) WriteSealed(key, data []byte) error {
	if err := r.Remove(key); err != nil {
		return err
	}
	return r.AddSealed(key, data)
}

func (r Records) AddSealed(key, data []byte) error {
	if err := r.Put(key, data); err != nil {
		return err
	}
	return r.SetSequence(r.Sequence() + Weight(r.StoredSum(data)))
}

// Remove deletes a record, if it is there.
func (r Records) Remove(key []byte) error {
	data := r.Get(key)
	if data == nil {
		return nil
	}
	sum := r.StoredSum(data)
	if err := r.Delete(key); err != nil {
		return err
	}
	return r.SetSequence(r.Sequence() - Weight(sum))
}

// InSpace is a bucket of records at the top.
func InSpace(tx *bbolt.Tx, k Kind) Records { return In(tx.Bucket(k.Bucket()), k, 0) }

// In are the records of a bucket that belongs to a branch or an overlay; owner 0: to the space.
func In(b *bbolt.Bucket, k Kind, owner uint64) Records { return Records{b, TableOf(k, owner)} }

// InBranch is a bucket of a branch.
func InBranch(branch *bbolt.Bucket, id store.BranchID, k Kind) Records {
	return In(branch.Bucket(k.Bucket()), k, uint64(id))
}

// FillAppended is how full pages become to which nothing is ever added in the middle; others are left half empty.
const FillAppended = 0.95

// Append puts what sorts behind all that a bucket has.
func Append(r Records, key, value []byte) error {
	r.FillPercent = FillAppended
	return r.Add(key, value)
}
