package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

const (
	loadFolder = "loading"  // the temporary folder of a Load
	unfinished = "/loading" // behind the name of a space that is being loaded; no other name has a slash

	loadPieces = 20_000   // pieces written in one transaction
	loadBytes  = 32 << 20 // bytes of values written in one transaction
)

// Load creates and verifies the space under a temporary name, moves the files that came with it into the directory, and then gives the
// space its name.
func (d *Driver) Load(ctx context.Context, dir string, l store.Load) error {
	if has, err := d.Exists(dir); has || err != nil {
		return fmt.Errorf("load into %s: %w", d.at.public, errors.Join(store.ErrNotEmpty, err))
	}
	made := filepath.Join(dir, loadFolder)
	err := d.connected(ctx, func(pool *pgxpool.Pool) error {
		if err := errors.Join(os.RemoveAll(made), d.dropUnfinished(ctx, pool)); err != nil {
			return err
		}
		space, err := create(ctx, pool, d.at.space+unfinished)
		if err != nil {
			return err
		}
		d.setLoading(made, space)
		defer d.setLoading(made, 0)
		if err = d.make(ctx, pool, space, made, l); err == nil {
			err = move(made, dir)
		}
		if err == nil {
			_, err = pool.Exec(ctx, `DELETE FROM alcove.former_names WHERE name = $1`, d.at.space)
		}
		if err == nil {
			_, err = pool.Exec(ctx, `UPDATE alcove.names SET name = $2 WHERE space = $1`, space, d.at.space)
			if code(err) == codeUnique {
				err = store.ErrNotEmpty
			}
		}
		if err != nil {
			return errors.Join(err, d.dropUnfinished(context.WithoutCancel(ctx), pool))
		}
		return nil
	})
	_ = os.RemoveAll(made) // the next load does it otherwise
	if err != nil {
		return fmt.Errorf("load into %s: %w", d.at.public, translate(err))
	}
	return nil
}

func (d *Driver) setLoading(dir string, space int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.loading, dir)
	if space != 0 {
		d.loading[dir] = space
	}
}

// dropUnfinished removes what an interrupted load left.
func (d *Driver) dropUnfinished(ctx context.Context, pool *pgxpool.Pool) error {
	var space int64
	err := pool.QueryRow(ctx, `SELECT space FROM alcove.names WHERE name = $1`, d.at.space+unfinished).Scan(&space)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return drop(ctx, pool, space)
}

