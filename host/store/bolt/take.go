package bolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/store"
)

// Load is how a space comes into a directory that has none.
type Load struct {
	Read   func(store.Loader) error                    // gives the loader everything
	Verify func(ctx context.Context, dir string) error // opens what was loaded, under a passing name, and judges it; nil: it does
	Steps  func(Step) error                            // see Options
}

// The steps of a Load.
const (
	LoadWhole    Step = "a space was loaded under a passing name, and is not verified"
	LoadVerified Step = "a loaded space is verified, and has its passing name"
	LoadMoved    Step = "a part of a loaded space was moved to its place, and its database was not"
	LoadAppeared Step = "a loaded space is in its place, and its passing folder is there" // too late to fail
)

const passing = "loading" // the folder in which a space is made, and verified

// RemovePassing removes what a load left that did not come to its end.
func RemovePassing(dir string) error { return os.RemoveAll(filepath.Join(dir, passing)) }

// Into makes the space in a directory, wholly or not at all: it is made in a folder of the directory, and appears there, with
// its database last, when it is verified. The caller makes sure that nobody has the directory open.
func (l Load) Into(ctx context.Context, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "alcove.db")); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("load into %s: %w", dir, errors.Join(store.ErrNotEmpty, err))
	}
	if err := RemovePassing(dir); err != nil {
		return fmt.Errorf("load into %s: %w", dir, err)
	}
	made := filepath.Join(dir, passing)
	err := l.make(ctx, made)
	if err == nil {
		err = l.move(made, dir)
	}
	if err != nil {
		return errors.Join(err, RemovePassing(dir))
	}
	return nil
}

// make makes and verifies a space under its passing name.
func (l Load) make(ctx context.Context, dir string) error {
	loader, err := newLoader(dir)
	if err != nil {
		return err
	}
	if err := l.Read(loader); err != nil {
		return errors.Join(err, loader.Abort())
	}
	if err := loader.Finish(ctx); err != nil {
		return err
	}
	if err := l.reach(LoadWhole); err != nil || l.Verify == nil {
		return err
	}
	if err := l.Verify(ctx, dir); err != nil {
		return err
	}
	return l.reach(LoadVerified)
}

// move moves all files of a space to their place, the database last: without it the others count for nothing.
func (l Load) move(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == from || path == filepath.Join(from, "alcove.db") {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		}
		return errors.Join(os.Rename(path, filepath.Join(to, name)), syncDir(filepath.Dir(filepath.Join(to, name))))
	})
	if err == nil {
		err = l.reach(LoadMoved)
	}
	if err == nil {
		err = os.Rename(filepath.Join(from, "alcove.db"), filepath.Join(to, "alcove.db"))
	}
	if err == nil {
		err = syncDir(to)
	}
	if err != nil {
		return fmt.Errorf("move what was loaded to %s: %w", to, err)
	}
	_ = syncDir(filepath.Dir(to)) // the directory may be new; the one above it may not be ours
	_ = l.reach(LoadAppeared)
	_ = RemovePassing(to) // the next start does it otherwise
	return nil
}

func (l Load) reach(s Step) error {
	if l.Steps == nil {
		return nil
	}
	return l.Steps(s)
}
