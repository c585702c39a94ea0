package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alcove-memory/alcove/host/backup"
	"github.com/alcove-memory/alcove/host/bundle"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/owner"
	"github.com/alcove-memory/alcove/host/store"
)

// Directory is a data directory that this process does not serve.
type Directory struct {
	Path   string
	Driver store.Driver // of its store; nil: the default one
}

// directory is that of the host.
func (h *Host) directory() Directory { return Directory{h.options.Dir, h.options.Driver} }

func (d Directory) driver() store.Driver {
	if d.Driver == nil {
		return defaultDriver()
	}
	return d.Driver
}

// Import makes the space of a bundle in a directory that has none, wholly or not at all, and verifies it. progress may be nil.
// A bundle grants nothing; but a family without which nothing was stored stays one.
func (d Directory) Import(ctx context.Context, r io.Reader, progress func(bytes int64)) (made Restored, err error) {
	made.Verified, err = d.load(ctx, func(l store.Loader, loading string) error {
		s, err := bundle.Read(ctx, r, flat{l}.Add, progress)
		if err == nil {
			made.Settings, err = putGuards(s.Guards, d.Path, loading)
		}
		if err == nil && s.Since != 0 {
			err = fmt.Errorf("the bundle goes on from version %d: it is part of a backup, and alcove restore takes its folder", s.Since)
		}
		return err
	})
	return made, err
}

// Restore makes the space of a backup, with its settings, in a directory that has none, wholly or not at all, and verifies it.
func (d Directory) Restore(ctx context.Context, from string, o RestoreOptions) (r Restored, err error) {
	r.Verified, err = d.load(ctx, func(l store.Loader, loading string) error {
		settings := &restoring{dir: d.Path, loading: loading, keep: o.KeepSettings}
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

// load has a store made by read, and verifies it before it is there.
func (d Directory) load(ctx context.Context, read func(l store.Loader, loading string) error) (v memory.Verified, err error) {
	if has, err := d.HasStore(); has || err != nil {
		return v, fmt.Errorf("load into %s: %w", d.Path, errors.Join(store.ErrNotEmpty, err))
	}
	lock, err := lock(d.Path)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	verify := func(ctx context.Context, dir string) error {
		v, err = Directory{dir, d.driver()}.verify(ctx)
		if err == nil && len(v.Findings) > 0 {
			err = fmt.Errorf("what was loaded does not verify, so it was removed again: %s", v.Findings[0].What)
		}
		return err
	}
	return v, d.driver().Load(ctx, d.Path, store.Load{Read: read, Verify: verify})
}

// verify verifies a space that was just loaded. The caller holds the lock.
func (d Directory) verify(ctx context.Context) (v memory.Verified, err error) {
	var closing closers
	defer func() { err = errors.Join(err, closing.close()) }()
	p, err := assemble(ctx, Options{Dir: d.Path, Driver: d.Driver}.withDefaults(), assembly{dormant: true}, &closing)
	if err != nil {
		return v, err
	}
	return p.space.Verify(ctx)
}

// HasStore reports whether there is a store.
func (d Directory) HasStore() (bool, error) { return d.driver().Exists(d.Path) }

// Missing is an error when the directory had a store, as its other files show, and has none now: its database was moved or
// deleted. An empty one in its place would be taken for it, and would sweep its blobs.
func (d Directory) Missing() error {
	filed, ok := d.driver().(store.Filed)
	if !ok {
		return nil // nothing of it can be moved apart
	}
	if has, err := d.HasStore(); has || err != nil {
		return err
	}
	files := filed.Files(d.Path)
	for _, sign := range []string{files.Blobs, owner.TokenPath(d.Path)} {
		if _, err := os.Stat(sign); err != nil {
			return nil
		}
	}
	return fmt.Errorf("the database %s is gone, and the rest of its store is there: put it back, make it from a backup (alcove restore BACKUP --data %q), or, to begin with an empty memory, remove %q first",
		files.Database, d.Path, files.Blobs)
}
