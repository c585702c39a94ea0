// Package postgres stores spaces in a PostgreSQL database.
//
// Every server that opens a space takes it over: it raises the space's epoch, which each write of an engine checks in its own
// transaction. Only one engine can therefore write, and what it knows of the space stays true: a commit is one statement, whose
// conditions the database evaluates. When the answer to a commit is lost, the engine raises the epoch again before it looks
// whether the commit took effect: a commit that is still under way then cannot any more.
package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/holding"
)

// Engine is a store.Engine of a space in a database.
type Engine struct {
	pool     *pgxpool.Pool
	release  func() // of the pool
	space    int64
	public   string // where it is, without secrets
	dir      string // for copies of blobs
	owner    string
	server   string // that leads the space; empty: none
	readOnly bool
	patience time.Duration
	now      func() time.Time
	logger   *slog.Logger

	jobs   chan *job
	quit   chan struct{}
	closed sync.Once
	writer sync.WaitGroup
	calls  sync.WaitGroup

	mu       sync.RWMutex
	closing  bool
	head     store.Point
	floors   map[store.BranchID]trim
	watchers map[chan uint64]struct{}

	epoch      int64          // the writer's
	lasts      map[log]latest // the newest entries of collections that were appended to; the writer's
	unresolved atomic.Bool    // the outcome of a commit is unknown
	refused    atomic.Pointer[error]

	cache   *cache // nil: the engine is read-only
	holds   holding.Holds
	drops   sync.Mutex // one trim or reclaim at a time
	blobMu  sync.Mutex
	written commitStats
}

var (
	_ store.Engine       = (*Engine)(nil)
	_ store.Portable     = (*Engine)(nil)
	_ store.Purger       = (*Engine)(nil)
	_ store.Collecting   = (*Engine)(nil)
	_ store.Durable      = (*Engine)(nil)
	_ store.BackupNoter  = (*Engine)(nil)
	_ store.WriteChecker = (*Engine)(nil)
	_ store.Documenting  = (*Engine)(nil)
)

// open opens the space with an id. It takes it over unless it is read-only.
func (d *Driver) open(ctx context.Context, space int64, dir string, o store.Options) (*Engine, error) {
	pool, release, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		pool: pool, release: release, space: space, public: d.at.public, dir: dir, owner: rand.Text(), server: o.Server, readOnly: o.ReadOnly, patience: d.retryPeriod(), now: o.Clock, logger: o.Logger,
		jobs: make(chan *job, 1024), quit: make(chan struct{}), watchers: map[chan uint64]struct{}{}, lasts: map[log]latest{},
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	if !e.readOnly {
		e.cache = newCache(d.room)
	}
	if err := e.load(ctx); err != nil {
		release()
		return nil, fmt.Errorf("open %s: %w", e.public, translate(err))
	}
	e.writer.Go(e.write)
	return e, nil
}

func (e *Engine) load(ctx context.Context) error {
	if e.readOnly {
		return errors.Join(e.loadHead(ctx), e.loadFloors(ctx))
	}
	if err := os.MkdirAll(e.blobDir(), 0o700); err != nil {
		return err
	}
	if err := e.takeOver(ctx); err != nil {
		return err
	}
	if err := e.loadFloors(ctx); err != nil {
		return err
	}
	if err := e.finishTrims(ctx); err != nil {
		return err
	}
	if err := e.finishPurge(ctx); err != nil {
		return err
	}
	return e.sweepBlobs(ctx)
}

// leaderSQL finds another server that leads the space.
const leaderSQL = `
SELECT s.address FROM alcove.leases l JOIN alcove.servers s USING (server)
WHERE l.space = $1 AND l.server <> $2 AND s.expires > clock_timestamp()`

// takeOver raises the epoch, so that no earlier engine can write any more. It fails with a LedError if another server leads the space.
func (e *Engine) takeOver(ctx context.Context) error {
	const query = `UPDATE alcove.spaces SET epoch = epoch + 1, owner = $3 WHERE space = $1 AND departed = '' AND NOT EXISTS (` + leaderSQL + `) RETURNING epoch, head, micros`
	err := e.adopt(e.pool.QueryRow(ctx, query, e.space, e.server, e.owner))
	if errors.Is(err, pgx.ErrNoRows) {
		if err := departed(ctx, e.pool, e.space, e.public); err != nil {
			return err
		}
		led := &store.LedError{Space: e.public}
		return errors.Join(e.pool.QueryRow(ctx, leaderSQL, e.space, e.server).Scan(&led.Address), led)
	}
	return err
}

// raiseEpoch raises the epoch of this engine, so that no statement of it that is still under way takes effect, and reads the head. It fails
// with ErrFenced if another engine has taken over.
func (e *Engine) raiseEpoch(ctx context.Context) error {
	row := e.pool.QueryRow(ctx, `UPDATE alcove.spaces SET epoch = epoch + 1 WHERE space = $1 AND owner = $2 RETURNING epoch, head, micros`, e.space, e.owner)
	err := e.adopt(row)
	if errors.Is(err, pgx.ErrNoRows) {
		return e.refuse(store.ErrFenced)
	}
	return err
}

func (e *Engine) adopt(row pgx.Row) error {
	var version, micros int64
	if err := row.Scan(&e.epoch, &version, &micros); err != nil {
		return err
	}
	clear(e.lasts)
	e.unresolved.Store(false)
	e.announce(pointOf(version, micros), e.cache.clear)
	return nil
}

func (e *Engine) loadHead(ctx context.Context) error {
	var version, micros int64
	if err := e.pool.QueryRow(ctx, `SELECT head, micros FROM alcove.spaces WHERE space = $1`, e.space).Scan(&version, &micros); err != nil {
		return err
	}
	e.announce(pointOf(version, micros), nil)
	return nil
}

