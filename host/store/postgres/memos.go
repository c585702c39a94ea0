package postgres

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

var _ store.Remembering = (*Engine)(nil)

// Memos yields the requests after a point, the marks of purges, and the note of the last backup.
func (e *Engine) Memos(ctx context.Context, since store.Point, yield func(store.Memo) error) error {
	var list []store.Memo
	err := e.read(ctx, func(ctx context.Context) (err error) {
		list, err = e.memos(ctx, since)
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

func (e *Engine) memos(ctx context.Context, since store.Point) (list []store.Memo, err error) {
	err = e.each(ctx, `SELECT request, digest, version, micros, sequences FROM alcove.requests WHERE space = $1 AND micros > $2`, []any{e.space, microsOf(since)}, func(rows pgx.Rows) error {
		var key, digest []byte
		var version, micros int64
		var sequences string
		if err := rows.Scan(&key, &digest, &version, &micros, &sequences); err != nil {
			return err
		}
		was, err := decodeRequest(version, micros, digest, sequences)
		if err != nil || len(key) != 32 {
			return fmt.Errorf("decode a request: %w", err)
		}
		list = append(list, store.Memo{Request: &store.Requested{Key: [32]byte(key), Digest: was.digest, Committed: was.done}})
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = e.each(ctx, `SELECT branch, key, version FROM alcove.purged WHERE space = $1`, []any{e.space}, func(rows pgx.Rows) error {
		p, err := purgedOf(rows)
		list = append(list, store.Memo{Purged: &p})
		return err
	})
	if err != nil {
		return nil, err
	}
	var noted *string
	if err := e.pool.QueryRow(ctx, `SELECT backup FROM alcove.spaces WHERE space = $1`, e.space).Scan(&noted); err != nil || noted == nil {
		return list, err
	}
	var b store.BackedUp
	if err := json.Unmarshal([]byte(*noted), &b); err != nil {
		return nil, fmt.Errorf("decode the record of the last backup: %w", err)
	}
	return append(list, store.Memo{Backup: &b}), nil
}

func purgedOf(rows pgx.Rows) (p store.PurgedVersion, err error) {
	var branch, version int64
	var key []byte
	if err := rows.Scan(&branch, &key, &version); err != nil {
		return p, err
	}
	p.Version = uint64(version)
	if branch == notesBranch {
		p.Note = true
		return p, nil
	}
	p.Branch = store.BranchID(branch)
	p.Key, err = keycode.Decode(key)
	return p, err
}
