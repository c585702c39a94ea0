package catalogue

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/registry"
)

// NewCatalogue finds the families.
func New(o Options) (*Catalogue, error) {
	f := &Catalogue{o: o, modules: o.Modules, lock: o.Lock, shared: config.NewKeys(), changed: make(chan struct{}), closed: make(chan struct{}), files: map[string]seenFile{}}
	releases, err := o.VerifyBuilt()
	if err != nil {
		return nil, err
	}
	o.noteBuilt(releases)
	f.expired = f.lapsed()
	f.Scan()
	f.noteCarried()
	return f, nil
}

// Close unloads all modules, once what runs in the background has ended.
func (f *Catalogue) Close() error {
	f.Stop()
	f.background.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	var failed []error
	for _, x := range f.known {
		failed = append(failed, x.Unload())
	}
	for _, g := range f.guards {
		if g.family != nil {
			failed = append(failed, g.family.Unload())
		}
	}
	return errors.Join(failed...)
}

// Stop lets nothing begin in the background any more.
func (f *Catalogue) Stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closing {
		f.closing = true
		close(f.closed)
	}
}

// Apply puts a lock in force. The caller holds the catalogue.
func (f *Catalogue) Apply(l registry.Lock) {
	f.mu.Lock()
	f.lock = l
	f.mu.Unlock()
	f.scanLocked()
	f.mu.Lock()
	f.assignTools()
	f.announce()
	f.mu.Unlock()
	f.Preload(context.Background())
}

// Follow takes in what changed: files of the watched folder, and keys that do not hold any more.
func (f *Catalogue) Follow(ctx context.Context) {
	if f.o.Watch != "" && f.Scan() {
		f.Preload(ctx)
	}
	if now := f.lapsed(); now != f.expired {
		f.expired = now
		f.Scan()
	}
}

// Publish replaces the tools that families made at run time by those that read returns. It holds the catalogue meanwhile, so that an older
// result never replaces a newer one.
func (f *Catalogue) Publish(read func() (map[string][]abi.Tool, error)) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	found, err := read()
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(found) == 0 && len(f.published) == 0 {
		return nil // no family has ever published one: names stay as they are
	}
	f.published = found
	f.assignTools()
	f.announce()
	return nil
}
