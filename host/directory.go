package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bundle"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/host/store/settings"
)

// Directory returns the data directory at path, with a store of the default driver, for use while nobody serves it.
func Directory(path string) datadir.Directory { return directory(path, defaultDriver()) }

func (h *Host) directory() datadir.Directory { return directory(h.options.Dir, h.options.Driver) }

func directory(path string, driver store.Driver) datadir.Directory {
	return datadir.Directory{Path: path, Driver: driver, Verify: func(ctx context.Context, path string) (integrity.Report, error) {
		return verify(ctx, path, driver)
	}}
}

// verify opens the space in a directory, and verifies it. The caller holds the lock.
func verify(ctx context.Context, path string, driver store.Driver) (v integrity.Report, err error) {
	var closing closers
	defer func() { err = errors.Join(err, closing.close()) }()
	p, err := assemble(ctx, Options{Dir: path, Driver: driver}.withDefaults(), assembly{dormant: true}, &closing)
	if err != nil {
		return v, err
	}
	return p.space.Verify(ctx)
}

// settings opens the settings for a backup. Their holders keep them from changing meanwhile, so that they belong together.
func (h *Host) settings() ([]backup.OpenFile, error) {
	s, err := h.snapshot()
	if err != nil {
		return nil, fmt.Errorf("take along what operators decided: %w", err)
	}
	embedded, err := h.embedders.Snapshot()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	head, err := h.auditHead()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return settings.Files(s, embedded, head)
}

// auditHead returns the head of the audit log for a backup; nil: it has none.
func (h *Host) auditHead() ([]byte, error) {
	if h.audit == nil {
		return nil, nil
	}
	head, err := h.audit.Head()
	if err != nil {
		return nil, err
	}
	return audit.FormerText(head)
}

// guards lists the families without which nothing is stored, for a bundle.
func (h *Host) guards() ([]bundle.Guard, error) {
	s, err := h.snapshot()
	if err != nil {
		return nil, fmt.Errorf("take along without which families nothing is stored: %w", err)
	}
	return settings.Guards(s.Lock), s.Close()
}

func (h *Host) snapshot() (*family.Snapshot, error) {
	if h.families == nil { // nobody changes the lock file
		return family.OpenSnapshot(h.options.Dir)
	}
	return h.families.Snapshot()
}
