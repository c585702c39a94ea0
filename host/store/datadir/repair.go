package datadir

import (
	"context"
	"errors"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory/integrity"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/store"
)

// Examine reads the database page by page, without opening it, and lists its damage. A directory without a store, or with a
// running server, has no findings: the server verifies what it has open, and examined the file before it opened it.
func (d Directory) Examine() (findings []integrity.Finding, err error) {
	if has, err := d.HasStore(); !has || err != nil {
		return nil, err
	}
	err = d.locked(func() error {
		faults, err := d.Driver.Examine(d.Path)
		for _, f := range faults {
			findings = append(findings, integrity.Finding{What: "store: " + f.Error(), Do: "run: alcove repair"})
		}
		return err
	})
	if owned := (*owner.OwnedError)(nil); errors.As(err, &owned) {
		return nil, nil
	}
	return findings, err
}

// RepairOptions say how a database is repaired.
type RepairOptions struct {
	DryRun bool // only list the damage
}

// Repaired is the result of a repair.
type Repaired struct{ store.Repaired }

// Repair mends the database.
func (d Directory) Repair(ctx context.Context, o RepairOptions) (r Repaired, err error) {
	err = d.locked(func() (err error) {
		if o.DryRun {
			r.Repaired, err = d.damage()
			return err
		}
		unrecorded := d.operated("repair") // the repair may be what lets it be recorded
		r.Repaired, err = d.Driver.Repair(ctx, d.Path, store.Repair{Now: time.Now(), Keep: semantic.IsVectors})
		return errors.Join(err, d.ForgetTranscripts(), unrecorded)
	})
	return r, err
}

// damage is the result of a repair that only lists the damage. The caller holds the lock.
func (d Directory) damage() (store.Repaired, error) {
	faults, err := d.Driver.Examine(d.Path)
	r := store.Repaired{Faults: []string{}, Aside: []store.Aside{}}
	for _, f := range faults {
		r.Faults = append(r.Faults, f.Error())
	}
	return r, err
}
