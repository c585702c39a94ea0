package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const (
	moving = "/moving" // behind the name of a space that is being moved here
	away   = "/moved"  // behind that of one that was moved away, while its name is taken again
)

var (
	_ store.Movable   = (*Driver)(nil)
	_ store.Deciding  = (*Driver)(nil)
	_ store.Staged    = (*stagedCopy)(nil)
	_ store.Departing = (*Engine)(nil)
)

// staged is what a loader of a staged copy knows. On a nil one nothing was done before.
type staged struct {
	digests map[string]bool // of blobs that were verified
	memos   []store.Memo    // to be written
	settled uint64          // the newest version of the dumps before
	replace bool            // rows may have bytes that a later dump replaced
}

// dumpedAnew reports whether a dump has all entries of a branch that an earlier one had.
func (s *staged) dumpedAnew(dumps int, b store.BranchState) bool {
	return s != nil && dumps > 1 && (s.settled == 0 || b.Floor.Version > s.settled)
}

// replaces notes that a dump has a version that an earlier one had.
func (l *loader) replaces(version uint64) {
	if l.staged != nil && version <= l.staged.settled {
		l.staged.replace = true
	}
}

// stagedCopy is a store.Staged.
type stagedCopy struct {
	*loader
	driver  *Driver
	move    string
	dir     string
	release func()
}

// Stage implements store.Movable.
func (d *Driver) Stage(ctx context.Context, dir, move string) (store.Staged, error) {
	pool, release, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	var space int64
	err = d.free(ctx, pool)
	if err == nil {
		err = d.dropNamed(ctx, pool, moving)
	}
	if err == nil {
		space, err = create(ctx, pool, d.at.space+moving)
	}
	if err != nil {
		release()
		return nil, fmt.Errorf("copy to %s: %w", d.at.public, translate(err))
	}
	l := &loader{ctx: ctx, pool: pool, space: space, staged: &staged{digests: map[string]bool{}}}
	return &stagedCopy{loader: l, driver: d, move: move, dir: dir, release: release}, nil
}

// free returns ErrNotEmpty if there is a space that was not moved away.
func (d *Driver) free(ctx context.Context, pool *pgxpool.Pool) error {
	var there bool
	err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM alcove.names JOIN alcove.spaces USING (space) WHERE name = $1 AND departed = '')`, d.at.space).Scan(&there)
	if err == nil && there {
		err = fmt.Errorf("there is such a space: %w", store.ErrNotEmpty)
	}
	return err
}

// dropNamed drops the space whose name is that of the driver's space with something behind it, if there is one.
func (d *Driver) dropNamed(ctx context.Context, pool *pgxpool.Pool, behind string) error {
	var space int64
	err := pool.QueryRow(ctx, `SELECT space FROM alcove.names WHERE name = $1`, d.at.space+behind).Scan(&space)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return drop(ctx, pool, space)
}

// Remember implements store.Staged.
func (c *stagedCopy) Remember(m store.Memo) error {
	if c.staged.memos = append(c.staged.memos, m); len(c.staged.memos) < loadPieces {
		return nil
	}
	return c.writeMemos()
}

const rememberRequestsSQL = `
INSERT INTO alcove.requests (space, request, digest, version, micros, sequences)
SELECT $1, n.* FROM unnest($2::bytea[], $3::bytea[], $4::bigint[], $5::bigint[], $6::text[]) AS n (request, digest, version, micros, sequences)
ON CONFLICT (space, request) DO UPDATE SET digest = excluded.digest, version = excluded.version, micros = excluded.micros, sequences = excluded.sequences`

func (c *stagedCopy) writeMemos() error {
	var keys, digests, purged [][]byte
	var versions, micros, branches, purgedVersions []int64
	var sequences []string
	var backup *string
	seen := map[[32]byte]bool{}
	for _, m := range slices.Backward(c.staged.memos) { // of a request that was used again, the later outcome counts
		switch {
		case m.Request != nil && seen[m.Request.Key]:
		case m.Request != nil:
			seen[m.Request.Key] = true
			list, _ := json.Marshal(m.Request.Sequences) // numbers
			keys, digests, sequences = append(keys, m.Request.Key[:]), append(digests, m.Request.Digest[:]), append(sequences, string(list))
			versions, micros = append(versions, number(m.Request.Version)), append(micros, microsOf(m.Request.Point))
		case m.Purged != nil && m.Purged.Note:
			branches, purged, purgedVersions = append(branches, notesBranch), append(purged, []byte{}), append(purgedVersions, number(m.Purged.Version))
		case m.Purged != nil:
			branches, purged, purgedVersions = append(branches, number(m.Purged.Branch)), append(purged, keycode.Encode(m.Purged.Key)), append(purgedVersions, number(m.Purged.Version))
		case m.Backup != nil:
			data, _ := json.Marshal(m.Backup) // numbers and an instant
			text := string(data)
			backup = &text
		}
	}
	c.staged.memos = nil
	return pgx.BeginFunc(c.ctx, c.pool, func(tx pgx.Tx) error {
		var b pgx.Batch
		b.Queue(rememberRequestsSQL, c.space, keys, digests, versions, micros, sequences)
		b.Queue(purgedSQL, c.space, branches, purged, purgedVersions)
		b.Queue(`UPDATE alcove.spaces SET backup = coalesce($2, backup) WHERE space = $1`, c.space, backup)
		return tx.SendBatch(c.ctx, &b).Close()
	})
}

// PutDocument implements store.Staged.
func (c *stagedCopy) PutDocument(ctx context.Context, d store.Document) (revision uint64, err error) {
	var next int64
	err = c.pool.QueryRow(ctx, `
