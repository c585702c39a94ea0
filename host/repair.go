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

// Examine reads the database of a data directory that no process owns, page by page and without opening it, and says what is
// damaged. A directory without a store, or whose server runs, has no findings: the server verifies what it has open, and
// examined the file before it opened it.
func Examine(dir string) (findings []memory.Finding, err error) {
	driver := defaultDriver()
	if has, err := driver.Exists(dir); !has || err != nil {
		return nil, err
	}
	lock, err := lock(dir)
	var owned *OwnedError
	if errors.As(err, &owned) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	faults, err := driver.Examine(dir)
	for _, f := range faults {
		findings = append(findings, memory.Finding{What: "store: " + f.Error(), Do: "run: alcove repair"})
	}
	return findings, errors.Join(err, lock.Close())
}

// Repair mends the database of a data directory that no process owns. With dry it only says what it would do.
func Repair(ctx context.Context, dir string, dry bool) (r Repaired, err error) {
	lock, err := lock(dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	driver := defaultDriver()
	if !dry {
		return driver.Repair(ctx, dir, store.Repair{Now: time.Now(), Keep: semantic.IsVectors})
	}
	faults, err := driver.Examine(dir)
	r = Repaired{Faults: []string{}, Aside: []store.Aside{}}
	for _, f := range faults {
		r.Faults = append(r.Faults, f.Error())
	}
	return r, err
}
