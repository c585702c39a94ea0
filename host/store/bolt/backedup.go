package bolt

import (
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

var keyBackup = []byte("backup")

var _ store.BackupNoter = (*Engine)(nil)

// NoteBackup records a complete and synced backup.
func (e *Engine) NoteBackup(ctx context.Context, b store.BackedUp) error {
	data, err := json.Marshal(b)
	if err == nil {
		err = e.update(ctx, func(tx *bbolt.Tx) error { return layout.InSpace(tx, layout.KindMeta).Write(keyBackup, data) })
	}
	if err != nil {
		return fmt.Errorf("record the backup: %w", err)
	}
	return nil
}

// readBackup returns the record of the last backup; zero if there is none.
func readBackup(tx *bbolt.Tx) (b store.BackedUp, err error) {
	data, err := layout.InSpace(tx, layout.KindMeta).Read(keyBackup)
	if data == nil || err != nil {
		return b, err
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return b, fmt.Errorf("decode the record of the last backup: %w", err)
	}
	return b, nil
}
