package bolt

import (
	"fmt"

	"go.etcd.io/bbolt"
)

// format is the version of the layout that this program writes. It opens older ones, which it migrates, and no newer one.
//
//	1  the first
//	2  knows what was purged: a program that does not would make increments that bring it back
const format = 2

// migrations lead from each older format to the next. They run in one transaction, under the exclusive lock of the
// directory: a crash leaves the old format or the newest.
func migrations() map[uint64]func(tx *bbolt.Tx) error {
	return map[uint64]func(tx *bbolt.Tx) error{
		1: func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists(bucketPurged)
			return err
		},
	}
}

// migrate brings a file to the format of this program. A new file gets it at once.
func (e *Engine) migrate(tx *bbolt.Tx) error {
	meta, err := tx.CreateBucketIfNotExists(bucketMeta)
	if err != nil {
		return err
	}
	stored := meta.Get(keyFormat)
	if stored == nil {
		return meta.Put(keyFormat, u64(format))
	}
	found := fromU64(stored)
	if found > format {
		return fmt.Errorf("the file has format %d and this program knows %d: use a newer program", found, format)
	}
	for ; found < format; found++ {
		step := migrations()[found]
		if step == nil {
			return fmt.Errorf("the file has format %d, which no program of ours wrote: restore a backup", found)
		}
		if err := step(tx); err != nil {
			return fmt.Errorf("migrate from format %d: %w", found, err)
		}
		if err := e.reach(Migrated); err != nil {
			return err
		}
		e.logger.Info("the store is migrated", "from", found, "to", found+1)
	}
	return meta.Put(keyFormat, u64(format))
}
