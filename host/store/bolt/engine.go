// Package bolt stores a space in one bbolt file, with its blobs as files beside it.
package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/bolt/salvage"
	"github.com/alcove-memory/alcove/host/store/holding"
)

// Options configure an engine. The zero value is ready for use.
type Options struct {
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discards
	// Steps is called at each step; its error stops the operation there if it can still fail. For tests; nil in production.
	Steps func(Step) error
	// NoSync acknowledges commits before they are synced. It is the negative control of the power-failure tests.
	NoSync bool
	// ReadOnly opens an existing space without writing to the directory; writes fail with store.ErrReadOnly.
	ReadOnly bool
	// Mirror has the space take what Apply and Adopt are given; other writes fail with store.ErrReadOnly.
	Mirror bool
	// Held is how long a dump blocks trims and reclaims; 0: an hour.
	Held time.Duration
	// MapSize is the initial size of the memory map in bytes; 0: 1 GiB. Growing it waits for running reads.
	MapSize int

	examineAfter time.Duration                            // how long a database that is as its last server left it is in use before it is examined; 0: 1 s
	place        func(path string) (name string, ok bool) // nil: placeOf
	holdFor      int64                                    // bytes that the file may grow while its tree is held; 0: 768 MiB
	wroteWithin  time.Duration                            // how long after its last record a killed server may have written to the database; 0: 10 s
	chunk        int                                      // entries copied or dropped in one transaction; 0: 2000
}

// Engine is a store.Engine in a directory.
type Engine struct {
	dir        string
	options    Options
	file       sync.RWMutex          // write-held while db is replaced
	db         *bbolt.DB             // nil if it could not be reopened
	open       openFile              // db's file
	blobs      *os.File              // the directory, open so that no other gets its inode; nil when read-only
	failed     error                 // why writes are refused until a restart; set with db
	damage     atomic.Pointer[error] // what the examination of a database in use found; nil: nothing
	unexamined bool                  // the file was opened as its last server left it, or had written it when it was killed
	unlisted   bool                  // bbolt does not know of all free pages; the writer's, and before it runs Open's
	tree       *heldTree             // nil: none was held
	follower   follower              // the record of how far the database was written
	examined   time.Time             // when all pages were examined last; Open's, then the examination's, and then Close's
	now        func() time.Time
	logger     *slog.Logger
	steps      func(Step) error

	lastStamp uint64 // of the last write transaction of this process, even if it failed; the writer's, and before it runs Open's

	jobs          chan *job
	quit          chan struct{}
	closed        sync.Once
	writer        sync.WaitGroup
	calls         sync.WaitGroup
	examining     sync.WaitGroup
	again         chan struct{}      // has the database examined now
	looked        chan struct{}      // closed when all pages were examined once
	stopExamining context.CancelFunc // nil: nothing is examined

	mu       sync.RWMutex
	closing  bool
	head     store.Point
	floors   map[store.BranchID]layout.Trim
	overlays []*overlay
	plans    map[uint64]cachedPlan
	watchers map[chan uint64]struct{}
	building sync.Mutex // one consolidation at a time

	blobMu sync.Mutex

	holds   holding.Holds // of old versions, for dumps
	writing commitGate    // lets dumps yield to commits

	written commitStats
}

var _ store.Engine = (*Engine)(nil)

