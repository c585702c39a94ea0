// Package layout is how a space is stored in a bbolt file: its buckets, and the encoding of their keys and records, with their
// checksums. The engine and the salvage of damaged files share it.
package layout

import (
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// The buckets of buckets: one of each branch with those of its kinds, one of each overlay with its entries.
var (
	BucketBranches = []byte("branches") // id → its buckets
	BucketOverlays = []byte("overlays") // id → lineage, filter, count, entries
)

// KeyFormat is the key of the format, which is no record: it has no checksum.
var KeyFormat = []byte("format")

// Branches is the bucket of branches.
func Branches(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket(BucketBranches) }

// Branch is the bucket of a branch; nil when there is none.
func Branch(tx *bbolt.Tx, id store.BranchID) *bbolt.Bucket {
	return tx.Bucket(BucketBranches).Bucket(U64(uint64(id)))
}

// Overlays is the bucket of overlays.
func Overlays(tx *bbolt.Tx) *bbolt.Bucket { return tx.Bucket(BucketOverlays) }

// TopBuckets are the names of the buckets that every file has at its top, sorted.
func TopBuckets() [][]byte {
	return [][]byte{KindBlobs.Bucket(), BucketBranches, KindMeta.Bucket(), BucketOverlays, KindPoints.Bucket(), KindPurged.Bucket(), KindAges.Bucket(), KindRequests.Bucket(), KindTime.Bucket()}
}

// CheckBuckets returns store.ErrDamaged where a bucket of TopBuckets is missing.
func CheckBuckets(tx *bbolt.Tx) error {
	for _, name := range TopBuckets() {
		if tx.Bucket(name) == nil {
			return fmt.Errorf("the bucket %s is missing: %w", name, store.ErrDamaged)
		}
	}
	return nil
}

// Create makes an empty database, in the place of a file of that name. Its commits are not synced: call Sync before it is renamed.
func Create(path string) (*bbolt.DB, error) {
	if err := RemoveFile(path); err != nil {
		return nil, err
	}
	return bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoSync: true})
}

// MakeBuckets makes the buckets of a new database, and writes its format.
func MakeBuckets(tx *bbolt.Tx) error {
	for _, name := range TopBuckets() {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return putFormat(tx)
}

// MakeBranch is the bucket of a branch, made with all its buckets if it is missing.
func MakeBranch(tx *bbolt.Tx, id store.BranchID) (*bbolt.Bucket, error) {
	branch, err := tx.Bucket(BucketBranches).CreateBucketIfNotExists(U64(uint64(id)))
	if err != nil {
		return nil, err
	}
	if branch.Bucket(KindLog.Bucket()) != nil {
		return branch, nil
	}
	for _, k := range BranchKinds() {
		if _, err := branch.CreateBucketIfNotExists(k.Bucket()); err != nil {
			return nil, err
		}
	}
	return branch, branch.SetSequence(uint64(id)) // tells the branch should its name be damaged
}
