package layout

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

var KeyHistory = []byte("history")

func ReadHistory(tx *bbolt.Tx) (h store.History, err error) {
	data, err := InSpace(tx, KindMeta).Read(KeyHistory)
	if data == nil || err != nil {
		return nil, err
	}
	return decodeHistory(data)
}

// History is the record of a history.
func (p Table) History(key, data []byte) (store.History, error) {
	value, err := p.Open(key, data)
	if err != nil {
		return nil, err
	}
	return decodeHistory(value)
}

func decodeHistory(data []byte) (h store.History, err error) {
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("decode the space's history: %w", err)
	}
	return h, nil
}

// WriteHistory says that this file goes on from a version of a space with a history.
func WriteHistory(tx *bbolt.Tx, before store.History, from uint64) error {
	data, err := json.Marshal(append(before[:len(before):len(before)], store.Incarnation{ID: rand.Text(), From: from}))
	if err != nil {
		return err
	}
	return InSpace(tx, KindMeta).Write(KeyHistory, data)
}
