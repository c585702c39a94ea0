// Package catalogue knows the families of a data directory, and keeps the modules of those loaded that are used.
//
// The life of a version of a family:
//
//  1. Found: Scan reads the built-in families, those of the lock file and those of the watched folder.
//  2. Named: none has a name of, or like, one that is there before; one that does is listed with the reason, and cannot be used.
//  3. Vetted: grants.Untrusted says why the lock does not admit it. It is asked when names are given, and again at each load.
//  4. Granted: GrantOf, Hook and Powers say what it may do, by the lock that Apply put in force.
//  5. Loaded: Acquire admits its module, at the first call or, for hooks, at once; of many that ask, one loads.
//  6. Called: who acquired it releases it. Meanwhile it stays, though another version takes its place.
//  7. Unloaded: when nobody called it for a while, or, once it is replaced, after its last call.
//  8. A version that was approved for a required store hook serves that as a guard, when the one of its name does not.
package catalogue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/early"
	"github.com/alcove-memory/alcove/registry"
)

// Options configures a catalogue. Modules and Clock are required.
type Options struct {
	Modules  *modules.Store
	Lock     registry.Lock    // the lock file as it was accepted
	Locked   bool             // only digests in the lock file may run, whether it says so or not
	Built    []modules.Module // built-in families, which are vetted
	Release  string           // signatures of their catalogue, as package catalogue of the registry has them; empty: they are known by their digests
	Watch    string           // a folder whose modules are families, too, and are followed as they change; empty: none
	Core     []string         // the server's own tools; no family's tool may have or resemble their names
	Sandbox  *sandbox.Sandbox
	Early    *early.Sandbox      // runs installed modules until Sandbox has compiled them; nil: they are compiled first
	Admit    Admit               // nil: the sandbox admits modules
	Declares func(*abi.Manifest) // is told the manifests of usable families
	Audit    Recorder            // nil: nothing is recorded
	Clock    func() time.Time
	Logger   *slog.Logger
	Idle     time.Duration // how long an unused module stays loaded
}

// Recorder records what becomes of modules. An *audit.Log is one.
type Recorder interface {
	// Add appends an entry and returns its number.
	Add(e audit.Entry) uint64
}

// Catalogue holds the families of a data directory. Its methods may be called concurrently. What replaces its lock is Apply alone.
type Catalogue struct {
	o       Options
	modules *modules.Store

	mu    sync.RWMutex
	lock  registry.Lock
	known map[string]*Family // by name
	// hidden are families with the names of built-in families. They cannot be used.
	hidden []*Family
	guards map[string]*guard  // by the name of their family
	tools  map[string]*Family // by the name of a tool
	// published are tools that families made at run time, by the family's name.
	published map[string][]abi.Tool
	shared    *config.Keys
	changed   chan struct{}
	closing   bool
	closed    chan struct{} // closed when closing is set

	changing   sync.Mutex          // held while the lock file, or the set of families, changes
	files      map[string]seenFile // of the watched folder; guarded by changing
	expired    string              // as lapsed had it
	refusals   map[refusal]bool    // that are recorded; guarded by changing
	background sync.WaitGroup
}

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

// Behind runs a function in the background, and reports whether it began: after Stop it does not. Close waits for it.
func (f *Catalogue) Behind(do func()) (begun bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closing {
		return false
	}
	f.background.Go(do)
	return true
}

// Hold keeps others from changing the lock and the set of families until release is called.
func (f *Catalogue) Hold() (release func()) {
	f.changing.Lock()
	return f.changing.Unlock
}

// Lock returns the lock that is in force. Its maps must not be changed.
func (f *Catalogue) Lock() registry.Lock {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.lock
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

// Closed returns a channel that is closed by Stop.
func (f *Catalogue) Closed() <-chan struct{} { return f.closed }
