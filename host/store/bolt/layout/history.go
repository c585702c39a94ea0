package layout

import (
	"crypto/rand"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

// KeyHistory is the key of the history of a space among the records of KindMeta.
var KeyHistory = []byte("history")

// KeyHome is the key of the mark of the file that the space was served from last, among the records of KindMeta.
var KeyHome = []byte("home")

// ReadHistory is the history of the space; nil for none.
func ReadHistory(tx *bbolt.Tx) (h store.History, err error) {
	data, err := InSpace(tx, KindMeta).Read(KeyHistory)
	if data == nil || err != nil {
		return nil, err
	}
	return decodeHistory(data)
}

// History verifies and decodes the record of a history.
func (t Table) History(key, data []byte) (store.History, error) {
	value, err := t.Open(key, data)
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

// WriteHistory adds an incarnation to a history: this file, which continues the space from a version on.
func WriteHistory(tx *bbolt.Tx, before store.History, from uint64) error {
	data, err := json.Marshal(append(before[:len(before):len(before)], store.Incarnation{ID: rand.Text(), From: from}))
	if err != nil {
		return err
	}
	return InSpace(tx, KindMeta).Write(KeyHistory, data)
}
