package host

import (
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/owner"
)

// OwnedError says that another process owns the data directory.
type OwnedError struct {
	Dir string
	PID int // of the owner, as far as it is known; else 0
}

func (e *OwnedError) Error() string {
	who := "another process"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s owns the data directory %s: commands reach it by themselves; stop it to start another server", who, e.Dir)
}

// dirLock is the lock of a data directory. It is held until it is closed, or the process ends.
type dirLock struct{ *flock.Flock }

// lock takes the lock of a data directory, which it makes if need be. The lock of one in which nothing can be written may be
// elsewhere.
func lock(dir string) (*dirLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w: choose another one with --data", err)
	}
	l := newLock(owner.LockPath(dir))
	held, err := l.TryLock()
	if err != nil && owner.Writable(dir) != nil {
		l = newLock(owner.PrivatePath(dir, ".lock"))
		held, err = l.TryLock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock the data directory %s: %w: this user must be able to write there; choose another directory with --data", dir, err)
	}
	if !held {
		return nil, ownedBy(dir)
	}
	return l, nil
}

func newLock(path string) *dirLock {
	return &dirLock{flock.New(path, flock.SetPermissions(0o600))}
}

// keep locks the file anew that others look for, when it is not the one that is locked.
func (l *dirLock) keep() (again bool, err error) {
	file, err := l.Stat()
	if err != nil {
		return false, err
	}
	if now, err := os.Stat(l.Path()); err == nil && os.SameFile(now, file) {
		return false, nil
	}
	next := newLock(l.Path())
	held, err := next.TryLock()
	if err != nil || !held {
		return false, errors.Join(err, fmt.Errorf("%s was replaced, and another process holds the new one", l.Path()))
	}
	before := l.Flock
	l.Flock = next.Flock
	return true, before.Close()
}

func ownedBy(dir string) *OwnedError {
	r, err := owner.ReadRecord(dir)
	if err != nil {
		r.PID = 0 // the owner has not said yet who it is
	}
	return &OwnedError{Dir: dir, PID: r.PID}
}

// Owned reports, as an OwnedError, whether some process owns a data directory; nil when none does, or
// there is no such directory.
func Owned(dir string) error {
	_, err := os.Stat(owner.LockPath(dir))
	if os.IsNotExist(err) && owner.Writable(dir) != nil {
		_, err = os.Stat(owner.PrivatePath(dir, ".lock"))
	}
	if os.IsNotExist(err) {
		return nil
	}
	l, err := lock(dir)
	if err != nil {
		return err
	}
	return l.Close()
}
