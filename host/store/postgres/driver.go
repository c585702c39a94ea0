package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/store"
)

// Options configure a driver. The zero value is ready for use.
type Options struct {
	Patience time.Duration // how long work waits for a database that does not answer; 0: 5 s
	Cached   int           // bytes of entries that all engines of the database keep in memory together; 0: 32 MiB
	OwnedFor time.Duration // how long they count after the database said that the space is the engine's; 0: 1 s
}

// Driver is the store.Driver of one space in a database. Of a data directory it uses only a folder for copies of blobs. Its engines
// share connections.
type Driver struct {
	at      location
	options Options
	*connections
}

// connections are those of all drivers of one database.
type connections struct {
	mu      sync.Mutex
	pool    *pgxpool.Pool    // nil: no engine is open
	users   int              // of the pool
	loading map[string]int64 // spaces that are loaded, by their temporary folder
	room    *room            // for what engines keep of their spaces
}

var _ store.Driver = (*Driver)(nil)

// New returns the driver of the space that a URL names, as in postgres://USER@HOST/DATABASE?space=NAME. It does not connect.
func New(url string, o Options) (*Driver, error) {
	at, err := locate(url)
	if err != nil {
		return nil, err
	}
	return &Driver{at: at, options: o, connections: &connections{loading: map[string]int64{}, room: &room{most: cmp.Or(o.Cached, defaultCached), ownedFor: cmp.Or(o.OwnedFor, defaultOwnedFor)}}}, nil
}

// In implements store.Spaced: the drivers share connections.
func (d *Driver) In(space string) (store.Driver, error) {
	if !spaceForm().MatchString(space) || space == d.at.space {
		return nil, fmt.Errorf("the space %.80q of %s: choose another name", space, d.at.public)
	}
	other := *d
	other.at.space, other.at.public = space, d.at.publicOf(space)
	return &other, nil
}

// String tells where the space is, without secrets.
func (d *Driver) String() string { return d.at.public }

func (d *Driver) retryPeriod() time.Duration {
	if d.options.Patience == 0 {
		return 5 * time.Second
	}
	return d.options.Patience
}

// connect returns the connections, with the schema in place. The last release closes them.
func (d *Driver) connect(ctx context.Context) (pool *pgxpool.Pool, release func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pool == nil {
		pool, err := pgxpool.NewWithConfig(ctx, d.at.config.Copy())
		if err != nil {
			return nil, nil, fmt.Errorf("connect to %s: %w", d.at.public, err)
		}
		if err := migrate(ctx, pool); err != nil {
			pool.Close()
			return nil, nil, fmt.Errorf("connect to %s: %w", d.at.public, translate(err))
		}
		d.pool = pool
	}
	d.users++
	return d.pool, sync.OnceFunc(d.disconnect), nil
}

// Connect implements store.Connecting.
func (d *Driver) Connect(ctx context.Context) (release func(), err error) {
	_, release, err = d.connect(ctx)
	return release, err
}

func (d *Driver) disconnect() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.users--; d.users == 0 {
		d.pool.Close()
		d.pool = nil
	}
}

// connected runs work with the connections.
func (d *Driver) connected(ctx context.Context, do func(pool *pgxpool.Pool) error) error {
	pool, release, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer release()
	return do(pool)
}

// existsWithin bounds calls without a context.
const existsWithin = 30 * time.Second

// Exists reports whether there is the space.
func (d *Driver) Exists(dir string) (found bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), existsWithin)
	defer cancel()
	err = d.connected(ctx, func(pool *pgxpool.Pool) error {
		_, err := d.find(ctx, pool, dir)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		found = err == nil
		return err
	})
	return found, err
}

// find returns the id of the space: of that which is being loaded in a temporary folder, or of the one that is named.
func (d *Driver) find(ctx context.Context, pool *pgxpool.Pool, dir string) (space int64, err error) {
	d.mu.Lock()
	space, loading := d.loading[dir]
	d.mu.Unlock()
	if loading {
		return space, nil
	}
	err = pool.QueryRow(ctx, `SELECT space FROM alcove.names WHERE name = $1`, d.at.space).Scan(&space)
	return space, err
}

// Open opens the space, or creates one.
func (d *Driver) Open(ctx context.Context, dir string, o store.Options) (store.Engine, error) {
	var space int64
	err := d.connected(ctx, func(pool *pgxpool.Pool) (err error) {
		space, err = d.find(ctx, pool, dir)
		if errors.Is(err, pgx.ErrNoRows) && !o.ReadOnly {
			space, err = create(ctx, pool, d.at.space)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", d.at.public, translate(err))
	}
	e, err := d.open(ctx, space, dir, o)
	if err != nil {
		return nil, err // a nil interface, not one with a nil *Engine
	}
	return e, nil
}

// create creates an empty space, unless one had its name. If another process does so at once, it returns the one of that process.
func create(ctx context.Context, pool *pgxpool.Pool, name string) (space int64, err error) {
	if err := former(ctx, pool, name); err != nil {
		return 0, err
	}
	history, err := continued(nil, 0)
	if err != nil {
		return 0, err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := tx.QueryRow(ctx, `INSERT INTO alcove.names (name) VALUES ($1) RETURNING space`, name).Scan(&space); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO alcove.spaces (space, history) VALUES ($1, $2)`, space, history)
		return err
	})
	if code(err) == codeUnique {
		err = pool.QueryRow(ctx, `SELECT space FROM alcove.names WHERE name = $1`, name).Scan(&space)
	}
	return space, err
}

// Examine reads a space without opening it, and returns its faults.
func (d *Driver) Examine(dir string) (faults []error, err error) {
	ctx := context.Background()
	err = d.connected(ctx, func(pool *pgxpool.Pool) error {
		space, err := d.find(ctx, pool, dir)
		if err != nil {
			return err
		}
		e := &Engine{pool: pool, space: space, patience: d.retryPeriod(), readOnly: true}
		if err := e.loadHead(ctx); err != nil {
			return err
		}
		c := &check{engine: e, ctx: ctx}
		c.run()
		faults = c.faults
		return nil
	})
	return faults, err
}

// ErrNoRepair means that a damaged space in a database is not repaired: the database has backups and tools of its own.
var ErrNoRepair = errors.New("a space in a database is not repaired: restore the database, or drop the space and restore a backup of it")

// Repair returns an error if the space is damaged.
func (d *Driver) Repair(_ context.Context, dir string, _ store.Repair) (store.Repaired, error) {
	r := store.Repaired{Faults: []string{}, Aside: []store.Aside{}}
	faults, err := d.Examine(dir)
	for _, f := range faults {
		r.Faults = append(r.Faults, f.Error())
	}
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%w (%w)", ErrNoRepair, faults[0])
	}
	return r, err
}
