package sandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/alcove-memory/alcove/host/regular"
)

// keyBytes is the length of a cache key.
const keyBytes = 32

// readKey reads the cache's key. It creates a new one if there is none, or if others can access it or it is truncated. A new
// key invalidates all entries.
func readKey(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the directory of the key: %w", err)
	}
	key, err := knownKey(path)
	if key != nil || err != nil {
		return key, err
	}
	if err := makeKey(path); err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	if key, err = knownKey(path); key == nil && err == nil {
		err = fmt.Errorf("the key in %s was changed while it was made", path)
	}
	return key, err
}

// knownKey reads a key. It returns nil if there is no usable key and the file, if any, may be replaced.
func knownKey(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for the key: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("the key %s is not a regular file: remove it", path)
	case !owned(info):
		return nil, fmt.Errorf("the key %s belongs to another user: remove it", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, nil
	}
	key, err := keyOf(path, info)
	if err != nil {
		return nil, fmt.Errorf("read the key: %w", err)
	}
	return key, nil
}

// keyOf reads the key from a file that was checked. It returns nil if another file is there now, or this one is no key.
func keyOf(path string, checked fs.FileInfo) ([]byte, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !os.SameFile(info, checked) {
		return nil, err
	}
	key, err := io.ReadAll(io.LimitReader(f, keyBytes+1))
	if err != nil || len(key) != keyBytes {
		return nil, err
	}
	return key, nil
}

// makeKey creates a file with a new key. Concurrent processes all end up with the same key.
func makeKey(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*"+partial) // with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	key := make([]byte, keyBytes)
	rand.Read(key)
	_, err = f.Write(key)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if os.Link(f.Name(), path) == nil {
		return nil
	}
	if made, err := knownKey(path); made != nil || err != nil { // another process was faster
		return err
	}
	return os.Rename(f.Name(), path) // replaces an unusable key; or the file system has no links
}
