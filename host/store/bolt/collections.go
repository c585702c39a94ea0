package bolt

import (
	"bytes"
	"context"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
)

var _ store.Collecting = (*Engine)(nil)

// Collections seeks from collection to collection and reads one key of each.
func (e *Engine) Collections(ctx context.Context, b store.BranchID) (list []store.Key, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		entries := newReader(tx).bucket(block{segment: store.Segment{Branch: b}})
		if entries == nil {
			return nil
		}
		cursor := entries.Cursor()
		for key, _ := cursor.First(); key != nil; {
			namespace, rest, ok := bytes.Cut(key, []byte{0})
			collection, _, complete := bytes.Cut(rest, []byte{0})
			if !ok || !complete {
				return fmt.Errorf("key %x has no collection: %w", key, store.ErrDamaged)
			}
			list = append(list, store.Key{Namespace: string(namespace), Collection: string(collection)})
			beyond := append(bytes.Clone(key[:len(namespace)+1+len(collection)]), 1) // every name follows a zero
			key, _ = cursor.Seek(beyond)
		}
		return nil
	})
	return list, err
}
