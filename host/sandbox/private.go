package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// private makes a directory that only its owner can use, or checks that it is one.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return checkPrivate(dir)
}

func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory: choose another one", dir)
	case !owned(info):
		return fmt.Errorf("%s belongs to another user, who could put code there: choose another directory", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("others can enter %s (%v), and could put code there: run chmod 700 on it", dir, info.Mode().Perm())
	}
	return nil
}

// ours says whether a file is regular and nobody but this process's user can write it.
func ours(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && owned(info) && (runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0)
}

// unexposed makes sure that no other user can put another directory in the place of dir. root can.
func unexposed(dir string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || runtime.GOOS == "windows" {
		return err
	}
	for parent := filepath.Dir(dir); parent != filepath.Dir(parent); parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		switch {
		case err != nil:
			return err
		case !owned(info) && !ownedByRoot(info):
			return fmt.Errorf("%s belongs to another user, who could put another directory in the place of %s", parent, dir)
		case info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
			return fmt.Errorf("others can write to %s (%v), and could put another directory in the place of %s: run chmod go-w on it", parent, info.Mode().Perm(), dir)
		}
	}
	return nil
}

// workspace is a directory of this process alone. wazero reads native code from there, so that nobody can change it between
// its verification and its use.
type workspace struct {
	dir    string
	engine string // wazero's name for its directory: its version and the platform
}

// dirEngine is wazero's cache in a workspace.
const dirEngine = "engine"

// openWorkspace makes a workspace in the first of some directories that others cannot change.
func openWorkspace(parents []string) (*workspace, error) {
	var failed []error
	for _, parent := range parents {
		dir, err := os.MkdirTemp(parent, "alcove-*")
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if err = unexposed(dir); err == nil {
			err = private(dir)
		}
		if err == nil {
			return &workspace{dir: dir}, nil
		}
		failed = append(failed, err, os.Remove(dir))
	}
	return nil, fmt.Errorf("find a directory for native code that only this process's user can change: %w", errors.Join(failed...))
}

// named learns wazero's name for its directory, which it has made.
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

// ready makes the workspace again after something removed it, such as a cleaner of temporary files.
func (w *workspace) ready() error {
	for _, dir := range []string{w.dir, filepath.Join(w.dir, dirEngine), w.native()} {
		if err := private(dir); err != nil {
			return notWritten(w.dir, err)
		}
	}
	return nil
}

// native is where wazero looks for native code.
func (w *workspace) native() string { return filepath.Join(w.dir, dirEngine, w.engine) }

func (w *workspace) close() error { return os.RemoveAll(w.dir) }
