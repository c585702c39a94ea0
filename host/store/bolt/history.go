package bolt

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

var keyHistory = []byte("history")

// History tells which directories wrote the space.
func (e *Engine) History(ctx context.Context) (h store.History, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		h, err = readHistory(tx)
		return err
	})
	return h, err
}

func readHistory(tx *bbolt.Tx) (h store.History, err error) {
	data, err := top(tx, kindMeta).get(keyHistory)
	if data == nil || err != nil {
		return nil, err
	}
	return decodeHistory(data)
}

func decodeHistory(data []byte) (h store.History, err error) {
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("decode the space's history: %w", err)
	}
	return h, nil
}

// beginHistory gives a file that has no history one of its own.
func beginHistory(tx *bbolt.Tx) error {
	if before, err := top(tx, kindMeta).get(keyHistory); before != nil || err != nil {
		return err
	}
	return writeHistory(tx, nil, 0)
}

// writeHistory says that this file goes on from a version of a space with a history.
func writeHistory(tx *bbolt.Tx, before store.History, from uint64) error {
	data, err := json.Marshal(append(before[:len(before):len(before)], store.Incarnation{ID: rand.Text(), From: from}))
	if err != nil {
		return err
	}
	return top(tx, kindMeta).put(keyHistory, data)
}
