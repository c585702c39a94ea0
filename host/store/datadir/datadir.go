// Package datadir loads, restores, examines and repairs a data directory that nobody serves.
package datadir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/store"
)

// Directory is a data directory that no process serves.
type Directory struct {
	Path   string
	Driver store.Driver // of its store
	// Verify opens the space in the directory at path, which is locked, and verifies it. It sends no texts elsewhere.
	Verify func(ctx context.Context, path string) (integrity.Report, error)
	// Person changes the directory, and why, for the audit log; empty: it is not known.
	Person, Reason string
}

// Transcripts is the folder that notes how far transcripts of clients were read into the store.
func (d Directory) Transcripts() string { return filepath.Join(d.Path, "transcripts") }

// ForgetTranscripts has transcripts read from their beginning: it is for a store that may lack what was read.
func (d Directory) ForgetTranscripts() error { return os.RemoveAll(d.Transcripts()) }

// HasStore reports whether the directory has a store.
func (d Directory) HasStore() (bool, error) { return d.Driver.Exists(d.Path) }

// CheckDatabase returns an error when the directory had a store, as its other files show, but its database was moved or
// deleted. An empty database in its place would remove all blobs as unused.
func (d Directory) CheckDatabase() error {
	filed, ok := d.Driver.(store.Filed)
	if !ok {
		return nil // its files cannot be moved apart
	}
	if has, err := d.HasStore(); has || err != nil {
		return err
	}
	files := filed.Files(d.Path)
	for _, sign := range []string{files.Blobs, owner.TokenPath(d.Path)} {
		if _, err := os.Stat(sign); err != nil {
			return nil
		}
	}
	return fmt.Errorf("the database %s is gone, and the rest of its store is there: put it back, make it from a backup (alcove restore BACKUP --data %q), or, to begin with an empty memory, remove %q first",
		files.Database, d.Path, files.Blobs)
}

// locked calls do while it holds the directory's lock.
func (d Directory) locked(do func() error) (err error) {
	lock, err := owner.AcquireLock(d.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	return do()
}
