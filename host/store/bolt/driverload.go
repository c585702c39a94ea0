package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/bolt/layout"
)

// The steps of a Load.
const (
	LoadWhole    Step = "a space was loaded into a temporary folder, and is not verified"
	LoadVerified Step = "a loaded space is verified, in its temporary folder"
	LoadMoved    Step = "the files of a loaded space were moved into the directory, but not its database"
	LoadAppeared Step = "a loaded space is in the directory, and its temporary folder is left" // too late to fail
)

const loadFolder = "loading" // the temporary folder of a Load

// removeLoadFolder removes the remains of an interrupted load.
func removeLoadFolder(dir string) error { return os.RemoveAll(filepath.Join(dir, loadFolder)) }

// Load creates and verifies the space in a temporary folder of the directory, then moves its files, the database last.
// ErrNotEmpty: the directory has a space already.
func (d Driver) Load(ctx context.Context, dir string, l store.Load) error {
	if has, err := d.Exists(dir); has || err != nil {
		return fmt.Errorf("load into %s: %w", dir, errors.Join(store.ErrNotEmpty, err))
	}
	if err := removeLoadFolder(dir); err != nil {
		return fmt.Errorf("load into %s: %w", dir, err)
	}
	made := filepath.Join(dir, loadFolder)
	err := d.make(ctx, made, l)
	if err == nil {
		err = d.move(made, dir)
	}
	if err != nil {
		return errors.Join(err, removeLoadFolder(dir))
	}
	return nil
}

// make creates and verifies a space in its temporary folder.
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

// move moves all files of a space, the database last: it makes the space exist.
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
			return errors.Join(os.MkdirAll(filepath.Join(to, name), 0o700), durable.SyncDir(filepath.Dir(filepath.Join(to, name))))
		}
		return errors.Join(os.Rename(path, filepath.Join(to, name)), durable.SyncDir(filepath.Dir(filepath.Join(to, name))))
	})
	if err == nil {
		err = d.reach(LoadMoved)
	}
	if err == nil {
		err = os.Rename(layout.Database(from), layout.Database(to))
	}
	if err == nil {
		err = durable.SyncDir(to)
	}
	if err != nil {
		return fmt.Errorf("move the loaded space to %s: %w", to, err)
	}
	_ = durable.SyncDir(filepath.Dir(to)) // the directory may be new; the one above it may not be ours
	_ = d.reach(LoadAppeared)
	_ = removeLoadFolder(to) // the next start does it otherwise
	return nil
}

func (d Driver) reach(s Step) error {
	if d.Steps == nil {
		return nil
	}
	return d.Steps(s)
}