// Open opens the space in a directory, or creates one. store.ErrDamaged: a page or record is damaged; store.ErrReadOnly:
// the file must be repaired before it can be read. The caller ensures that no other process has it open.
func Open(ctx context.Context, dir string, o Options) (*Engine, error) {
	e := &Engine{
		dir: dir, options: o, now: o.Now, logger: o.Logger, steps: o.Steps, jobs: make(chan *job, 1024), quit: make(chan struct{}), again: make(chan struct{}, 1), looked: make(chan struct{}),
		floors: map[store.BranchID]layout.Trim{}, plans: map[uint64]cachedPlan{}, watchers: map[chan uint64]struct{}{},
	}
	e.holds.Limit = o.Held
	if e.options.chunk == 0 {
		e.options.chunk = chunkEntries
	}
	if e.options.holdFor == 0 {
		e.options.holdFor = holdFor
	}
	if e.options.wroteWithin == 0 {
		e.options.wroteWithin = wroteWithin
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	if err := e.openFile(); err != nil {
		return nil, errors.Join(fmt.Errorf("open store in %s: %w", dir, diskError(err)), e.closeBlobs())
	}
	if err := e.contained(func() error { return e.load(ctx) }); err != nil {
		e.tree.release()
		return nil, errors.Join(fmt.Errorf("open store in %s: %w", dir, diskError(err)), e.db.Close(), e.closeBlobs())
	}
	e.releasePages()
	if !e.unexamined {
		e.follow(e.examined)
	}
	e.writer.Go(e.write)
	if !o.ReadOnly {
		e.beginExamining(context.WithoutCancel(ctx))
	}
	return e, nil
}

func (e *Engine) openFile() (err error) {
	if e.options.ReadOnly {
		return e.openReadOnly()
	}
	if err := os.MkdirAll(e.blobDir(), 0o700); err != nil {
		return err
	}
	if e.blobs, err = os.Open(e.blobDir()); err != nil {
		return err
	}
	if err := e.makeFile(e.path()); err != nil {
		return err
	}
	if err := e.examineFirst(); err != nil { // before a file is removed from a directory that may be refused
		return err
	}
	if err := removeLoadFolder(e.dir); err != nil {
		return fmt.Errorf("remove what an interrupted import or restore left: %w", err)
	}
	for _, name := range []string{compacting, loading, loading + ".2", layout.Repairing} { // left by a crash
		if err := layout.RemoveFile(filepath.Join(e.dir, name)); err != nil {
			return err
		}
	}
	for _, path := range []string{layout.Left(e.dir), layout.Running(e.dir)} { // if this server crashes at a damaged page, the next one examines first
		if err := layout.RemoveFile(path); err != nil {
			return err
		}
	}
	if e.unlisted {
		if err := e.forgetFree(); err != nil {
			return err
		}
	}
	if e.db, err = e.openDB(); err != nil {
		return err
	}
	err = e.syncFirst()
	if err == nil && e.unlisted {
		err = e.holdTree()
	}
	if err != nil {
		return errors.Join(err, e.db.Close())
	}
	return nil
}

// syncFirst syncs the database before the first write: after a kill or a disk failure, the last commit may be in the page
// cache alone. The next commit would overwrite the meta page of the last synced one, and a power failure could lose both.
func (e *Engine) syncFirst() error {
	if e.options.NoSync {
		return nil
	}
	if err := e.db.Sync(); err != nil {
		return fmt.Errorf("sync the commits of an earlier server: %w", err)
	}
	return nil
}

func (e *Engine) path() string { return layout.Database(e.dir) }

// examineFirst examines the database, unless it is as its last server left it, or had written it when it was killed.
func (e *Engine) examineFirst() error {
	if e.unexamined = e.asLeft(); e.unexamined {
		return nil
	}
	if e.unexamined = e.asKilled(); e.unexamined {
		return nil
	}
	e.examined = e.now()
	return e.examine()
}

// examine validates every page and record before bbolt reads them: bbolt crashes the process at a damaged page.
func (e *Engine) examine() error {
	unlock, err := e.lockExclusively()
	if err != nil {
		return err
	}
	return errors.Join(e.examineFile(), unlock())
}

func (e *Engine) examineFile() error {
	began := time.Now()
	found, err := salvage.Examine(e.path())
	if err != nil {
		return err
	}
	if found.Format != 0 {
		return layout.FormatError(e.dir, found.Format)
	}
	e.logger.Debug("the database was examined", "took", time.Since(began))
	if len(found.Faults) > 0 {
		return damaged(found.Faults[0])
	}
	return e.repairMeta(found)
}

func damaged(by error) error {
	return fmt.Errorf("%w: %w (alcove verify lists every fault, alcove repair saves what can be read)", store.ErrDamaged, by)
}

// repairMeta rewrites a damaged meta page. If it cannot, and a commit exists that the other meta page does not reference,
// the file is not opened: the commit may have been acknowledged, and its pages would be reused.
func (e *Engine) repairMeta(found salvage.Findings) error {
	for _, fault := range found.Meta {
		e.logger.Error("a meta page of the database is damaged", "fault", fault)
	}
	if found.LostCommit {
		return damaged(found.Meta[0])
	}
	if !found.NeedsMend() {
		return nil
	}
	if e.options.ReadOnly {
		return fmt.Errorf("a meta page must be rewritten, by a server that may write: %w", store.ErrReadOnly)
	}
	return found.RepairMeta(e.path())
}

// lockExclusively locks the file, so that no other process changes it while it is examined.
func (e *Engine) lockExclusively() (unlock func() error, err error) {
	db, err := bbolt.Open(e.path(), 0o600, &bbolt.Options{Timeout: lockWithin, ReadOnly: true, PreLoadFreelist: false})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("another process has the file open: %w", err)
	}
	if err != nil {
		return func() error { return nil }, nil // examine reports the error
	}
	return db.Close, nil
}

