package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/store"
)

const (
	deleted      = "/deleted" // behind the name of a space that was deleted, before its id; and its "departed"
	erasedAtOnce = 5_000      // rows in one transaction
	erasedParts  = 50         // parts of blobs, of 1 MiB each
	readsEnd     = 2 * time.Second
)

// Add implements store.Catalog.
func (s *servers) Add(ctx context.Context, name string) error {
	err := checkName(name)
	if err == nil {
		err = s.pool.QueryRow(ctx, `SELECT name FROM alcove.names WHERE name = $1`, name).Scan(&name)
	}
	switch {
	case err == nil:
		err = store.ErrExists
	case errors.Is(err, pgx.ErrNoRows):
		if _, err = s.pool.Exec(ctx, `DELETE FROM alcove.former_names WHERE name = $1`, name); err == nil {
			_, err = create(ctx, s.pool, name)
		}
	}
	if err != nil {
		return fmt.Errorf("create the space %s: %w", name, translate(err))
	}
	return nil
}

func checkName(name string) error {
	if !spaceForm().MatchString(name) {
		return fmt.Errorf("%.80q cannot be the name of a space", name)
	}
	return nil
}

// former returns a store.FormerError if a space had the name.
func former(ctx context.Context, pool *pgxpool.Pool, name string) error {
	was := &store.FormerError{Name: name}
	err := pool.QueryRow(ctx, `
SELECT coalesce(n.name, '') FROM alcove.former_names f LEFT JOIN alcove.names n ON n.space = f.space AND NOT f.deleted
WHERE f.name = $1`, name).Scan(&was.To)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return errors.Join(err, was)
}

// Former implements store.Catalog.
func (s *servers) Former(ctx context.Context, name string) error { return former(ctx, s.pool, name) }

// held returns the id of a space whose row a transaction holds from then on, if no other server than the given one leads it.
func held(ctx context.Context, tx pgx.Tx, name, server string) (space int64, err error) {
	var gone, to string
	err = tx.QueryRow(ctx, `SELECT s.space, s.departed, s.moved_to FROM alcove.names n JOIN alcove.spaces s USING (space) WHERE n.name = $1 FOR UPDATE`, name).Scan(&space, &gone, &to)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, store.ErrNotFound
	}
	if err == nil && gone != "" {
		err = &store.DepartedError{Space: "the space " + name, To: to}
	}
	if err != nil {
		return 0, err
	}
	var holder string
	err = tx.QueryRow(ctx, `SELECT server FROM alcove.leases WHERE space = $1 FOR UPDATE`, space).Scan(&holder)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && holder == server {
		return space, nil
	}
	led := &store.LedError{Space: "the space " + name}
	if err == nil {
		err = tx.QueryRow(ctx, `SELECT address FROM alcove.servers WHERE server = $1 AND expires > clock_timestamp() FOR UPDATE`, holder).Scan(&led.Address)
	}
	if errors.Is(err, pgx.ErrNoRows) { // it is gone, and cannot renew meanwhile
		return space, nil
	}
	return 0, errors.Join(err, led)
}

// retire ends the lead of a space, fences what has it open, and records that it has its name no longer.
func retire(ctx context.Context, tx pgx.Tx, space int64, name string) error {
	var b pgx.Batch
	b.Queue(`UPDATE alcove.spaces SET epoch = epoch + 1, owner = '' WHERE space = $1`, space)
	b.Queue(`DELETE FROM alcove.leases WHERE space = $1`, space)
	b.Queue(`INSERT INTO alcove.former_names (name, space, deleted, since) VALUES ($2, $1, false, clock_timestamp())
ON CONFLICT (name) DO UPDATE SET space = excluded.space, deleted = false, since = excluded.since`, space, name)
	return tx.SendBatch(ctx, &b).Close()
}

// Rename implements store.Catalog.
func (s *servers) Rename(ctx context.Context, name, to, server string) error {
	err := checkName(to)
	if err == nil {
		err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			space, err := held(ctx, tx, name, server)
			if err == nil {
				err = retire(ctx, tx, space, name)
			}
			if err == nil {
				_, err = tx.Exec(ctx, `DELETE FROM alcove.former_names WHERE name = $1`, to)
			}
			if err == nil {
				_, err = tx.Exec(ctx, `UPDATE alcove.names SET name = $2 WHERE space = $1`, space, to)
			}
			return err
		})
	}
	if code(err) == codeUnique {
		err = store.ErrExists
	}
	return s.named(ctx, "rename", name, err)
}

// named is the error of what was to be done with a space.
func (s *servers) named(ctx context.Context, what, name string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		if was := former(ctx, s.pool, name); was != nil {
			err = was
		}
	}
	if err != nil {
		return fmt.Errorf("%s the space %s: %w", what, name, translate(err))
	}
	return nil
}

