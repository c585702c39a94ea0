package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
	"github.com/alcove-memory/alcove/host/store/keycode"
)

// The steps of a Mirror.
const (
	MirrorApplied Step = "an increment was applied, and nothing is on the disk"
	MirrorMoved   Step = "the blobs of a later copy were moved, and not its database"
)

var _ store.Mirror = (*Engine)(nil)

// mayDo refuses what only the original of a followed space may do.
func (e *Engine) mayDo(j *job) error {
	if e.options.Mirror && !j.takes {
		return fmt.Errorf("%w: the store in %s follows another", store.ErrReadOnly, e.dir)
	}
	return nil
}

// Apply implements store.Mirror.
func (e *Engine) Apply(ctx context.Context, read func(store.Loader) error) (a store.Applied, err error) {
	e.building.Lock()
	defer e.building.Unlock()
	floors := e.allFloors()
	a.From = e.newest()
	err = e.do(&job{ctx: ctx, takes: true, work: func(tx *bbolt.Tx) error {
		in := &incoming{loader: newIncoming(tx), engine: e, tx: tx, a: &a}
		if err := in.check(); err != nil {
			return err
		}
		if err := read(in); err != nil {
			return err
		}
		return in.finish()
	}})
	if err != nil {
		e.setFloors(floors)
		return store.Applied{}, fmt.Errorf("apply an increment: %w", err)
	}
	e.announce(a.To)
	if len(a.Replaced) == 0 {
		return a, nil
	}
	if err := e.do(&job{ctx: context.WithoutCancel(ctx), takes: true, alone: e.erase}); err != nil { // the next start does it, too
		e.logger.Warn("what was purged may still be in free pages of the database", "error", err)
	}
	return a, e.sweepBlobs()
}

func (e *Engine) newest() store.Point {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.head
}

func (e *Engine) allFloors() map[store.BranchID]layout.Trim {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return maps.Clone(e.floors)
}

func (e *Engine) setFloors(floors map[store.BranchID]layout.Trim) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.floors = floors
}

// incoming is a store.Loader into a space in use, in one transaction. It takes no blobs: they are derived from entries.
type incoming struct {
	*loader
	engine *Engine
	tx     *bbolt.Tx
	own    store.History // that of the copy
	a      *store.Applied
}

func newIncoming(tx *bbolt.Tx) *loader {
	l := &loader{counted: map[string]bool{}, dumps: 1, update: func(work func(*bbolt.Tx) error) error { return work(tx) }}
	return l
}

// check refuses a space that was written to as one of its own.
func (i *incoming) check() (err error) {
	i.head = i.a.From.Version
	i.own, err = layout.ReadHistory(i.tx)
	if err == nil && (len(i.own) < 2 || i.own[len(i.own)-1].From != i.a.From.Version) {
		err = fmt.Errorf("the store in %s has writes of its own: %w", i.engine.dir, store.ErrDiverged)
	}
	return err
}

// Add implements store.Loader.
func (i *incoming) Add(p store.Piece) error {
	switch {
	case p.Branches != nil:
		i.noteDropped(p.Branches)
	case p.Point != nil && p.Point.Version <= i.a.From.Version: // its note was purged
		if err := i.compareNote(p); err != nil {
			return err
		}
	case p.Point != nil && (p.Point.Version <= i.a.To.Version || !p.Point.Time.After(cmp.Or(i.a.To, i.a.From).Time)):
		return fmt.Errorf("version %d comes after %d: %w", p.Point.Version, i.a.To.Version, store.ErrDiverged)
	case p.Point != nil:
		i.a.To = *p.Point
	case p.Entry != nil && p.Entry.Version <= i.a.From.Version:
		if err := i.compare(p.Entry); err != nil {
			return err
		}
	}
	return i.loader.Add(p)
}

// compare notes an earlier version that is another one now.
func (i *incoming) compare(e *store.Entry) error {
	if err := keycode.Check(e.Key); err != nil {
		return err
	}
	branch := layout.Branch(i.tx, e.Branch)
	if branch == nil {
		return nil // all of it is new to the index
	}
	key := keycode.Version(keycode.Encode(e.Key), e.Version)
	data := branch.Bucket(layout.KindEntries.Bucket()).Get(key)
	if data != nil {
		was, err := newReader(i.tx).decode(key, data)
		if err == nil && was.Deleted == e.Deleted && bytes.Equal(was.Value, e.Value) {
			return nil
		}
	}
	i.purged(store.Entry{Key: e.Key, Point: e.Point, Branch: e.Branch})
	return nil
}

