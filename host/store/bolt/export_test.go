package bolt

import (
	"time"

	"go.etcd.io/bbolt"
)

// Looks are how often checks looked at the file, and for how long at most.
func Looks(e *Engine) (n int64, longest time.Duration) {
	return e.written.looks.Load(), time.Duration(e.written.longestLook.Load())
}

// Overlays counts the overlays in the file and those in use.
func Overlays(e *Engine) (inFile, inUse int, err error) {
	err = e.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketOverlays).ForEachBucket(func([]byte) error { inFile++; return nil })
	})
	e.mu.RLock()
	defer e.mu.RUnlock()
	return inFile, len(e.overlays), err
}

// TurnWait is how long a dump lets commits go first.
const TurnWait = turnWait