// Delete implements store.Catalog. From its transaction on there is no such space. Its rows go after the reads that had begun.
func (s *servers) Delete(ctx context.Context, name, server string) error {
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		space, err := held(ctx, tx, name, server)
		if err == nil {
			err = retire(ctx, tx, space, name)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE alcove.former_names SET deleted = true, since = clock_timestamp() WHERE space = $1`, space)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE alcove.spaces SET departed = $2 WHERE space = $1`, space, deleted)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE alcove.names SET name = name || $2 || space WHERE space = $1`, space, deleted)
		}
		return err
	})
	return s.named(ctx, "delete", name, err)
}

// keptFormer is for how long the name of a deleted space is known.
const keptFormer = 90 * 24 * time.Hour

// Sweep implements store.Catalog.
func (s *servers) Sweep(ctx context.Context) (left bool, err error) {
	rows, err := s.pool.Query(ctx, `
SELECT n.space, EXISTS (SELECT 1 FROM alcove.former_names f WHERE f.space = n.space AND f.since > clock_timestamp() - $2::bigint * interval '1 microsecond')
FROM alcove.names n WHERE position($1 IN n.name) > 0`, deleted, readsEnd.Microseconds())
	if err == nil {
		left, err = s.eraseAll(ctx, rows)
	}
	if err == nil {
		_, err = s.pool.Exec(ctx, `DELETE FROM alcove.former_names WHERE deleted AND since < clock_timestamp() - $1::bigint * interval '1 microsecond'`, keptFormer.Microseconds())
	}
	if err != nil {
		return false, fmt.Errorf("erase deleted spaces: %w", translate(err))
	}
	return left, nil
}

func (s *servers) eraseAll(ctx context.Context, rows pgx.Rows) (left bool, err error) {
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
		Space int64
		Waits bool
	}])
	for _, o := range list {
		if left = left || o.Waits; err == nil && !o.Waits {
			err = s.erase(ctx, o.Space)
		}
	}
	return left, err
}

// erasures are the tables of a space whose rows may be many, and what identifies a row.
var erasures = [...]struct {
	table, key string
	most       int
}{
	{"points", "version", erasedAtOnce}, {"requests", "request", erasedAtOnce}, {"entries", "branch, key, version", erasedAtOnce},
	{"counters", "branch, key, version", erasedAtOnce}, {"purged", "branch, key, version", erasedAtOnce}, {"blob_parts", "digest, part", erasedParts},
}

// erase removes the rows of a deleted space, some in each transaction, and its name at the end.
func (s *servers) erase(ctx context.Context, space int64) error {
	for _, e := range erasures {
		for erased := int64(e.most); erased == int64(e.most); {
			done, err := s.pool.Exec(ctx, fmt.Sprintf(`DELETE FROM alcove.%[1]s WHERE space = $1 AND (%[2]s) IN (SELECT %[2]s FROM alcove.%[1]s WHERE space = $1 LIMIT %[3]d)`, e.table, e.key, e.most), space)
			if err != nil {
				return err
			}
			erased = done.RowsAffected()
		}
	}
	return drop(ctx, s.pool, space)
}

// Identify implements store.Catalog.
func (s *servers) Identify(ctx context.Context, names, identities []string) (list []store.Named, err error) {
	rows, err := s.pool.Query(ctx, `
SELECT n.name, s.identity FROM alcove.names n JOIN alcove.spaces s USING (space)
WHERE (n.name = ANY($1::text[]) OR s.identity = ANY($2::text[])) AND position('/' IN n.name) = 0`, append([]string{}, names...), append([]string{}, identities...))
	if err == nil {
		list, err = pgx.CollectRows(rows, pgx.RowToStructByPos[store.Named])
	}
	if err != nil {
		return nil, fmt.Errorf("identify spaces: %w", translate(err))
	}
	return list, nil
}

const listSQL = `
SELECT n.name, s.head, s.micros, coalesce(v.address, ''), s.moved_to%s
FROM alcove.names n JOIN alcove.spaces s USING (space)
LEFT JOIN alcove.leases l USING (space) LEFT JOIN alcove.servers v ON v.server = l.server AND v.expires > clock_timestamp()
WHERE position('/' IN n.name) = 0 ORDER BY n.name`

// bytesSQL is the bytes of keys, values and blobs. The function needs no value to be read.
const bytesSQL = `,
coalesce((SELECT sum(octet_length(e.key) + octet_length(e.value)) FROM alcove.entries e WHERE e.space = s.space), 0)::bigint
+ coalesce((SELECT sum(b.size) FROM alcove.blobs b WHERE b.space = s.space), 0)::bigint`

// Spaces implements store.Catalog. If their sizes take too long, it returns the spaces without.
func (s *servers) Spaces(ctx context.Context) (list []store.ListedSpace, err error) {
	list, err = s.spaces(ctx, bytesSQL)
	if code(err) == codeCanceled {
		list, err = s.spaces(ctx, `, -1::bigint`)
	}
	if err != nil {
		return nil, fmt.Errorf("list the spaces: %w", translate(err))
	}
	return list, nil
}

func (s *servers) spaces(ctx context.Context, bytes string) ([]store.ListedSpace, error) {
	rows, err := s.pool.Query(ctx, fmt.Sprintf(listSQL, bytes))
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (o store.ListedSpace, err error) {
		var head, micros int64
		err = row.Scan(&o.Name, &head, &micros, &o.Leader, &o.MovedTo, &o.Bytes)
		o.Version, o.Written = uint64(head), pointOf(head, micros).Time
		return o, err
	})
}
