package owner

import (
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// OwnedError means that another process owns the data directory.
type OwnedError struct {
	Dir string
	PID int // of the owner; 0: unknown
}

func (e *OwnedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s owns the data directory %s: commands reach it by themselves; alcove stop --data %q ends it", who, e.Dir, e.Dir)
}

// Lock is the lock of a data directory. It is held until it is closed, or the process ends.
type Lock struct{ file *flock.Flock }

// AcquireLock locks a data directory, creating it if needed. The error is an OwnedError if another process holds the
// lock. An unwritable directory's lock may be elsewhere.
func AcquireLock(dir string) (*Lock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w: choose another one with --data", err)
	}
	file := lockFile(LockPath(dir))
	held, err := file.TryLock()
	if err != nil && Writable(dir) != nil {
		file = lockFile(privatePath(dir, ".lock"))
		held, err = file.TryLock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data directory %s: %w: this user must be able to write there; choose another directory with --data", dir, err)
	}
	if !held {
		return nil, ownedError(dir)
	}
	return &Lock{file}, nil
}

func lockFile(path string) *flock.Flock { return flock.New(path, flock.SetPermissions(0o600)) }

// Close releases the lock.
func (l *Lock) Close() error { return l.file.Close() }

// Keep locks the file again if the locked one was removed or replaced, so that other processes find it locked.
func (l *Lock) Keep() (again bool, err error) {
	locked, err := l.file.Stat()
	if err != nil {
		return false, err
	}
	path := l.file.Path()
	if now, err := os.Stat(path); err == nil && os.SameFile(now, locked) {
		return false, nil
	}
	next := lockFile(path)
	held, err := next.TryLock()
	if err != nil || !held {
		return false, errors.Join(err, fmt.Errorf("%s was replaced, and another process holds the new one", path))
	}
	before := l.file
	l.file = next
	return true, before.Close()
}

func ownedError(dir string) *OwnedError {
	r, err := ReadRecord(dir)
	if err != nil {
		r.PID = 0 // the owner has not written its record yet
	}
	return &OwnedError{Dir: dir, PID: r.PID}
}

// CheckFree returns an OwnedError when a process owns a data directory; nil when none does, or the directory does not exist.
func CheckFree(dir string) error {
	_, err := os.Stat(LockPath(dir))
	if os.IsNotExist(err) && Writable(dir) != nil {
		_, err = os.Stat(privatePath(dir, ".lock"))
	}
	if os.IsNotExist(err) {
		return nil
	}
	l, err := AcquireLock(dir)
	if err != nil {
		return err
	}
	return l.Close()
}
