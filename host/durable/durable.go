// Package durable replaces files atomically and durably: after a crash or power failure a reader finds the whole old content or
// the whole new one.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/alcove-memory/alcove/host/regular"
)

// WriteFile replaces a file, or makes it. When it returns nil, the new content is on the disk under its name.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	return Write(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write is WriteFile with content that a function writes. After any error the file is as it was, or, if only the sync of
// its directory failed, already replaced. A symbolic link is replaced; a device, a pipe or a directory is refused before write is
// called.
func Write(path string, perm fs.FileMode, write func(w io.Writer) error) (err error) {
	if err := regular.Replaceable(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*.partial")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close() // without effect once it is closed
			_ = os.Remove(f.Name())
		}
	}()
	if err := write(f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(perm), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncable(SyncDir(dir))
}

// Output is Write for a file that a user named: what a symbolic link leads to is replaced, not the link.
func Output(path string, perm fs.FileMode, write func(w io.Writer) error) error {
	to, err := regular.Destination(path)
	if err != nil {
		return err
	}
	return Write(to, perm, write)
}

// Place moves a folder, whose files are on the disk already, to a path where nothing is: afterwards it is there as a whole.
func Place(folder, path string) error {
	if err := SyncDir(folder); err != nil {
		return err
	}
	if err := os.Rename(folder, path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory durable. Windows cannot sync a directory: there it does nothing. Where the file system cannot,
// it returns an error: a caller that promised durability must not go on.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync the directory: %w", err)
	}
	return nil
}

// syncable is the error of SyncDir, unless the file system syncs no directories: replacing a file on it is as durable as it can be.
func syncable(err error) error {
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}