// drop removes a space.
func drop(ctx context.Context, pool *pgxpool.Pool, space int64) error {
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SET LOCAL statement_timeout = 0`); err != nil {
			return err
		}
		for _, table := range []string{"names", "spaces", "points", "requests", "entries", "counters", "trims", "purged", "blobs", "blob_parts", "leases", "documents"} {
			if _, err := tx.Exec(ctx, `DELETE FROM alcove.`+table+` WHERE space = $1`, space); err != nil {
				return err
			}
		}
		return nil
	})
}

// make loads and verifies a space.
func (d *Driver) make(ctx context.Context, pool *pgxpool.Pool, space int64, dir string, l store.Load) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	loader := &loader{ctx: ctx, pool: pool, space: space}
	if err := l.Read(loader, dir); err != nil {
		return err
	}
	if err := loader.Finish(ctx); err != nil {
		return err
	}
	if l.Verify == nil {
		return nil
	}
	return l.Verify(ctx, dir)
}

// move moves all files that came with a space.
func move(from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return errors.Join(os.MkdirAll(filepath.Join(to, name), 0o700), durable.SyncDir(filepath.Dir(filepath.Join(to, name))))
		}
		return errors.Join(os.Rename(path, filepath.Join(to, name)), durable.SyncDir(filepath.Dir(filepath.Join(to, name))))
	})
	if err != nil {
		return fmt.Errorf("move the files of the loaded space to %s: %w", to, err)
	}
	return nil
}

// loader is a store.Loader of a space that nobody else knows.
type loader struct {
	ctx     context.Context
	pool    *pgxpool.Pool
	space   int64
	waiting []store.Piece
	bytes   int
	states  []store.BranchState
	counted map[place]bool // keys whose earlier counters were dropped
	dumps   int            // the current dump's number, from 1
	history store.History  // that the space continues
	head    store.Point    // the newest so far
	blobs   []store.Blob   // the final list
	blob    blobUpload
	staged  *staged // nil: the space is restored
}

type blobUpload struct {
	digest string
	part   int
	rest   []byte
}

// Add adds a piece.
func (l *loader) Add(p store.Piece) error {
	if p.Branches != nil && len(l.waiting) > 0 { // buffered pieces must be written before branches are dropped
		if err := l.flush(); err != nil {
			return err
		}
	}
	if p.Entry != nil {
		l.bytes += len(p.Entry.Value)
	}
	l.bytes += len(p.Note)
	l.waiting = append(l.waiting, p)
	if len(l.waiting) < loadPieces && l.bytes < loadBytes {
		return nil
	}
	return l.flush()
}

func (l *loader) flush() error {
	err := pgx.BeginFunc(l.ctx, l.pool, func(tx pgx.Tx) error {
		b := &pieceBatch{loader: l, tx: tx}
		for _, p := range l.waiting {
			if err := b.put(p); err != nil {
				return err
			}
		}
		return b.write()
	})
	if err != nil {
		return fmt.Errorf("load: %w", translate(err))
	}
	clear(l.waiting)
	l.waiting, l.bytes = l.waiting[:0], 0
	return nil
}

// pieceBatch collects pieces of one transaction.
type pieceBatch struct {
	*loader
	tx       pgx.Tx
	entries  []entryLine
	points   []pointLine
	counters []store.CounterRecord
}

func (b *pieceBatch) put(p store.Piece) error {
	switch {
	case p.Branches != nil:
		b.dumps++
		b.states, b.counted = nil, map[place]bool{}
		return b.dropOthers(p.Branches)
	case p.Point != nil:
		b.replaces(p.Point.Version)
		if p.Point.Version > b.head.Version {
			b.head = *p.Point
		}
		if len(p.Note) > store.NoteLimit {
			return fmt.Errorf("the note of version %d has %d bytes: at most %d are allowed", p.Point.Version, len(p.Note), store.NoteLimit)
		}
		b.points = append(b.points, pointLine{*p.Point, p.Note})
	case p.Branch != nil:
		b.states = append(b.states, *p.Branch)
		if b.staged.dumpedAnew(b.dumps, *p.Branch) {
			_, err := b.tx.Exec(b.ctx, `DELETE FROM alcove.entries WHERE space = $1 AND branch = $2`, b.space, number(p.Branch.ID))
			return err
		}
	case p.Entry != nil:
		b.replaces(p.Entry.Version)
		if err := checkKey(p.Entry.Key); err != nil {
			return err
		}
		b.entries = append(b.entries, entryLine{place{p.Entry.Branch, string(keycode.Encode(p.Entry.Key))}, p.Entry.Point, p.Entry.Deleted, p.Entry.Value})
	case p.Counter != nil:
		if err := checkKey(p.Counter.Key); err != nil {
			return err
		}
		b.counters = append(b.counters, *p.Counter)
	default:
		return errors.New("a piece is empty")
	}
	return nil
}

// dropOthers drops the branches that are not in keep.
func (b *pieceBatch) dropOthers(keep []store.BranchID) error {
	ids := []int64{}
	for _, id := range keep {
		ids = append(ids, number(id))
	}
	for _, table := range []string{"entries", "counters", "trims"} {
		if _, err := b.tx.Exec(b.ctx, `DELETE FROM alcove.`+table+` WHERE space = $1 AND branch <> ALL($2::bigint[])`, b.space, ids); err != nil {
			return err
		}
	}
	return nil
}

const (
	loadPointsSQL = `
INSERT INTO alcove.points (space, version, micros, note) SELECT $1, n.* FROM unnest($2::bigint[], $3::bigint[], $4::bytea[]) AS n (version, micros, note)
ON CONFLICT (space, version) DO UPDATE SET micros = excluded.micros, note = excluded.note`

	// loadEntriesSQL takes the instants of entries from the points of their versions.
	loadEntriesSQL = `
INSERT INTO alcove.entries (space, branch, key, version, micros, deleted, sum, value)
SELECT $1, n.* FROM unnest($2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::boolean[], $7::int[], $8::bytea[]) AS n (branch, key, version, micros, deleted, sum, value)
ON CONFLICT (space, branch, key, version) DO UPDATE SET deleted = excluded.deleted, sum = excluded.sum, value = excluded.value`

	loadCountersSQL = `
INSERT INTO alcove.counters (space, branch, key, version, written, value)
SELECT $1, n.branch, n.key, n.version, $6, n.value FROM unnest($2::bigint[], $3::bytea[], $4::bigint[], $5::bytea[]) AS n (branch, key, version, value)
ON CONFLICT (space, branch, key, version) DO UPDATE SET value = excluded.value, written = excluded.written`

	forgetCountersSQL = `
DELETE FROM alcove.counters c USING unnest($2::bigint[], $3::bytea[]) AS d (branch, key) WHERE c.space = $1 AND c.branch = d.branch AND c.key = d.key`
)

func (b *pieceBatch) write() error {
	var versions, micros []int64
	var notes [][]byte
	for _, p := range b.points {
		versions, micros, notes = append(versions, number(p.Version)), append(micros, p.Time.UnixMicro()), append(notes, emptyIsNil(p.note))
	}
	if _, err := b.tx.Exec(b.ctx, loadPointsSQL, b.space, versions, micros, notes); err != nil {
		return err
	}
	if err := b.dateEntries(); err != nil {
		return err
	}
	c := newEntries(b.entries)
	if _, err := b.tx.Exec(b.ctx, loadEntriesSQL, b.space, c.branch, c.key, c.version, c.micros, c.deleted, c.sum, c.value); err != nil {
		return err
	}
	return b.writeCounters()
}

// dateEntries gives entries the instants of their versions' points.
func (b *pieceBatch) dateEntries() error {
	needed := map[uint64]int64{}
	for _, e := range b.entries {
		needed[e.Version] = 0
	}
	var versions []int64
	for v := range needed {
		versions = append(versions, number(v))
	}
	rows, err := b.tx.Query(b.ctx, `SELECT version, micros FROM alcove.points WHERE space = $1 AND version = ANY($2::bigint[])`, b.space, versions)
	if err != nil {
		return err
	}
	var version, at int64
	_, err = pgx.ForEachRow(rows, []any{&version, &at}, func() error {
		needed[uint64(version)] = at
		return nil
	})
	if err != nil {
		return err
	}
	for i, e := range b.entries {
		at := needed[e.Version]
		if at == 0 {
			return fmt.Errorf("an entry has version %d, which no point names", e.Version)
		}
		b.entries[i].Point = pointOf(number(e.Version), at)
	}
	return nil
}

func (b *pieceBatch) writeCounters() error {
	var forget, branches, versions []int64
	var forgetKeys, keys, values [][]byte
	for _, c := range b.counters {
		raw := keycode.Encode(c.Key)
		at := place{c.Branch, string(raw)}
		if b.dumps > 1 && !b.counted[at] { // a later dump has all records of a key
			b.counted[at] = true
			forget, forgetKeys = append(forget, number(c.Branch)), append(forgetKeys, raw)
		}
		branches, keys, versions, values = append(branches, number(c.Branch)), append(keys, raw), append(versions, number(c.Version)), append(values, c.Value)
	}
	if _, err := b.tx.Exec(b.ctx, forgetCountersSQL, b.space, forget, forgetKeys); err != nil {
		return err
	}
	var written int64
	if b.staged != nil { // a later dump of the copy goes on where one of the original would
		written = number(b.head.Version)
	}
	_, err := b.tx.Exec(b.ctx, loadCountersSQL, b.space, branches, keys, versions, values, written)
	return err
}

// Blob adds bytes to a blob's content. The calls for one blob are consecutive.
func (l *loader) Blob(digest string, data []byte) error {
	if sum, err := hex.DecodeString(digest); err != nil || len(sum) != 32 {
		return fmt.Errorf("the digest %.100q of a blob is not a SHA-256", digest)
	}
	if l.blob.digest != digest {
		if err := l.closeBlob(); err != nil {
			return err
		}
		l.blob = blobUpload{digest: digest}
	}
	l.blob.rest = append(l.blob.rest, data...)
	for len(l.blob.rest) >= partSize {
		if err := l.putPart(l.blob.rest[:partSize]); err != nil {
			return err
		}
		l.blob.rest = l.blob.rest[partSize:]
	}
	return nil
}

func (l *loader) putPart(data []byte) error {
	sum, err := hex.DecodeString(l.blob.digest)
	if err == nil {
		err = pgx.BeginFunc(l.ctx, l.pool, func(tx pgx.Tx) error { return putPart(l.ctx, tx, l.space, sum, l.blob.part, data) })
	}
	if err != nil {
		return fmt.Errorf("load a blob: %w", translate(err))
	}
	l.blob.part++
	return nil
}

func (l *loader) closeBlob() error {
	if len(l.blob.rest) > 0 {
		if err := l.putPart(l.blob.rest); err != nil {
			return err
		}
	}
	l.blob = blobUpload{}
	return nil
}

// Blobs sets the list of blobs, replacing an earlier one.
func (l *loader) Blobs(list []store.Blob) { l.blobs = list }

// Continue sets the history that the space continues.
func (l *loader) Continue(h store.History) { l.history = h }

// Finish writes the head, floors and blobs, and drops versions below the floors. The space stays under its temporary name.
func (l *loader) Finish(ctx context.Context) error {
	err := l.flush()
	if err == nil {
		err = l.closeBlob()
	}
	if err == nil {
		err = pgx.BeginFunc(ctx, l.pool, l.finish)
	}
	if err == nil {
		err = l.trim(ctx)
	}
	if err == nil {
		e := &Engine{pool: l.pool, space: l.space}
		err = e.checkBlobs(ctx, l.blobs)
	}
	if err != nil {
		return fmt.Errorf("load: %w", translate(err))
	}
	return ctx.Err()
}

func (l *loader) finish(tx pgx.Tx) error {
	if _, err := tx.Exec(l.ctx, `UPDATE alcove.spaces SET head = $2, micros = $3 WHERE space = $1`, l.space, number(l.head.Version), microsOf(l.head)); err != nil {
		return err
	}
	if l.history != nil {
		history, err := continued(l.history, l.head.Version)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(l.ctx, `UPDATE alcove.spaces SET history = $2 WHERE space = $1`, l.space, history); err != nil {
			return err
		}
	}
	for _, b := range l.blobs {
		if err := checkBlobName(b.Name); err != nil {
			return err
		}
		if err := putBlob(l.ctx, tx, l.space, b); err != nil {
			return err
		}
	}
	for _, s := range l.states {
		if s.Floor.Version == 0 {
			continue
		}
		if err := (trim{BranchState: s, done: l.staged != nil}).write(l.ctx, tx, l.space); err != nil {
			return err
		}
	}
	return nil
}

// trim drops what dumps before the last had below its floors.
func (l *loader) trim(ctx context.Context) error {
	e := &Engine{pool: l.pool, space: l.space}
	direct := func(ctx context.Context, work func(ctx context.Context, tx pgx.Tx) error) error {
		return pgx.BeginFunc(ctx, l.pool, func(tx pgx.Tx) error { return work(ctx, tx) })
	}
	for _, s := range l.states {
		if s.Floor.Version == 0 {
			continue
		}
		t := trim{BranchState: s}
		slices.Sort(t.Pins)
		if err := e.dropOld(ctx, t, direct); err != nil {
			return fmt.Errorf("trim branch %d: %w", s.ID, err)
		}
		t.done = true
		if err := direct(ctx, func(ctx context.Context, tx pgx.Tx) error { return t.write(ctx, tx, l.space) }); err != nil {
			return err
		}
	}
	return nil
}

// Abort does nothing: Load drops the space.
func (l *loader) Abort() error { return nil }