INSERT INTO alcove.documents (space, name, revision, data)
SELECT $1, $2, coalesce((SELECT max(revision) FROM alcove.documents WHERE space = $1), 0) + 1, $3
ON CONFLICT (space, name) DO UPDATE SET revision = excluded.revision, data = excluded.data
RETURNING revision`, c.space, d.Name, append([]byte{}, d.Data...)).Scan(&next)
	if err != nil {
		return 0, fmt.Errorf("copy the document %s: %w", d.Name, translate(err))
	}
	return uint64(next), nil
}

// Sync implements store.Staged.
func (c *stagedCopy) Sync(ctx context.Context) error {
	err := c.flush()
	if err == nil {
		err = c.closeBlob()
	}
	if err == nil {
		err = c.writeMemos()
	}
	if err == nil {
		err = pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error { return errors.Join(c.dropBlobs(ctx, tx), c.finish(tx)) })
	}
	if err == nil {
		err = c.verifyBlobs(ctx)
	}
	if err == nil && c.staged.replace { // the first server that opens it erases what is left of it
		_, err = c.pool.Exec(ctx, `UPDATE alcove.spaces SET erasing = true WHERE space = $1`, c.space)
	}
	c.staged.settled = c.head.Version
	if err != nil {
		return fmt.Errorf("copy: %w", translate(err))
	}
	return ctx.Err()
}

// dropBlobs drops the blobs that are not in the last list.
func (c *stagedCopy) dropBlobs(ctx context.Context, tx pgx.Tx) error {
	names, digests := [][]byte{}, []string{}
	for _, b := range c.blobs {
		names, digests = append(names, []byte(b.Name)), append(digests, b.Digest)
	}
	if _, err := tx.Exec(ctx, `DELETE FROM alcove.blobs WHERE space = $1 AND name <> ALL($2::bytea[])`, c.space, names); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM alcove.blob_parts WHERE space = $1 AND encode(digest, 'hex') <> ALL($2::text[])`, c.space, digests)
	return err
}

// verifyBlobs reads the blobs that were not read before.
func (c *stagedCopy) verifyBlobs(ctx context.Context) error {
	var list []store.Blob
	for _, b := range c.blobs {
		if !c.staged.digests[b.Digest] {
			list = append(list, b)
		}
	}
	if err := c.engine().checkBlobs(ctx, list); err != nil {
		return err
	}
	for _, b := range list {
		c.staged.digests[b.Digest] = true
	}
	return nil
}

// engine reads what was settled.
func (c *stagedCopy) engine() *Engine {
	return &Engine{pool: c.pool, space: c.space, dir: c.dir, patience: c.driver.retryPeriod(), readOnly: true}
}

// Dump implements store.Staged.
func (c *stagedCopy) Dump(ctx context.Context, since, at uint64, yield func(store.Piece) error) error {
	return c.engine().Dump(ctx, since, at, yield)
}

// Memos implements store.Staged.
func (c *stagedCopy) Memos(ctx context.Context, since store.Point, yield func(store.Memo) error) error {
	return c.engine().Memos(ctx, since, yield)
}

// Stored implements store.Staged.
func (c *stagedCopy) Stored(ctx context.Context) ([]store.Blob, error) {
	return c.engine().Blobs(ctx, "")
}

// Place implements store.Staged. A space that was moved away before makes room.
func (c *stagedCopy) Place(ctx context.Context) error {
	name := c.driver.at.space
	err := pgx.BeginFunc(ctx, c.pool, func(tx pgx.Tx) error {
		if err := c.identify(ctx, tx); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE alcove.names n SET name = $1 || $2 || n.space FROM alcove.spaces s WHERE s.space = n.space AND n.name = $1 AND s.departed <> ''`, name, away); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM alcove.former_names WHERE name = $1`, name); err != nil {
			return err
		}
		done, err := tx.Exec(ctx, `UPDATE alcove.names SET name = $2 WHERE space = $1 AND name = $2 || $3`, c.space, name, moving)
		if err == nil && done.RowsAffected() != 1 {
			err = errors.New("the copy is gone: another move of the space began")
		}
		if err == nil {
			_, err = tx.Exec(ctx, `UPDATE alcove.spaces SET arrived = $2 WHERE space = $1`, c.space, c.move)
		}
		return err
	})
	if code(err) == codeUnique {
		err = store.ErrNotEmpty
	}
	if err != nil {
		return fmt.Errorf("place the copy as %s: %w", c.driver.at.public, translate(err))
	}
	return nil
}

