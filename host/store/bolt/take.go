package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// The steps of a Load.
const (
	LoadWhole    Step = "a space was loaded under a passing name, and is not verified"
	LoadVerified Step = "a loaded space is verified, and has its passing name"
	LoadMoved    Step = "a part of a loaded space was moved to its place, and its database was not"
	LoadAppeared Step = "a loaded space is in its place, and its passing folder is there" // too late to fail
)

const passing = "loading" // the folder in which a space is made, and verified

// removePassing removes what a load left that did not come to its end.
func removePassing(dir string) error { return os.RemoveAll(filepath.Join(dir, passing)) }

// Load makes the space in a folder of the directory, where it is verified; then it appears, its database last.
func (d Driver) Load(ctx context.Context, dir string, l store.Load) error {
	if has, err := d.Exists(dir); has || err != nil {
		return fmt.Errorf("load into %s: %w", dir, errors.Join(store.ErrNotEmpty, err))
	}
	if err := removePassing(dir); err != nil {
		return fmt.Errorf("load into %s: %w", dir, err)
	}
	made := filepath.Join(dir, passing)
	err := d.make(ctx, made, l)
	if err == nil {
		err = d.move(made, dir)
	}
	if err != nil {
		return errors.Join(err, removePassing(dir))
	}
	return nil
}

// make makes and verifies a space under its passing name.
func (d Driver) make(ctx context.Context, dir string, l store.Load) error {
	loader, err := newLoader(dir)
	if err != nil {
		return err
	}
	if err := l.Read(loader, dir); err != nil {
		return errors.Join(err, loader.Abort())
	}
	if err := loader.Finish(ctx); err != nil {
		return err
	}
	if err := d.reach(LoadWhole); err != nil || l.Verify == nil {
		return err
	}
	if err := l.Verify(ctx, dir); err != nil {
		return err
	}
	return d.reach(LoadVerified)
}

// move moves all files of a space to their place, the database last: without it the others count for nothing.
func (d Driver) move(from, to string) error {
	err := filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == from || path == layout.Database(from) {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return errors.Join(os.MkdirAll(filepath.Join(to, name), 0o700), layout.SyncDir(filepath.Dir(filepath.Join(to, name))))
		}
		return errors.Join(os.Rename(path, filepath.Join(to, name)), layout.SyncDir(filepath.Dir(filepath.Join(to, name))))
	})
	if err == nil {
		err = d.reach(LoadMoved)
	}
	if err == nil {
		err = os.Rename(layout.Database(from), layout.Database(to))
	}
	if err == nil {
		err = layout.SyncDir(to)
	}
	if err != nil {
		return fmt.Errorf("move what was loaded to %s: %w", to, err)
	}
	_ = layout.SyncDir(filepath.Dir(to)) // the directory may be new; the one above it may not be ours
	_ = d.reach(LoadAppeared)
	_ = removePassing(to) // the next start does it otherwise
	return nil
}

func (d Driver) reach(s Step) error {
	if d.Steps == nil {
		return nil
	}
	return d.Steps(s)
}
