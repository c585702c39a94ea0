package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/store"
)

var _ store.Documented = (*Driver)(nil)

// Documents implements store.Documented.
func (d *Driver) Documents(ctx context.Context, dir string) (list []store.Document, err error) {
	err = d.withSpace(ctx, dir, func(pool *pgxpool.Pool, space int64) error {
		rows, err := pool.Query(ctx, `SELECT name, revision, data IS NULL FROM alcove.documents WHERE space = $1 ORDER BY name`, space)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (o store.Document, err error) {
			var revision int64
			err = row.Scan(&o.Name, &revision, &o.Removed)
			o.Revision = uint64(revision)
			return o, err
		})
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) { // there is no space
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the documents of %s: %w", d.at.public, translate(err))
	}
	return list, nil
}

// Document implements store.Documented.
func (d *Driver) Document(ctx context.Context, dir, name string) (o store.Document, err error) {
	o.Name = name
	err = d.withSpace(ctx, dir, func(pool *pgxpool.Pool, space int64) error {
		var revision int64
		err := pool.QueryRow(ctx, `SELECT revision, data IS NULL, data FROM alcove.documents WHERE space = $1 AND name = $2`, space, name).Scan(&revision, &o.Removed, &o.Data)
		o.Revision = uint64(revision)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.ErrNotFound
	}
	if err != nil {
		return o, fmt.Errorf("read the document %s of %s: %w", name, d.at.public, translate(err))
	}
	return o, nil
}

// withSpace runs work with the connections and the id of the space. The error wraps pgx.ErrNoRows if there is none.
func (d *Driver) withSpace(ctx context.Context, dir string, do func(pool *pgxpool.Pool, space int64) error) error {
	return d.connected(ctx, func(pool *pgxpool.Pool) error {
		space, err := d.find(ctx, pool, dir)
		if err != nil {
			return err
		}
		return do(pool, space)
	})
}

const putDocumentSQL = `
INSERT INTO alcove.documents (space, name, revision, data)
SELECT $1, $2, coalesce((SELECT max(revision) FROM alcove.documents WHERE space = $1), 0) + 1, $4
WHERE coalesce((SELECT revision FROM alcove.documents WHERE space = $1 AND name = $2), 0) = $3
ON CONFLICT (space, name) DO UPDATE SET revision = excluded.revision, data = excluded.data
RETURNING revision`

const sameDocumentSQL = `SELECT revision FROM alcove.documents WHERE space = $1 AND name = $2 AND data IS NOT DISTINCT FROM $3::bytea`

// PutDocument implements store.Documenting. As any write, it needs the space's epoch.
func (e *Engine) PutDocument(ctx context.Context, d store.Document) (revision uint64, err error) {
	if len(d.Data) > store.DocumentLimit {
		return 0, fmt.Errorf("keep the document %s: it has %d bytes: at most %d are allowed", d.Name, len(d.Data), store.DocumentLimit)
	}
	var data []byte
	if !d.Removed {
		data = append([]byte{}, d.Data...)
	}
	err = e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		var next int64
		err := tx.QueryRow(ctx, putDocumentSQL, e.space, d.Name, number(d.Revision), data).Scan(&next)
		if errors.Is(err, pgx.ErrNoRows) { // done, perhaps, by the same work before its answer was lost
			err = tx.QueryRow(ctx, sameDocumentSQL, e.space, d.Name, data).Scan(&next)
		}
		revision = uint64(next)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		err = store.ErrConflict
	}
	if err != nil {
		return 0, fmt.Errorf("keep the document %s: %w", d.Name, err)
	}
	return revision, nil
}
