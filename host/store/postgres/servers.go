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

// servers is the store.Catalog of a database. Its connections are its own: a lease is renewed however busy those of the spaces are.
type servers struct {
	pool    *pgxpool.Pool
	renewal *pgxpool.Pool // one connection, for renewals alone
	release func()        // of the driver's connections
}

var (
	_ store.Shared  = (*Driver)(nil)
	_ store.Catalog = (*servers)(nil)
)

// leaseConnections is how many connections the table of servers has to look, and to take and release leases.
const leaseConnections = 3

// Servers implements store.Shared.
func (d *Driver) Servers(ctx context.Context) (store.Catalog, error) {
	_, release, err := d.connect(ctx) // the schema is in place
	if err != nil {
		return nil, err
	}
	pool, err := d.leasing(ctx, leaseConnections)
	if err != nil {
		release()
		return nil, err
	}
	renewal, err := d.leasing(ctx, 1)
	if err != nil {
		pool.Close()
		release()
		return nil, err
	}
	return &servers{pool, renewal, release}, nil
}

// leasing returns connections for the table of servers.
func (d *Driver) leasing(ctx context.Context, most int32) (*pgxpool.Pool, error) {
	config := d.at.config.Copy()
	config.MaxConns = most
	config.MinConns = 0
	config.ConnConfig.RuntimeParams["application_name"] = "alcove-lease"
	config.ConnConfig.RuntimeParams["idle_in_transaction_session_timeout"] = heldIdle // or a server that is frozen holds the row of another
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", d.at.public, err)
	}
	return pool, nil
}

// Space implements store.Shared.
func (d *Driver) Space() string { return d.at.space }

// Close closes the connections.
func (s *servers) Close() error {
	s.renewal.Close()
	s.pool.Close()
	s.release()
	return nil
}

const renewSQL = `
INSERT INTO alcove.servers (server, address, version, draining, started, expires)
VALUES ($1, $2, $3, $4, $5, clock_timestamp() + $6::bigint * interval '1 microsecond')
ON CONFLICT (server) DO UPDATE SET draining = excluded.draining, expires = excluded.expires`

// Renew implements store.Servers. It is one round trip and one transaction. The leases are read once the server's row is held: who takes one
// over holds that row, too.
func (s *servers) Renew(ctx context.Context, o store.Server, term time.Duration) (t store.Table, err error) {
	var b pgx.Batch
	b.Queue(renewSQL, o.ID, o.Address, o.Version, o.Draining, o.Started, term.Microseconds())
	queueTable(&b, &t)
	if err := s.renewal.SendBatch(ctx, &b).Close(); err != nil {
		return store.Table{}, fmt.Errorf("renew the leases of this server: %w", translate(err))
	}
	return t, nil
}

// queueTable has a batch read the table into t.
func queueTable(b *pgx.Batch, t *store.Table) {
	b.Queue(serversSQL).Query(func(rows pgx.Rows) (err error) {
		t.Servers, err = pgx.CollectRows(rows, serverOf)
		return err
	})
	b.Queue(leasesSQL + ` ORDER BY n.name`).Query(func(rows pgx.Rows) (err error) {
		t.Leases, err = pgx.CollectRows(rows, leaseOf)
		return err
	})
}

// Leave implements store.Servers.
func (s *servers) Leave(ctx context.Context, id string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM alcove.leases WHERE server = $1`, id); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM alcove.servers WHERE server = $1 OR expires < clock_timestamp() - interval '1 day'`, id)
		return err
	})
}

// Lead implements store.Servers.
func (s *servers) Lead(ctx context.Context, name, id string) (l store.Lease, err error) {
	space, err := s.spaceOf(ctx, name)
	if err == nil {
		err = departed(ctx, s.pool, space, "the space "+name)
	}
	for range mostTries {
		if err == nil {
			err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error { return lead(ctx, tx, space, id) })
		}
		if err == nil {
			l, err = s.lease(ctx, space)
		}
		if err == nil && l.Space != name { // it was renamed meanwhile
			err = errors.Join(s.Release(ctx, l.Space, id), &store.FormerError{Name: name, To: l.Space})
		}
		if !errors.Is(err, pgx.ErrNoRows) { // it was not released meanwhile
			break
		}
		err = nil
	}
	if err != nil {
		return l, fmt.Errorf("lead the space %s: %w", name, translate(err))
	}
	return l, nil
}

