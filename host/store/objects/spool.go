package objects

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/store/backup"
)

const longestJournal = 4 << 20 // bytes

// journal tells how far the upload of a part is.
type journal struct {
	To     string      `json:"to"`     // a Location
	Before string      `json:"before"` // the newest part in the bucket when this one was written; empty: none
	Chain  string      `json:"chain"`
	Part   backup.Part `json:"part"`
	Upload string      `json:"upload,omitempty"` // the server's name of it
	Piece  int64       `json:"piece"`            // bytes of each
	Tags   []string    `json:"tags,omitempty"`   // of the pieces that the server has
}

// spool is a folder on this machine with a part that is not in the bucket yet.
type spool struct {
	dir  string
	lock *flock.Flock
}

// openSpool locks a folder, and makes it. Others must not read what it has.
func openSpool(dir string) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for a backup on its way: %w", err)
	}
	s := &spool{dir, flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))}
	held, err := s.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", dir, err)
	}
	if !held {
		return nil, errors.New("another process makes a backup to this place")
	}
	return s, nil
}

func (s *spool) Close() error { return s.lock.Close() }

func (s *spool) content() string { return filepath.Join(s.dir, "part") }
func (s *spool) journal() string { return filepath.Join(s.dir, "upload.json") }

// create returns the file for the next part.
func (s *spool) create() (*os.File, error) {
	if err := s.clear(); err != nil {
		return nil, err
	}
	return os.OpenFile(s.content(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// open returns the part.
func (s *spool) open() (*os.File, error) { return regular.Open(s.content()) }

// save replaces the journal. Without one there is no part.
func (s *spool) save(j journal) error {
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	return durable.WriteFile(s.journal(), data, 0o600)
}

// load returns the journal of an interrupted upload.
func (s *spool) load() (j journal, found bool, err error) {
	data, err := regular.Read(s.journal(), longestJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return j, false, nil
	}
	if err != nil {
		return j, false, err
	}
	if json.Unmarshal(data, &j) != nil {
		return j, false, s.clear()
	}
	return j, true, nil
}

// clear removes the part, the journal first.
func (s *spool) clear() error {
	for _, path := range []string{s.journal(), s.content()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
