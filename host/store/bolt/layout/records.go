package layout

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// Records are the records of a bucket. Its Get and Put are without checksums.
type Records struct {
	*bbolt.Bucket
	Table
}

// Read verifies a record and returns its value, which belongs to the transaction; nil for none.
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

// Write puts a value under a key.
func (r Records) Write(key, value []byte) error { return r.WriteSealed(key, r.Seal(key, value)) }

// Add puts a value under a key that has none. For an existing key the sum of the bucket would be wrong.
func (r Records) Add(key, value []byte) error { return r.AddSealed(key, r.Seal(key, value)) }

// WriteSealed is Write of a value that has its checksum.
func (r Records) WriteSealed(key, data []byte) error {
	if err := r.Remove(key); err != nil {
		return err
	}
	return r.AddSealed(key, data)
}

// AddSealed is Add of a value that has its checksum.
func (r Records) AddSealed(key, data []byte) error {
	if err := r.Put(key, data); err != nil {
		return err
	}
	return r.SetSequence(r.Sequence() + Weight(r.StoredSum(data)))
}

// Remove deletes a record. A missing one is no error.
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

// InSpace are the records of a kind of the space.
func InSpace(tx *bbolt.Tx, k Kind) Records { return In(tx.Bucket(k.Bucket()), k, 0) }

// In are the records in a bucket of a branch or an overlay; owner is its id, 0 for the space.
func In(b *bbolt.Bucket, k Kind, owner uint64) Records { return Records{b, TableOf(k, owner)} }

// InBranch are the records of a kind of a branch, given its bucket.
func InBranch(branch *bbolt.Bucket, id store.BranchID, k Kind) Records {
	return In(branch.Bucket(k.Bucket()), k, uint64(id))
}

// FillAppended is how full the pages of a bucket become whose keys only grow. Others are left half empty.
const FillAppended = 0.95

// Append adds a record whose key sorts behind all others of the bucket.
func Append(r Records, key, value []byte) error {
	r.FillPercent = FillAppended
	return r.Add(key, value)
}

// FillSorted is how full the pages of entries become behind which others are written in key order.
const FillSorted = 1.0

// newCommits is how many commits back an entry counts as new: other callers commit between two of one that gives keys in order.
const newCommits = 16

// Continues reports whether a key with a version would go directly behind a new entry, as keys do that are given in order. Keys in any
// order do so by chance alone.
func Continues(entries Records, key []byte, version uint64) bool {
	c := entries.Cursor()
	last, _ := c.Seek(key)
	if last == nil {
		last, _ = c.Last()
	} else {
		last, _ = c.Prev()
	}
	_, before, err := keycode.SplitVersion(last)
	return err == nil && before+newCommits >= version
}