// Create implements store.Servers.
func (s *servers) Create(ctx context.Context, name string) error {
	if _, err := s.spaceOf(ctx, name); err != nil {
		return fmt.Errorf("create the space %s: %w", name, translate(err))
	}
	return nil
}

// spaceOf returns the id of a space, which it creates if need be.
func (s *servers) spaceOf(ctx context.Context, name string) (space int64, err error) {
	if err := checkName(name); err != nil {
		return 0, err
	}
	err = s.pool.QueryRow(ctx, `SELECT space FROM alcove.names WHERE name = $1`, name).Scan(&space)
	if errors.Is(err, pgx.ErrNoRows) {
		return create(ctx, s.pool, name)
	}
	return space, err
}

// lead takes a lease that nobody has, or whose server is gone. It holds the row of that server, so that it cannot renew meanwhile.
func lead(ctx context.Context, tx pgx.Tx, space int64, id string) error {
	done, err := tx.Exec(ctx, `INSERT INTO alcove.leases (space, server, since) VALUES ($1, $2, clock_timestamp()) ON CONFLICT (space) DO NOTHING`, space, id)
	if err != nil || done.RowsAffected() == 1 {
		return err
	}
	var holder string
	err = tx.QueryRow(ctx, `SELECT server FROM alcove.leases WHERE space = $1 FOR UPDATE`, space).Scan(&holder)
	if errors.Is(err, pgx.ErrNoRows) { // released meanwhile
		_, err = tx.Exec(ctx, `INSERT INTO alcove.leases (space, server, since) VALUES ($1, $2, clock_timestamp()) ON CONFLICT (space) DO NOTHING`, space, id)
		return err
	}
	if err != nil || holder == id {
		return err
	}
	var running bool
	err = tx.QueryRow(ctx, `SELECT expires > clock_timestamp() FROM alcove.servers WHERE server = $1 FOR UPDATE`, holder).Scan(&running)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) || running {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE alcove.leases SET server = $2, since = clock_timestamp() WHERE space = $1`, space, id)
	return err
}

const leasesSQL = `
SELECT n.name, l.server, coalesce(s.address, ''), coalesce(s.expires <= clock_timestamp(), true), l.since, p.epoch, p.head, p.identity
FROM alcove.leases l JOIN alcove.names n USING (space) JOIN alcove.spaces p USING (space) LEFT JOIN alcove.servers s ON s.server = l.server`

func (s *servers) lease(ctx context.Context, space int64) (store.Lease, error) {
	rows, err := s.pool.Query(ctx, leasesSQL+` WHERE l.space = $1`, space)
	if err != nil {
		return store.Lease{}, err
	}
	return pgx.CollectExactlyOneRow(rows, leaseOf)
}

func leaseOf(row pgx.CollectableRow) (l store.Lease, err error) {
	var epoch, head int64
	err = row.Scan(&l.Space, &l.Server, &l.Address, &l.Gone, &l.Since, &epoch, &head, &l.Identity)
	l.Epoch, l.Head = uint64(epoch), uint64(head)
	return l, err
}

// Release implements store.Servers.
func (s *servers) Release(ctx context.Context, name, id string) error {
	_, err := s.pool.Exec(ctx, `DELETE FROM alcove.leases l USING alcove.names n WHERE n.space = l.space AND n.name = $1 AND l.server = $2`, name, id)
	if err != nil {
		return fmt.Errorf("release the space %s: %w", name, translate(err))
	}
	return nil
}

const serversSQL = `
SELECT server, address, version, draining, started, (extract(epoch FROM expires - clock_timestamp()) * 1000000)::bigint
FROM alcove.servers WHERE expires > clock_timestamp() - interval '1 minute' ORDER BY started, server`

// List implements store.Servers.
func (s *servers) List(ctx context.Context) (t store.Table, err error) {
	var b pgx.Batch
	queueTable(&b, &t)
	if err := s.pool.SendBatch(ctx, &b).Close(); err != nil {
		return store.Table{}, fmt.Errorf("list the servers: %w", translate(err))
	}
	return t, nil
}

func serverOf(row pgx.CollectableRow) (s store.Server, err error) {
	var left int64
	err = row.Scan(&s.ID, &s.Address, &s.Version, &s.Draining, &s.Started, &left)
	s.Left = time.Duration(left) * time.Microsecond
	return s, err
}
