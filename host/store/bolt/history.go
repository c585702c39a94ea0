package bolt

import (
	"context"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// History returns the incarnations that wrote the space.
func (e *Engine) History(ctx context.Context) (h store.History, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		h, err = layout.ReadHistory(tx)
		return err
	})
	return h, err
}

// HoldVersions prevents drops of old versions until release is called. release is idempotent.
func (e *Engine) HoldVersions(ctx context.Context) (release func(), err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return e.holds.Hold(ctx)
}

// beginHistory starts a history in a file without one.
func beginHistory(tx *bbolt.Tx) error {
	if before, err := layout.InSpace(tx, layout.KindMeta).Read(layout.KeyHistory); before != nil || err != nil {
		return err
	}
	return layout.WriteHistory(tx, nil, 0)
}