// compareNote notes an earlier commit whose note is another one now.
func (i *incoming) compareNote(p store.Piece) error {
	points, version := layout.InSpace(i.tx, layout.KindPoints), layout.U64(p.Point.Version)
	value := points.Get(version)
	if value == nil {
		return fmt.Errorf("there is no version %d: %w", p.Point.Version, store.ErrDiverged)
	}
	was, err := points.Noted(version, value)
	switch {
	case err != nil:
		return err
	case !was.Time.Equal(p.Point.Time):
		return fmt.Errorf("version %d is of %s, and not of %s: %w", p.Point.Version, was.Time, p.Point.Time, store.ErrDiverged)
	case !bytes.Equal(was.Note, p.Note):
		i.purged(store.Entry{Point: *p.Point})
	}
	return nil
}

func (i *incoming) purged(e store.Entry) {
	if len(i.a.Replaced) == store.MostReplaced {
		i.a.All = true
		return
	}
	i.a.Replaced = append(i.a.Replaced, e)
}

func (i *incoming) noteDropped(kept []store.BranchID) {
	_ = layout.Branches(i.tx).ForEachBucket(func(id []byte) error { // it only collects
		if b := store.BranchID(layout.FromU64(id)); !slices.Contains(kept, b) {
			i.a.Dropped = append(i.a.Dropped, b)
		}
		return nil
	})
}

// Blob, Blobs, Finish and Abort implement store.Loader.
func (i *incoming) Blob(string, []byte) error    { return nil }
func (i *incoming) Blobs([]store.Blob)           {}
func (i *incoming) Finish(context.Context) error { return nil }
func (i *incoming) Abort() error                 { return nil }

// finish completes what was added.
func (i *incoming) finish() error {
	if i.a.To == (store.Point{}) {
		i.a.To = i.a.From
	}
	if copied := i.own[:len(i.own)-1]; !i.history.Continues(copied, i.a.From.Version) {
		return fmt.Errorf("it continues another history than that of the store in %s: %w", i.engine.dir, store.ErrDiverged)
	}
	err := i.flush()
	if err == nil {
		err = i.trim()
	}
	if err == nil {
		err = layout.WriteHistory(i.tx, i.history, i.a.To.Version)
	}
	if err == nil && len(i.a.Replaced) > 0 {
		err = i.forget()
	}
	if err == nil {
		err = i.engine.reach(MirrorApplied)
	}
	return err
}

// trim drops what changed floors no longer keep. Readers know of the floors first.
func (i *incoming) trim() error {
	floors := i.engine.allFloors()
	for _, b := range i.a.Dropped {
		delete(floors, b)
	}
	i.engine.forgetOverlays(func(*overlay) bool { return len(i.a.Dropped)+len(i.a.Replaced) > 0 })
	for _, s := range i.states {
		t, was := trimOf(s), floors[s.ID]
		if s.Floor.Version == 0 || was.Done && was.Floor == t.Floor && slices.Equal(was.Pins, t.Pins) && slices.Equal(was.Keep, t.Keep) {
			continue
		}
		t.Done = true // with this transaction
		floors[s.ID] = t
		i.engine.setFloors(maps.Clone(floors))
		if err := i.trimBranch(i.engine, s); err != nil {
			return fmt.Errorf("trim branch %d: %w", s.ID, err)
		}
		i.a.Trimmed = append(i.a.Trimmed, s)
	}
	i.engine.setFloors(floors)
	return nil
}

// forget has the file rewritten without what was purged, and drops what is derived from it.
func (i *incoming) forget() error {
	blobs := layout.InSpace(i.tx, layout.KindBlobs)
	var names [][]byte
	err := blobs.ForEach(func(name, _ []byte) error {
		names = append(names, bytes.Clone(name))
		return nil
	})
	for _, name := range names {
		err = errors.Join(err, blobs.Remove(name))
	}
	return errors.Join(err, layout.InSpace(i.tx, layout.KindMeta).Write(keyErase, []byte{1}))
}

