package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/alcove-memory/alcove/host/internal/jsontext"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/host/store/bundle"
	"github.com/alcove-memory/alcove/host/store/sealing"
	"github.com/alcove-memory/alcove/host/store/settings"
)

// Restored is the result of a restore or an import.
type Restored struct {
	integrity.Report
	Settings settings.Restored `json:"settings"`
}

// Import makes the space of a bundle in a directory without a store, wholly or not at all, and verifies it. progress may be
// nil. A bundle grants nothing, but families whose store hook must succeed stay required.
func (d Directory) Import(ctx context.Context, r io.Reader, progress func(bytes int64)) (made Restored, err error) {
	made.Report, err = d.load(ctx, func(l store.Loader, loading string) error {
		s, err := bundle.Read(ctx, r, nestingLimiter{l}.Add, progress)
		if err == nil {
			made.Settings, err = settings.RestoreGuards(s.Guards, d.Path, loading, settings.Options{Person: d.Person, Reason: d.Reason})
		}
		if err == nil && s.Since != 0 {
			err = fmt.Errorf("the bundle continues version %d: it is part of a backup, and alcove restore takes its folder", s.Since)
		}
		return err
	})
	return made, err
}

// RestoreOptions say how a backup is restored.
type RestoreOptions struct {
	KeepSettings bool                  // keep settings of the directory that differ from the backup's; otherwise they are an error
	Opener       *sealing.Opener       // of an encrypted backup; nil: only others are read
	Progress     func(done, all int64) // bytes; may be nil
}

// Backup is what a directory is restored from.
type Backup interface {
	Read(ctx context.Context, by *sealing.Opener, to store.Loader, files backup.Files, progress func(done, all int64)) error
}

// Restore is RestoreFrom for a folder or a file.
func (d Directory) Restore(ctx context.Context, from string, o RestoreOptions) (Restored, error) {
	return d.RestoreFrom(ctx, backup.At(from), o)
}

// RestoreFrom makes the space of a backup, with its settings, in a directory without a store, wholly or not at all, and verifies
// it.
func (d Directory) RestoreFrom(ctx context.Context, from Backup, o RestoreOptions) (made Restored, err error) {
	made.Report, err = d.load(ctx, func(l store.Loader, loading string) error {
		restorer := settings.NewRestorer(d.Path, loading, settings.Options{Keep: o.KeepSettings, Person: d.Person, Reason: d.Reason})
		if err := from.Read(ctx, o.Opener, nestingLimiter{l}, restorer, o.Progress); err != nil {
			return err
		}
		var err error
		made.Settings, err = restorer.Finish()
		return err
	})
	return made, err
}

// mostNesting is how deep a value may be nested to be loaded. The memory writes values at most half as deep; a deeper one was
// made by hand, and would cost each of its readers memory and time for every level.
const mostNesting = 1024

// Limited is a loader that refuses values that are nested too deep.
func Limited(l store.Loader) store.Loader { return nestingLimiter{l} }

// nestingLimiter refuses values that are nested too deep.
type nestingLimiter struct{ store.Loader }

func (l nestingLimiter) Add(p store.Piece) error {
	if p.Entry != nil {
		if n := jsontext.Depth(p.Entry.Value); n > mostNesting && json.Valid(p.Entry.Value) {
			return fmt.Errorf("the value of %q in %q is nested %d deep: at most %d are loaded; use another export or backup", p.Entry.Key.Name, p.Entry.Key.Namespace, n, mostNesting)
		}
	}
	return l.Loader.Add(p)
}

// load makes a store from what read adds to it, and verifies it before it moves it into the directory.
func (d Directory) load(ctx context.Context, read func(l store.Loader, loading string) error) (v integrity.Report, err error) {
	if has, err := d.HasStore(); has || err != nil {
		return v, fmt.Errorf("load into %s: %w", d.Path, errors.Join(store.ErrNotEmpty, err))
	}
	verify := func(ctx context.Context, path string) (err error) {
		v, err = d.Verify(ctx, path)
		if err == nil && len(v.Findings) > 0 {
			err = fmt.Errorf("what was loaded does not verify, so it was removed again: %s", v.Findings[0].What)
		}
		return err
	}
	err = d.locked(func() error {
		return errors.Join(d.ForgetTranscripts(), d.Driver.Load(ctx, d.Path, store.Load{Read: read, Verify: verify}))
	})
	return v, err
}