// identify gives the copy the identity of the space that was moved away before, so that directories of servers stay its own.
func (c *stagedCopy) identify(ctx context.Context, tx pgx.Tx) error {
	var old int64
	var identity string
	err := tx.QueryRow(ctx, `SELECT s.space, s.identity FROM alcove.names n JOIN alcove.spaces s USING (space) WHERE n.name = $1 AND s.departed <> ''`, c.driver.at.space).Scan(&old, &identity)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE alcove.spaces SET identity = gen_random_uuid()::text WHERE space = $1`, old)
	}
	if err == nil {
		_, err = tx.Exec(ctx, `UPDATE alcove.spaces SET identity = $2 WHERE space = $1`, c.space, identity)
	}
	return err
}

// Close implements store.Staged.
func (c *stagedCopy) Close() error {
	c.release()
	return nil
}

// Abort implements store.Staged. It drops the copy unless it was placed.
func (c *stagedCopy) Abort() error {
	defer c.release()
	ctx, cancel := context.WithTimeout(context.Background(), existsWithin)
	defer cancel()
	return c.driver.dropNamed(ctx, c.pool, moving)
}

// Arrived implements store.Deciding.
func (d *Driver) Arrived(ctx context.Context, move string) (arrived bool, err error) {
	err = d.connected(ctx, func(pool *pgxpool.Pool) error {
		if err := d.dropNamed(ctx, pool, moving); err != nil { // or it is placed already
			return err
		}
		return pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM alcove.names JOIN alcove.spaces USING (space) WHERE name = $1 AND arrived = $2)`, d.at.space, move).Scan(&arrived)
	})
	if err != nil {
		err = fmt.Errorf("ask %s whether the space was moved there: %w", d.at.public, translate(err))
	}
	return arrived, err
}

// Departed implements store.Deciding. The epoch is raised, so that what is still under way takes no effect.
func (d *Driver) Departed(ctx context.Context, move string) (departed bool, err error) {
	err = d.connected(ctx, func(pool *pgxpool.Pool) error {
		if _, err := pool.Exec(ctx, `UPDATE alcove.spaces s SET epoch = epoch + 1 FROM alcove.names n WHERE n.space = s.space AND n.name = $1 AND s.departed = ''`, d.at.space); err != nil {
			return err
		}
		return pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM alcove.names JOIN alcove.spaces USING (space) WHERE name = $1 AND departed = $2)`, d.at.space, move).Scan(&departed)
	})
	if err != nil {
		err = fmt.Errorf("ask %s whether the space was moved away: %w", d.at.public, translate(err))
	}
	return departed, err
}

// Depart implements store.Departing. Nobody leads the space any more.
func (e *Engine) Depart(ctx context.Context, move, to string) error {
	err := e.update(ctx, func(ctx context.Context, tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE alcove.spaces SET departed = $2, moved_to = $3, epoch = epoch + 1, owner = '' WHERE space = $1`, e.space, move, to); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `DELETE FROM alcove.leases WHERE space = $1`, e.space)
		return err
	})
	if err != nil {
		return fmt.Errorf("mark %s as moved: %w", e.public, err)
	}
	var moved error = &store.DepartedError{Space: e.public, To: to}
	e.refused.Store(&moved)
	return nil
}

// departed returns a DepartedError if the space was moved away.
func departed(ctx context.Context, pool *pgxpool.Pool, space int64, public string) error {
	moved := &store.DepartedError{Space: public}
	var by, name string
	err := pool.QueryRow(ctx, `
SELECT s.departed, s.moved_to, split_part(n.name, '/', 1) FROM alcove.spaces s JOIN alcove.names n USING (space)
WHERE space = $1 AND departed <> ''`, space).Scan(&by, &moved.To, &name)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return err
	case by == deleted:
		return &store.FormerError{Name: name}
	}
	return moved
}

// Remove implements store.Movable.
func (d *Driver) Remove(ctx context.Context, dir string) error {
	err := d.connected(ctx, func(pool *pgxpool.Pool) error {
		rows, err := pool.Query(ctx, `
SELECT n.space FROM alcove.names n JOIN alcove.spaces s USING (space)
WHERE n.name = $1 AND s.departed <> '' OR starts_with(n.name, $1 || $2) OR n.name = $1 || $3`, d.at.space, away, moving)
		if err != nil {
			return err
		}
		old, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, space := range old {
			if err == nil {
				err = drop(ctx, pool, space)
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove what was moved away from %s: %w", d.at.public, translate(err))
	}
	return os.RemoveAll(filepath.Join(dir, "cache", "blobs"))
}
