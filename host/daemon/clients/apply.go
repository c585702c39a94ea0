package clients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/clients/edit"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// ErrChanged says that a file changed after the change of it was planned.
var ErrChanged = errors.New("the file has changed meanwhile")

// backupSuffix ends the names of backups.
const backupSuffix = ".alcove-backup"

// Apply makes a change. What the file was is in Backup, whose name it returns; empty: there was no file, or it was as it is now. The
// journal has what was written, for Undo.
func (j *Journal) Apply(c Change, now time.Time) (backup string, err error) {
	if !c.Differs() {
		return "", j.done(c)
	}
	if err := c.unchanged(); err != nil {
		return "", err
	}
	if c.Before != nil && !c.exact {
		if backup, err = keep(c.Path, c.Before, now); err != nil {
			return "", err
		}
	}
	if c.undoes == nil { // recorded first: after a crash, undo finds nothing to take back
		if err := j.add(c, backup); err != nil {
			return backup, err
		}
	}
	if err := c.write(); err != nil {
		return backup, err
	}
	return backup, j.done(c)
}

// done forgets what a change took back.
func (j *Journal) done(c Change) error {
	if c.undoes == nil {
		return nil
	}
	if c.exact && c.undoes.Backup != "" {
		_ = os.Remove(c.undoes.Backup) // the file itself is that now
	}
	return j.remove(*c.undoes)
}

// unchanged makes sure that the file is what it was when the change was planned.
func (c Change) unchanged() error {
	now, err := regular.Read(c.Path, edit.Most)
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.Before == nil:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("write %s: %w", c.Path, err)
	case err != nil || c.Before == nil || !bytes.Equal(now, c.Before):
		return fmt.Errorf("write %s: %w: repeat the command", c.Path, ErrChanged)
	}
	return nil
}

func (c Change) write() error {
	if c.After == nil {
		if err := os.Remove(c.Path); err != nil {
			return fmt.Errorf("remove %s: %w", c.Path, err)
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", c.Path, err)
	}
	err := durable.Write(c.Path, c.mode, func(w io.Writer) error {
		if _, err := w.Write(c.After); err != nil {
			return err
		}
		return c.unchanged() // once more: the client may have written it
	})
	if err != nil && !errors.Is(err, ErrChanged) {
		return fmt.Errorf("write %s: %w", c.Path, err)
	}
	return err
}

// keep writes a backup beside a file.
func keep(path string, data []byte, now time.Time) (string, error) {
	name := path + "." + now.UTC().Format("20060102T150405.000Z") + backupSuffix
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", fmt.Errorf("keep a backup of %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", fmt.Errorf("keep a backup of %s: %w", path, err)
	}
	return name, nil
}
