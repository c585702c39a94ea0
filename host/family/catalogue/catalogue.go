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
	"log/slog"
	"os"
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

// Closed returns a channel that is closed by Stop.
func (f *Catalogue) Closed() <-chan struct{} { return f.closed }

// guard is a required store hook, without which nothing is stored, in the version of its family that an operator approved. It
// serves that hook whenever the family of that name does not: another version, unusable, or gone.
type guard struct {
	registry.Guard
	family *Family // the approved version; nil: its module is gone
	gone   string  // why
}

// refusal is a version of a family that cannot be used, and why.
type refusal struct{ name, digest, source, why string }

// seenFile is the state of a file of the watched folder when it was read.
type seenFile struct {
	os.FileInfo
	family *Family
}

func (was seenFile) same(now os.FileInfo) bool {
	return modules.SameState(was.FileInfo, now)
}