func pointOf(version, micros int64) store.Point {
	if version == 0 {
		return store.Point{}
	}
	return store.Point{Version: uint64(version), Time: time.UnixMicro(micros).UTC()}
}

// refuse lets all further writes fail.
func (e *Engine) refuse(err error) error {
	e.refused.Store(&err)
	return err
}

// Writable returns the error that commits fail with; nil while they succeed.
func (e *Engine) Writable() error {
	if err := e.refused.Load(); err != nil {
		return *err
	}
	return nil
}

// begin registers a call for which Close waits.
func (e *Engine) begin(ctx context.Context) (end func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if e.closing {
		return nil, store.ErrClosed
	}
	e.calls.Add(1)
	return e.calls.Done, nil
}

// read runs a read. While the database does not answer, it is repeated.
func (e *Engine) read(ctx context.Context, do func(ctx context.Context) error) error {
	end, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return translate(e.retry(ctx, do))
}

// retry repeats work that may be done twice while the database does not answer.
func (e *Engine) retry(ctx context.Context, do func(ctx context.Context) error) error {
	until := time.Now().Add(e.patience)
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := do(ctx)
		if !isDisconnected(err) || time.Now().Add(wait).After(until) {
			return err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Head returns the newest commit.
func (e *Engine) Head(ctx context.Context) (store.Point, error) {
	end, err := e.begin(ctx)
	if err != nil {
		return store.Point{}, err
	}
	defer end()
	return e.newest(), nil
}

func (e *Engine) newest() store.Point {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.head
}

// VersionAt returns the newest commit at or before t.
func (e *Engine) VersionAt(ctx context.Context, t time.Time) (store.Point, error) {
	if t.Before(time.UnixMicro(0)) {
		return store.Point{}, ctx.Err()
	}
	p, err := e.point(ctx, `SELECT version, micros FROM alcove.points WHERE space = $1 AND micros <= $2 ORDER BY micros DESC LIMIT 1`, t.UnixMicro())
	if errors.Is(err, pgx.ErrNoRows) {
		return store.Point{}, nil
	}
	return p, err
}

// PointOf returns the commit with a version.
func (e *Engine) PointOf(ctx context.Context, version uint64) (store.Point, error) {
	p, err := e.point(ctx, `SELECT version, micros FROM alcove.points WHERE space = $1 AND version = $2`, number(version))
	if errors.Is(err, pgx.ErrNoRows) {
		return p, fmt.Errorf("version %d: %w", version, store.ErrNotFound)
	}
	return p, err
}

func (e *Engine) point(ctx context.Context, query string, at int64) (p store.Point, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		var version, micros int64
		if err := e.pool.QueryRow(ctx, query, e.space, at).Scan(&version, &micros); err != nil {
			return err
		}
		p = pointOf(version, micros)
		return nil
	})
	return p, err
}

// History returns the incarnations that wrote the space.
func (e *Engine) History(ctx context.Context) (h store.History, err error) {
	err = e.read(ctx, func(ctx context.Context) error {
		var text string
		if err := e.pool.QueryRow(ctx, `SELECT history FROM alcove.spaces WHERE space = $1`, e.space).Scan(&text); err != nil {
			return err
		}
		h = nil
		return json.Unmarshal([]byte(text), &h)
	})
	return h, err
}

// continued returns a history with a new incarnation, which continues the space from a version on, in JSON.
func continued(before store.History, from uint64) (string, error) {
	data, err := json.Marshal(append(before[:len(before):len(before)], store.Incarnation{ID: rand.Text(), From: from}))
	return string(data), err
}

// HoldVersions prevents drops of old versions until release is called. release is idempotent.
func (e *Engine) HoldVersions(ctx context.Context) (release func(), err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return e.holds.Hold(ctx)
}

// YieldToCommits does nothing: the database's disk is its own.
func (e *Engine) YieldToCommits(context.Context) {}

// Consolidate does nothing: a lineage of any depth is read in one statement.
func (e *Engine) Consolidate(ctx context.Context, _ store.Lineage) error {
	end, err := e.begin(ctx)
	if err == nil {
		end()
	}
	return err
}

// Watch sends the version of new commits until ctx ends. A slow receiver gets only the newest.
func (e *Engine) Watch(ctx context.Context) <-chan uint64 {
	ch := make(chan uint64, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closing {
		close(ch)
		return ch
	}
	e.watchers[ch] = struct{}{}
	context.AfterFunc(ctx, func() { e.unwatch(ch) })
	return ch
}

func (e *Engine) unwatch(ch chan uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, there := e.watchers[ch]; there {
		delete(e.watchers, ch)
		close(ch)
	}
}

// announce publishes a new head, replacing an unread one in a watcher's channel. What changes at the same moment, if anything, comes first.
func (e *Engine) announce(head store.Point, change func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if change != nil {
		change()
	}
	if head == e.head {
		return
	}
	e.head = head
	for ch := range e.watchers {
		select {
		case <-ch:
		default:
		}
		ch <- head.Version
	}
}

// Close waits for running calls and releases the space.
func (e *Engine) Close() error {
	e.closed.Do(func() {
		e.mu.Lock()
		e.closing = true
		for ch := range e.watchers {
			delete(e.watchers, ch)
			close(ch)
		}
		e.mu.Unlock()
		e.calls.Wait()
		close(e.quit)
		e.writer.Wait()
		if e.cache != nil {
			e.cache.end()
		}
		e.release()
	})
	return nil
}
