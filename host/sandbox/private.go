package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// private creates a directory that only its owner can use, or checks that an existing one is.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkPrivate(dir)
}

func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return checkClosed(dir, info)
}

// checkClosed checks that info, of what dir names, is that of a directory that only its owner can use.
func checkClosed(dir string, info fs.FileInfo) error {
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory: choose another one", dir)
	case !owned(info):
		return fmt.Errorf("%s belongs to another user, who could put code there: choose another directory", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can enter %s (%v), and could put code there: run chmod 700 on it", dir, info.Mode().Perm())
	}
	return nil
}

// ours reports whether a file is regular and only this process's user can write it.
func ours(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && owned(info) && (runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0)
}

// checkUnexposed checks that no user but root can replace dir, or a link on the way to it, with another directory.
func checkUnexposed(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	if err := checkParents(dir); err != nil || real == dir {
		return err
	}
	return checkParents(real)
}

func checkParents(dir string) error {
	for parent := filepath.Dir(dir); parent != filepath.Dir(parent); parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil {
			return err
		}
		named, err := os.Lstat(parent) // the directory, or a link to it
		switch {
		case err != nil:
			return err
		case !trusted(info) || !trusted(named):
			return fmt.Errorf("%s belongs to another user, who could put another directory in the place of %s", parent, dir)
		case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf("others can write to %s (%v), and could put another directory in the place of %s: run chmod go-w on it", parent, info.Mode().Perm(), dir)
		}
	}
	return nil
}

// trusted reports whether a file belongs to this process's user or root.
func trusted(info fs.FileInfo) bool { return owned(info) || ownedByRoot(info) }

// privateDir is a directory of this user alone that others cannot exchange for another one.
type privateDir struct {
	path string
	pin  *os.File // path leads through it, whatever the directory is called meanwhile; nil: nobody else can rename it
}

// hold checks a private directory, and pins it if others can write to the directory directly above it.
func hold(dir string) (privateDir, error) {
	if err := checkPrivate(dir); err != nil {
		return privateDir{}, err
	}
	exposed := checkUnexposed(dir)
	if exposed == nil {
		return privateDir{path: dir}, nil
	}
	// Further up, others could lead dir to a directory of the same name.
	if checkUnexposed(filepath.Dir(dir)) != nil {
		return privateDir{}, exposed
	}
	h, err := pinned(dir)
	if errors.Is(err, errors.ErrUnsupported) {
		return privateDir{}, exposed
	}
	return h, err
}

func (h privateDir) close() error {
	if h.pin == nil {
		return nil
	}
	return h.pin.Close()
}

// workspace is a directory private to this process. wazero reads native code from it, so that code cannot change between
// verification and use.
type workspace struct {
	dir    string
	shown  string // dir, for errors
	engine string // wazero's name for its directory: its version and the platform
}

// dirEngine is wazero's cache in a workspace.
const dirEngine = "engine"

// openWorkspace creates a workspace in the first of parents that others cannot change.
func openWorkspace(parents []string) (*workspace, error) {
	var failed []error
	for _, parent := range parents {
		w, err := newWorkspace(parent)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err = checkUnexposed(w.dir); err == nil {
			return w, nil
		}
		failed = append(failed, err, os.Remove(w.dir))
	}
	return nil, fmt.Errorf("find a directory for native code that only this process's user can change: %w: name one with TMPDIR, or with --cache or XDG_CACHE_HOME", errors.Join(failed...))
}

// newWorkspace creates a workspace in a directory that others cannot exchange.
func newWorkspace(parent string) (*workspace, error) {
	dir, err := os.MkdirTemp(parent, "alcove-*")
	if err != nil {
		return nil, err
	}
	if err := checkPrivate(dir); err != nil {
		return nil, errors.Join(err, os.Remove(dir))
	}
	return &workspace{dir: dir, shown: dir}, nil
}

// named looks up the name of the directory that wazero created.
func (w *workspace) named() error {
	entries, err := os.ReadDir(filepath.Join(w.dir, dirEngine))
	if err != nil {
		return err
	}
	if len(entries) != 1 {
		return fmt.Errorf("the engine made %d directories, not 1", len(entries))
	}
	w.engine = entries[0].Name()
	return nil
}

// ready recreates the workspace if it was removed, say by a cleaner of temporary files.
func (w *workspace) ready() error {
	for _, dir := range []string{w.dir, filepath.Join(w.dir, dirEngine), w.native()} {
		if err := private(dir); err != nil {
			return notWritten(w.shown, err)
		}
	}
	return nil
}

// native returns the directory from which wazero reads native code.
func (w *workspace) native() string { return filepath.Join(w.dir, dirEngine, w.engine) }

func (w *workspace) close() error { return os.RemoveAll(w.dir) }
