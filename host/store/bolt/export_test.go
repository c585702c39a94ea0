package bolt

import "go.etcd.io/bbolt"

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