// lockWithin is how long Open waits for another process to close the file.
const lockWithin = 2 * time.Second

func (e *Engine) openDB() (*bbolt.DB, error) {
	size := e.options.MapSize
	if size == 0 && strconv.IntSize == 64 && !e.options.ReadOnly {
		size = 1 << 30
	}
	if info, err := os.Stat(e.path()); e.unlisted && strconv.IntSize == 64 && err == nil {
		size = max(size, int(info.Size())+mapAhead)
	}
	var file *os.File
	db, err := bbolt.Open(e.path(), 0o600, &bbolt.Options{
		OpenFile: func(path string, flag int, mode fs.FileMode) (*os.File, error) {
			var err error
			file, err = os.OpenFile(path, flag, mode)
			return file, err
		},
		ReadOnly:        e.options.ReadOnly,
		Timeout:         lockWithin,
		InitialMmapSize: size,
		NoFreelistSync:  true,
		FreelistType:    bbolt.FreelistMapType,
		NoSync:          e.options.NoSync,
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("another process has the file open: %w", err)
	}
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e.open = openFile{File: file, info: info, pageSize: uint64(db.Info().PageSize)}
	e.open.txid = e.open.newest()
	return db, nil
}

// makeFile creates a database under a temporary name, so that a power failure leaves no partial one. It syncs existing
// directories too: the process that created them may have crashed before it did.
func (e *Engine) makeFile(path string) error {
	_, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = e.makeEmpty(path)
	}
	if err = errors.Join(err, durable.SyncDir(e.dir)); err != nil {
		return err
	}
	if err := durable.SyncDir(filepath.Dir(e.dir)); err != nil {
		e.logger.Debug("the directory above the store cannot be synced", "error", err) // not ours, perhaps
	}
	return nil
}

