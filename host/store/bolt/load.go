package bolt

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// loading is the file name of an unfinished load.
const loading = "alcove.db.loading"

const (
	loadPieces = 20_000   // pieces written in one transaction
	loadBytes  = 32 << 20 // bytes of values written in one transaction
)

// loader is a store.Loader.
type loader struct {
	dir     string
	db      *bbolt.DB
	update  func(func(*bbolt.Tx) error) error // db's, or work in a transaction that is running
	waiting []store.Piece
	bytes   int
	states  []store.BranchState
	counted map[string]bool // keys whose earlier counters were dropped
	dumps   int             // the current dump's number, from 1
	history store.History   // that the space continues
	head    uint64          // the newest version so far
	blobs   []store.Blob    // the final list
	blob    *os.File        // the blob being written; nil: none
	files   map[string]bool // written blobs, by digest
	staged  *staged         // nil: the space is restored
}

// NewLoader returns a loader for a directory without a space; store.ErrNotEmpty if it has one.
func NewLoader(dir string) (store.Loader, error) {
	l, err := newLoader(dir)
	if err != nil {
		return nil, err
	}
	return l, nil
}

func newLoader(dir string) (*loader, error) {
	if err := os.MkdirAll(layout.Blobs(dir), 0o700); err != nil {
		return nil, fmt.Errorf("load into %s: %w", dir, err)
	}
	if _, err := os.Stat(layout.Database(dir)); !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("load into %s: %w", dir, errors.Join(store.ErrNotEmpty, err))
	}
	l := &loader{dir: dir, counted: map[string]bool{}, files: map[string]bool{}}
	if err := l.create(); err != nil {
		return nil, fmt.Errorf("load into %s: %w", dir, err)
	}
	return l, nil
}

func (l *loader) path() string { return filepath.Join(l.dir, loading) }

func (l *loader) create() error {
	db, err := layout.Create(l.path())
	if err != nil {
		return err
	}
	l.db, l.update = db, func(work func(*bbolt.Tx) error) error { return l.db.Update(work) }
	return db.Update(layout.MakeBuckets)
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
	err := l.update(func(tx *bbolt.Tx) error {
		var log []change
		for _, p := range l.waiting {
			if err := l.put(tx, p, &log); err != nil {
				return err
			}
		}
		return putLog(tx, log)
	})
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	clear(l.waiting)
	l.waiting, l.bytes = l.waiting[:0], 0
	return nil
}

// change is a buffered record of a change log, to be written in order.
type change struct {
	branch     store.BranchID
	key, value []byte
}

