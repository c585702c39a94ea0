package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/backup"
	"github.com/alcove-memory/alcove/host/bundle"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/owner"
	"github.com/alcove-memory/alcove/host/store"
)

// Import makes the space of a bundle in a data directory that has none, wholly or not at all, and verifies it. progress
// may be nil. A bundle grants nothing; but a family without which nothing was stored stays one.
func Import(ctx context.Context, dir string, r io.Reader, progress func(bytes int64)) (made Restored, err error) {
	made.Verified, err = load(ctx, dir, func(l store.Loader, loading string) error {
		s, err := bundle.Read(ctx, r, flat{l}.Add, progress)
		if err == nil {
			made.Settings, err = putGuards(s.Guards, dir, loading)
		}
		if err == nil && s.Since != 0 {
			err = fmt.Errorf("the bundle goes on from version %d: it is part of a backup, and alcove restore takes its folder", s.Since)
		}
		return err
	})
	return made, err
}

// Restore makes the space of a backup, with its settings, in a data directory that has none, wholly or not at all, and verifies
// it.
func Restore(ctx context.Context, from, dir string, o RestoreOptions) (r Restored, err error) {
	r.Verified, err = load(ctx, dir, func(l store.Loader, loading string) error {
		settings := &restoring{dir: dir, loading: loading, keep: o.KeepSettings}
		if err := backup.Read(ctx, from, flat{l}, settings, o.Progress); err != nil {
			return err
		}
		var err error
		r.Settings, err = settings.finish()
		return err
	})
	return r, err
}

// mostNesting is how deep a value may be nested to be loaded. What the memory writes is at most half as deep; what is deeper
// was made by hand, and would cost each of its readers memory and time for every level.
const mostNesting = 1024

// flat refuses values that no server would have written.
type flat struct{ store.Loader }

func (l flat) Add(p store.Piece) error {
	if p.Entry != nil {
		if n := memory.Nesting(p.Entry.Value); n > mostNesting && json.Valid(p.Entry.Value) {
			return fmt.Errorf("the value of %q in %q is nested %d deep: at most %d are loaded; use another export or backup", p.Entry.Key.Name, p.Entry.Key.Namespace, n, mostNesting)
		}
	}
	return l.Loader.Add(p)
}

func load(ctx context.Context, dir string, read func(l store.Loader, loading string) error) (v memory.Verified, err error) {
	driver := defaultDriver()
	if has, err := driver.Exists(dir); has || err != nil {
		return v, fmt.Errorf("load into %s: %w", dir, errors.Join(store.ErrNotEmpty, err))
	}
	lock, err := lock(dir)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	verify := func(ctx context.Context, dir string) error {
		v, err = verifyLoaded(ctx, driver, dir)
		if err == nil && len(v.Findings) > 0 {
			err = fmt.Errorf("what was loaded does not verify, so it was removed again: %s", v.Findings[0].What)
		}
		return err
	}
	return v, driver.Load(ctx, dir, store.Load{Read: read, Verify: verify})
}

// verifyLoaded opens a space that was just loaded, and verifies it. The caller holds the lock.
func verifyLoaded(ctx context.Context, driver store.Driver, dir string) (v memory.Verified, err error) {
	h := &Host{options: Options{Dir: dir, Clock: time.Now, Driver: driver}}
	if err := h.openSpace(ctx); err != nil {
		return v, errors.Join(err, h.Close())
	}
	v, err = h.space.Verify(ctx)
	return v, errors.Join(err, h.Close())
}

// HasStore reports whether there is a store in a data directory.
func HasStore(dir string) (bool, error) { return defaultDriver().Exists(dir) }

// MissingStore tells of a data directory that had a store, as what is beside it shows, and has none now: its database was
// moved or deleted. An empty one in its place would be taken for it, and would sweep its blobs.
func MissingStore(dir string) error { return missingStore(defaultDriver(), dir) }

func missingStore(driver store.Driver, dir string) error {
	filed, ok := driver.(store.Filed)
	if !ok {
		return nil // nothing of it can be moved apart
	}
	if has, err := driver.Exists(dir); has || err != nil {
		return err
	}
	files := filed.Files(dir)
	for _, sign := range []string{files.Blobs, owner.TokenPath(dir)} {
		if _, err := os.Stat(sign); err != nil {
			return nil
		}
	}
	return fmt.Errorf("the database %s is gone, and the rest of its store is there: put it back, make it from a backup (alcove restore BACKUP --data %q), or, to begin with an empty memory, remove %q first",
		files.Database, dir, files.Blobs)
}
