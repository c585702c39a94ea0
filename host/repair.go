package host

import (
	"context"
	"errors"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/search/semantic"
	"github.com/alcove-memory/alcove/host/store"
)

// Repaired is what a repair did.
type Repaired = store.Repaired

// Examine reads the database of a directory that no process owns, page by page and without opening it, and says what is
// damaged. A directory without a store, or whose server runs, has no findings: the server verifies what it has open, and
// examined the file before it opened it.
func (d Directory) Examine() (findings []memory.Finding, err error) {
	if has, err := d.HasStore(); !has || err != nil {
		return nil, err
	}
	lock, err := lock(d.Path)
	var owned *OwnedError
	if errors.As(err, &owned) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	faults, err := d.driver().Examine(d.Path)
	for _, f := range faults {
		findings = append(findings, memory.Finding{What: "store: " + f.Error(), Do: "run: alcove repair"})
	}
	return findings, errors.Join(err, lock.Close())
}

// RepairOptions say how a database is repaired.
type RepairOptions struct {
	DryRun bool // only say what is damaged
}

// Repair mends the database of a directory that no process owns.
func (d Directory) Repair(ctx context.Context, o RepairOptions) (r Repaired, err error) {
	lock, err := lock(d.Path)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if !o.DryRun {
		return d.driver().Repair(ctx, d.Path, store.Repair{Now: time.Now(), Keep: semantic.IsVectors})
	}
	faults, err := d.driver().Examine(d.Path)
	r = Repaired{Faults: []string{}, Aside: []store.Aside{}}
	for _, f := range faults {
		r.Faults = append(r.Faults, f.Error())
	}
	return r, err
}