func putLog(tx *bbolt.Tx, log []change) error {
	slices.SortFunc(log, func(a, b change) int {
		if a.branch != b.branch {
			return int(int64(a.branch) - int64(b.branch))
		}
		return bytes.Compare(a.key, b.key)
	})
	for _, c := range log {
		branch, err := layout.MakeBranch(tx, c.branch)
		if err != nil {
			return err
		}
		if err := layout.InBranch(branch, c.branch, layout.KindLog).Write(c.key, c.value); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) put(tx *bbolt.Tx, p store.Piece, log *[]change) error {
	switch {
	case p.Branches != nil:
		l.dumps++
		l.states, l.counted = nil, map[string]bool{}
		return l.dropOthers(tx, p.Branches)
	case p.Point != nil:
		l.replaces(p.Point.Version)
		l.head = max(l.head, p.Point.Version)
		if len(p.Note) > store.NoteLimit {
			return fmt.Errorf("the note of version %d has %d bytes: at most %d are allowed", p.Point.Version, len(p.Note), store.NoteLimit)
		}
		micros := layout.U64(uint64(p.Point.Time.UnixMicro()))
		return errors.Join(
			layout.InSpace(tx, layout.KindPoints).Write(layout.U64(p.Point.Version), layout.EncodePoint(*p.Point, p.Note)),
			layout.InSpace(tx, layout.KindTime).Write(micros, layout.U64(p.Point.Version)))
	case p.Branch != nil:
		l.states = append(l.states, *p.Branch)
		if l.staged.dumpedAnew(l.dumps, *p.Branch) {
			return dropEntriesOf(tx, p.Branch.ID)
		}
		_, err := layout.MakeBranch(tx, p.Branch.ID)
		return err
	case p.Entry != nil:
		return l.entry(tx, p.Entry, log)
	case p.Counter != nil:
		return l.counter(tx, p.Counter)
	}
	return errors.New("a piece is empty")
}

// dropOthers drops the branches that are not in keep.
func (l *loader) dropOthers(tx *bbolt.Tx, keep []store.BranchID) error {
	var drop [][]byte
	branches := layout.Branches(tx)
	err := branches.ForEachBucket(func(id []byte) error {
		if !slices.Contains(keep, store.BranchID(layout.FromU64(id))) {
			drop = append(drop, bytes.Clone(id))
		}
		return nil
	})
	for _, id := range drop {
		err = errors.Join(err, branches.DeleteBucket(id))
	}
	return err
}

func (l *loader) entry(tx *bbolt.Tx, e *store.Entry, log *[]change) error {
	if err := keycode.Check(e.Key); err != nil {
		return err
	}
	micros, err := instantOf(layout.InSpace(tx, layout.KindPoints), layout.U64(e.Version))
	if micros == nil || err != nil {
		return errors.Join(err, fmt.Errorf("%s has version %d, which no point names", e.Key, e.Version))
	}
	branch, err := layout.MakeBranch(tx, e.Branch)
	if err != nil {
		return err
	}
	l.replaces(e.Version)
	raw := keycode.Encode(e.Key)
	key := keycode.Version(raw, e.Version)
	r, apart := layout.NewRecord(key, store.Entry{Branch: e.Branch, Point: layout.PointOf(layout.U64(e.Version), micros), Value: e.Value, Deleted: e.Deleted})
	entries, values := layout.InBranch(branch, e.Branch, layout.KindEntries), layout.InBranch(branch, e.Branch, layout.KindValues)
	entries.FillPercent, values.FillPercent = layout.FillSorted, layout.FillSorted // a dump is in key order
	if apart != nil {
		err = values.WriteSealed(key, apart)
	} else if l.dumps > 1 {
		err = values.Remove(key) // its value may have been large before a purge
	}
	if err := errors.Join(err, entries.WriteSealed(key, r.Encode(key))); err != nil {
		return err
	}
	if len(l.states) > 0 && e.Version > l.states[len(l.states)-1].Floor.Version {
		k, v := layout.EncodeChange(raw, e.Version, e.Deleted)
		*log = append(*log, change{e.Branch, k, v})
	}
	return nil
}

// counter adds a counter record. A later dump has all records of a key, so an earlier dump's are dropped.
func (l *loader) counter(tx *bbolt.Tx, c *store.CounterRecord) error {
	branch, err := layout.MakeBranch(tx, c.Branch)
	if err != nil {
		return err
	}
	counters, raw := layout.InBranch(branch, c.Branch, layout.KindCounters), keycode.Encode(c.Key)
	if place := string(layout.U64(uint64(c.Branch))) + string(raw); l.dumps > 1 && !l.counted[place] {
		l.counted[place] = true
		cursor := counters.Cursor()
		for key, _ := cursor.Seek(raw); bytes.HasPrefix(key, raw); key, _ = cursor.Seek(raw) {
			if err := counters.Remove(bytes.Clone(key)); err != nil {
				return err
			}
		}
	}
	err = counters.Write(keycode.Version(raw, c.Version), layout.EncodeCounter(c.Value))
	if l.staged != nil { // a later dump of the copy goes on where one of the original would
		err = errors.Join(err, layout.InBranch(branch, c.Branch, layout.KindCounted).Write(raw, layout.U64(l.head)))
	}
	return err
}

// Continue sets the history that the space continues.
func (l *loader) Continue(h store.History) { l.history = h }

// Finish writes the floors, drops versions below them, and makes the space visible. After several dumps it copies the file,
// so that replaced values do not remain in free pages.
func (l *loader) Finish(ctx context.Context) error {
	err := l.flush()
	if err == nil {
		err = l.trim()
	}
	if err == nil {
		err = l.finishBlobs()
	}
	if err == nil && l.history != nil {
		err = l.db.Update(func(tx *bbolt.Tx) error { return layout.WriteHistory(tx, l.history, l.head) })
	}
	if err == nil && l.dumps > 1 {
		err = l.compact()
	}
	if err == nil {
		err = l.db.Sync()
	}
	if err = errors.Join(err, l.db.Close()); err != nil {
		return errors.Join(fmt.Errorf("load: %w", err), os.Remove(l.path()))
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, os.Remove(l.path()))
	}
	if err := os.Rename(l.path(), layout.Database(l.dir)); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	l.db = nil
	if err := durable.SyncDir(l.dir); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	_ = durable.SyncDir(filepath.Dir(l.dir)) // l.dir may be new; syncing its parent may not be permitted
	return nil
}

func (l *loader) trim() error {
	e := &Engine{db: l.db, options: Options{chunk: chunkEntries}}
	for _, s := range l.states {
		if s.Floor.Version == 0 {
			continue
		}
		if err := l.trimBranch(e, s); err != nil {
			return fmt.Errorf("trim branch %d: %w", s.ID, err)
		}
	}
	return nil
}

func (l *loader) trimBranch(e *Engine, s store.BranchState) error {
	t := trimOf(s)
	err := l.update(func(tx *bbolt.Tx) error {
		branch, err := layout.MakeBranch(tx, s.ID)
		if err != nil {
			return err
		}
		record := layout.InBranch(branch, s.ID, layout.KindTrim)
		if err := t.Write(record); err != nil || l.staged == nil {
			return err
		}
		return layout.FinishTrim(record)
	})
	if err != nil || l.staged != nil { // the dump was of what the original retains
		return err
	}
	return e.dropOld(s.ID, t, l.update)
}

func trimOf(s store.BranchState) layout.Trim {
	return layout.Trim{Floor: s.Floor, Pins: s.Pins, Keep: s.Keep}
}

// compact copies the used pages to a new file.
func (l *loader) compact() error {
	if err := compactFile(l.db, l.path()+".2"); err != nil {
		return err
	}
	err := errors.Join(l.db.Close(), os.Rename(l.path()+".2", l.path()))
	if err != nil {
		return err
	}
	l.db, err = bbolt.Open(l.path(), 0o600, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, NoSync: true})
	return err
}

// Abort removes the unfinished space.
func (l *loader) Abort() error {
	if l.db == nil {
		return nil
	}
	err := errors.Join(l.closeBlob(), l.db.Close())
	l.db = nil
	return errors.Join(err, os.Remove(l.path()))
}
