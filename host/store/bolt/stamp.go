package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// stamped is work with the stamp of its tree. Every write transaction on the engine's file runs through it: a power failure may leave
// the meta page of any of them half written, and its tree is then found by its stamp. The clock keeps stamps above those of attempts
// that failed in an earlier process, of which nothing in the tree tells.
func (e *Engine) stamped(work func(tx *bbolt.Tx) error) func(tx *bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		if err := work(tx); err != nil {
			return err
		}
		e.lastStamp = max(layout.ReadStamp(tx)+1, e.lastStamp+1, uint64(max(e.now().UnixMicro(), 0)))
		return layout.SetStamp(tx, e.lastStamp)
	}
}