func (e *Engine) makeEmpty(path string) error {
	made := path + ".new"
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bbolt.Open(made, 0o600, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	return os.Rename(made, path)
}

func (e *Engine) load(ctx context.Context) error {
	if e.options.ReadOnly {
		return e.db.View(e.loadReadOnly)
	}
	if err := e.db.Update(e.stamped(e.prepare)); err != nil {
		return err
	}
	if err := e.db.View(e.loadState); err != nil {
		return err
	}
	if err := e.finishTrims(ctx); err != nil {
		return err
	}
	e.open.txid = e.open.newest() // of this process
	if err := e.finishPurge(); err != nil {
		return err
	}
	return e.sweepBlobs()
}

// prepare creates the buckets of a new file. In an existing one a missing bucket is damage: its records are lost.
func (e *Engine) prepare(tx *bbolt.Tx) error {
	if first, _ := tx.Cursor().First(); first == nil {
		if err := layout.MakeBuckets(tx); err != nil {
			return err
		}
	}
	if err := layout.CheckBuckets(tx); err != nil {
		return err
	}
	if err := beginHistory(tx); err != nil {
		return err
	}
	if err := e.continueCopy(tx); err != nil {
		return err
	}
	return dropUnfinished(tx)
}

func (e *Engine) loadState(tx *bbolt.Tx) error {
	points := layout.InSpace(tx, layout.KindPoints)
	if version, micros := points.Cursor().Last(); version != nil {
		head, err := points.Point(version, micros)
		if err != nil {
			return err
		}
		e.head = head
	}
	err := layout.Branches(tx).ForEachBucket(func(id []byte) error {
		b := store.BranchID(layout.FromU64(id))
		t, ok, err := layout.ReadTrim(layout.Branches(tx).Bucket(id), b)
		if ok {
			e.floors[b] = t
		}
		return err
	})
	if err != nil {
		return err
	}
	e.overlays, err = readOverlays(tx)
	return err
}

// begin registers a call for which Close waits. A database that is damaged answers none.
func (e *Engine) begin(ctx context.Context) (end func(), err error) {
	if damage := e.damage.Load(); damage != nil {
		return nil, *damage
	}
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

// read runs a short read transaction.
func (e *Engine) read(ctx context.Context, do func(tx *bbolt.Tx) error) error {
	end, err := e.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	return e.view(do)
}

// Head returns the newest commit.
func (e *Engine) Head(ctx context.Context) (store.Point, error) {
	end, err := e.begin(ctx)
	if err != nil {
		return store.Point{}, err
	}
	defer end()
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.head, nil
}

// VersionAt returns the newest commit at or before t.
func (e *Engine) VersionAt(ctx context.Context, t time.Time) (p store.Point, err error) {
	if t.Before(time.UnixMicro(0)) {
		return p, ctx.Err()
	}
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		times := layout.InSpace(tx, layout.KindTime)
		c := times.Cursor()
		var micros, version []byte
		if later, _ := c.Seek(layout.U64(uint64(t.UnixMicro()) + 1)); later == nil {
			micros, version = c.Last()
		} else {
			micros, version = c.Prev()
		}
		if micros != nil {
			if p, err = times.Instant(micros, version); err != nil {
				return err
			}
		}
		tails, err := layout.Tails(tx, p.Version)
		for _, later := range tails {
			if !later.Time.After(t) {
				p = later.Point
			}
		}
		return err
	})
	return p, err
}

// PointOf returns the commit with a version.
func (e *Engine) PointOf(ctx context.Context, version uint64) (p store.Point, err error) {
	err = e.read(ctx, func(tx *bbolt.Tx) error {
		points := layout.InSpace(tx, layout.KindPoints)
		micros := points.Get(layout.U64(version))
		if micros == nil {
			return fmt.Errorf("version %d: %w", version, store.ErrNotFound)
		}
		p, err = points.Point(layout.U64(version), micros)
		return err
	})
	return p, err
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

// announce publishes a new head, replacing an unread one in a watcher's channel.
func (e *Engine) announce(head store.Point) {
	e.mu.Lock()
	defer e.mu.Unlock()
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
	var err error
	e.closed.Do(func() {
		e.endExamining()
		e.tree.release()
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
		if failed := e.recordShutdown(); failed != nil {
			e.logger.Warn("the next start examines the database before it serves", "why", failed)
		}
		if e.db != nil {
			err = e.db.Close()
		}
		err = errors.Join(err, e.follower.close())
		err = errors.Join(err, e.closeBlobs())
	})
	return err
}

func (e *Engine) closeBlobs() error {
	if e.blobs == nil {
		return nil
	}
	return e.blobs.Close()
}
