package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

// migrations are the schema's steps, in order. A released one never changes.
//
//go:embed migrations/*.sql
var migrations embed.FS

const versions = "alcove.schema_versions" // the table of applied migrations

// migrate creates the schema, or updates it. Servers that do so at once wait for each other.
func migrate(ctx context.Context, pool *pgxpool.Pool) (err error) {
	at, err := schemaVersion(ctx, pool)
	if err != nil {
		return err
	}
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return err
	}
	if at < 0 {
		if _, err := pool.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS alcove`); err != nil && !isDuplicate(err) {
			return fmt.Errorf("create the schema alcove: this role needs the right to create in the database: %w", err)
		}
	}
	p, err := goose.NewProvider(goose.DialectPostgres, db, steps, goose.WithTableName(versions), goose.WithSessionLocker(locker), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	known := p.ListSources()
	newest := known[len(known)-1].Version
	switch {
	case at > newest:
		return fmt.Errorf("the schema has version %d, and this program knows up to %d: use the newer one that made it", at, newest)
	case at == newest:
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("update the schema: %w", err)
	}
	return nil
}

// schemaVersion returns the version of the schema; -1: there is none.
func schemaVersion(ctx context.Context, pool *pgxpool.Pool) (version int64, err error) {
	there := false
	if err := pool.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, versions).Scan(&there); err != nil || !there {
		return -1, err
	}
	err = pool.QueryRow(ctx, `SELECT coalesce(max(version_id), 0) FROM `+versions+` WHERE is_applied`).Scan(&version)
	return version, err
}
