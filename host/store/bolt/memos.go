package bolt

import (
	"context"
	"encoding/json"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

var _ store.Remembering = (*Engine)(nil)

// Memos yields the requests after a point, the marks of purges, and the note of the last backup.
func (e *Engine) Memos(ctx context.Context, since store.Point, yield func(store.Memo) error) error {
	var list []store.Memo
	err := e.read(ctx, func(tx *bbolt.Tx) (err error) {
		list, err = memosOf(tx, since)
		return err
	})
	if err != nil {
		return fmt.Errorf("list what the space remembers: %w", err)
	}
	for _, m := range list {
		if err := yield(m); err != nil {
			return err
		}
	}
	return nil
}

func memosOf(tx *bbolt.Tx, since store.Point) (list []store.Memo, err error) {
	if list, err = requestMemos(tx, since); err != nil {
		return nil, err
	}
	purged, err := layout.ReadPurged(tx)
	if err != nil {
		return nil, err
	}
	for id, keys := range purged {
		for _, key := range keys {
			p, err := purgedVersion(id, key)
			if err != nil {
				return nil, err
			}
			list = append(list, store.Memo{Purged: &p})
		}
	}
	if b, err := readBackup(tx); err != nil || b.Version != 0 {
		list = append(list, store.Memo{Backup: &b})
		return list, err
	}
	return list, nil
}

func purgedVersion(id store.BranchID, key []byte) (p store.PurgedVersion, err error) {
	if id == layout.PurgedNotes {
		return store.PurgedVersion{Note: true, Version: layout.FromU64(key)}, nil
	}
	raw, version, err := keycode.SplitVersion(key)
	if err == nil {
		p.Key, err = keycode.Decode(raw)
	}
	p.Branch, p.Version = id, version
	return p, err
}

// requestMemos are the requests that were used last after a point.
func requestMemos(tx *bbolt.Tx, since store.Point) (list []store.Memo, err error) {
	after := int64(0)
	if since.Version != 0 {
		after = since.Time.UnixMicro()
	}
	requests := layout.InSpace(tx, layout.KindRequests)
	c := layout.InSpace(tx, layout.KindAges).Cursor()
	for key, _ := c.Seek(layout.U64(uint64(after) + 1)); key != nil; key, _ = c.Next() {
		micros, request := layout.SplitAgeKey(key)
		data, err := requests.Read(request)
		if err != nil {
			return nil, err
		}
		if data == nil || !layout.LastUsed(data, micros) {
			continue // it was used again
		}
		if list, err = appendRequest(list, request, data); err != nil {
			return nil, err
		}
	}
	tails, err := layout.Tails(tx, since.Version)
	if err != nil {
		return nil, err
	}
	for _, p := range tails {
		if p.Request == nil {
			continue
		}
		if list, err = appendRequest(list, p.Request, p.Outcome); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func appendRequest(list []store.Memo, key, data []byte) ([]store.Memo, error) {
	var was layout.Request
	if err := json.Unmarshal(data, &was); err != nil || len(was.Digest) != 32 {
		return nil, fmt.Errorf("decode a request: %w", err)
	}
	r := store.Requested{Key: layout.RequestIdentity(key), Digest: [32]byte(was.Digest)}
	r.Committed = store.Committed{Point: store.Point{Version: was.Version, Time: instant(was.Micros)}, Sequences: was.Sequences}
	return append(list, store.Memo{Request: &r}), nil
}