// Adopt implements store.Mirror. It goes on at its beginning after a crash: until the database is replaced, nothing refers to what was
// moved.
func (e *Engine) Adopt(ctx context.Context, dir string) (a store.Applied, err error) {
	e.building.Lock()
	defer e.building.Unlock()
	a.From = e.newest()
	if err := e.do(&job{ctx: ctx, takes: true, alone: func() error { return e.adopt(dir, &a) }}); err != nil {
		return store.Applied{}, fmt.Errorf("take over the store in %s: %w", dir, err)
	}
	return a, e.sweepBlobs()
}

// adopt runs on the writer's goroutine.
func (e *Engine) adopt(dir string, a *store.Applied) error {
	if err := e.intact(); err != nil {
		return err
	}
	later, err := e.compareTo(dir, a)
	if err != nil {
		return err
	}
	blobs, err := os.ReadDir(layout.Blobs(dir))
	for _, f := range blobs {
		err = errors.Join(err, os.Rename(filepath.Join(layout.Blobs(dir), f.Name()), e.blobPath(f.Name())))
	}
	if err = errors.Join(err, durable.SyncDir(e.blobDir())); err != nil {
		return err
	}
	if err := e.reach(MirrorMoved); err != nil {
		return err
	}
	e.file.Lock() // waits for reads that run, for which the old file must stay open
	defer e.file.Unlock()
	if err := e.present(); err != nil {
		return err
	}
	e.setFloors(later.floors)
	e.forgetOverlays(func(*overlay) bool { return true })
	if err := e.replaceFile(layout.Database(dir)); err != nil {
		return err
	}
	e.announce(later.head)
	return nil
}

// compareTo reads the state of the store in dir, and how it differs.
func (e *Engine) compareTo(dir string, a *store.Applied) (later *Engine, err error) {
	db, err := bbolt.Open(layout.Database(dir), 0o600, &bbolt.Options{Timeout: lockWithin, ReadOnly: true})
	if err != nil {
		return later, err
	}
	defer db.Close()
	var history, own store.History
	if err := e.view(func(tx *bbolt.Tx) (err error) {
		own, err = layout.ReadHistory(tx)
		return err
	}); err != nil {
		return later, err
	}
	kept := map[store.BranchID]bool{}
	later = &Engine{floors: map[store.BranchID]layout.Trim{}}
	err = db.View(func(tx *bbolt.Tx) error {
		if err := later.loadState(tx); err != nil {
			return err
		}
		if history, err = layout.ReadHistory(tx); err != nil {
			return err
		}
		points := layout.InSpace(tx, layout.KindPoints)
		value := points.Get(layout.U64(a.From.Version))
		if value == nil {
			return fmt.Errorf("it has no version %d: %w", a.From.Version, store.ErrDiverged)
		}
		if at, err := points.Point(layout.U64(a.From.Version), value); err != nil || !at.Time.Equal(a.From.Time) {
			return errors.Join(err, fmt.Errorf("its version %d is another one: %w", a.From.Version, store.ErrDiverged))
		}
		return layout.Branches(tx).ForEachBucket(func(id []byte) error {
			kept[store.BranchID(layout.FromU64(id))] = true
			return nil
		})
	})
	if err != nil {
		return later, err
	}
	if len(own) < 2 || own[len(own)-1].From != a.From.Version || len(history) < 2 || !history[:len(history)-1].Continues(own[:len(own)-1], a.From.Version) {
		return later, fmt.Errorf("it has another history than the store in %s: %w", e.dir, store.ErrDiverged)
	}
	a.To = later.head
	return later, e.differ(kept, later.floors, a)
}

// differ notes the branches that are gone or have other floors.
func (e *Engine) differ(kept map[store.BranchID]bool, floors map[store.BranchID]layout.Trim, a *store.Applied) error {
	for b, t := range floors {
		if was, had := e.floor(b); !had || was.Floor != t.Floor || !slices.Equal(was.Pins, t.Pins) {
			a.Trimmed = append(a.Trimmed, store.BranchState{ID: b, Floor: t.Floor, Pins: t.Pins, Keep: t.Keep})
		}
	}
	return e.view(func(tx *bbolt.Tx) error {
		return layout.Branches(tx).ForEachBucket(func(id []byte) error {
			if b := store.BranchID(layout.FromU64(id)); !kept[b] {
				a.Dropped = append(a.Dropped, b)
			}
			return nil
		})
	})
}
