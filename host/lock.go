package host

import (
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

// lock takes the lock of a data directory, which it makes if need be. It is held until it is closed, or
// the process ends.
func lock(dir string) (*flock.Flock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w: choose another one with --data", err)
	}
	l := flock.New(owner.LockPath(dir), flock.SetPermissions(0o600))
	held, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the data directory %s: %w: this user must be able to write there; choose another directory with --data", dir, err)
	}
	if !held {
		return nil, ownedBy(dir)
	}
	return l, nil
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
	if _, err := os.Stat(owner.LockPath(dir)); os.IsNotExist(err) {
		return nil
	}
	l, err := lock(dir)
	if err != nil {
		return err
	}
	return l.Close()
}
