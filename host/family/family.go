// Package family runs tool families: it reads their manifests, loads their modules, bounds their calls by the powers of operator
// and caller, and commits what they stage.
package family

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/budget"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/early"
	"github.com/alcove-memory/alcove/registry"
)

// While returns a context that ends with an API key. The caller calls stop when done.
type While func(ctx context.Context, key string) (held context.Context, stop func())

// Options configures families. Space, Sandbox and Dir are required.
type Options struct {
	Space     *memory.Space
	Callable  Callable                                      // the tools that families can call; nil: none
	Proxy     *Proxy                                        // passes on what is asked of the families, once they are there; nil: none
	Sandbox   *sandbox.Sandbox                              // the caller closes it after the families
	Admit     Admit                                         // nil: the sandbox admits modules
	Dir       string                                        // the data directory, with alcove.lock and families/
	Built     []modules.Module                              // built-in families, which are vetted
	Release   string                                        // signatures of their catalogue, as package catalogue has them; empty: they are known by their digests
	Watch     string                                        // a folder whose modules are families, too, and are followed as they change; empty: none
	Core      []string                                      // the server's own tools; no family's tool may have or resemble their names
	Locked    bool                                          // only digests in the lock file may run, whether it says so or not
	Lock      *registry.Lock                                // the lock file as it was accepted; nil: it is read
	ReadOnly  bool                                          // no background writes: no jobs run, and listening hooks are not called
	modules   modules.Options                               // tests replace Hash and ChangedAt
	Early     *early.Sandbox                                // runs installed modules until Sandbox has compiled them; nil: they are compiled first
	Stepwise  bool                                          // jobs and listening hooks run in Step alone: for tests
	Outside   ops.Outside                                   // nil: no external access
	Embedder  ops.Embedder                                  // nil: none
	Usage     ops.Usage                                     // nil: calls of tools are not counted
	CheckKey  func(id string) error                         // returns why an API key does not hold, by which a job or a call was asked for; nil: all hold
	WhileKey  While                                         // ends a job with the API key by which it was asked for; nil: none is known
	Sessions  func() []sessions.Session                     // the open sessions of clients, the newest first; nil: none are known
	Recent    func(within time.Duration) []sessions.Session // agents that called of late, by namespace; nil: none are known
	Delegates ops.Delegates                                 // nil: no keys can be made
	Clock     func() time.Time
	Rand      func() string // a unique name; nil: random
	Logger    *slog.Logger  // nil: discards
	Idle      time.Duration // how long an unused module stays loaded; 0: 10 minutes
	Poll      time.Duration // interval for polling Watch; 0: 1 second
	Retry     time.Duration // from a job's first failure to its next attempt; 0: 2 seconds
	Recalls   ops.Recalls   // nil: those of Space
	Files     ops.Files     // nil: there are none
	Audit     Audit         // nil: nothing is recorded
}

// Families holds all families of a space. Its methods may be called concurrently.
type Families struct {
	o          Options
	jobs       *jobs.Queue
	hooks      *hooks.Hooks
	operations *ops.Host
	spent      *budget.Ledger
	troubles   troubles
	insight    insight

	mu    sync.RWMutex
	lock  registry.Lock
	known map[string]*family // by name
	// hidden are families with the names of built-in families. They cannot be used.
	hidden []*family
	guards map[string]*guard  // by the name of their family
	tools  map[string]*family // by the name of a tool
	// published are tools that families made at run time, by the family's name.
	published map[string][]abi.Tool
	shared    *config.Keys
	journaled map[string]bool // open sessions that are in the journal
	changed   chan struct{}
	closing   bool
	closed    chan struct{} // closed when closing is set

	changing   sync.Mutex          // held while the lock file, or the set of families, changes
	files      map[string]seenFile // of the watched folder; guarded by changing
	shown      map[string]string   // digests of watched families shown to an operator, by name; guarded by changing
	accepted   string              // digest of the lock file that was last recorded; guarded by changing
	lockFile   os.FileInfo         // as last read or written; nil: none; guarded by changing
	lockBroken os.FileInfo         // that was unreadable, or refused; guarded by changing
	catalogue  string              // as Catalogue has it
	releases   []string            // public keys of a release that signed it
	expired    string              // as lapsed had it
	modules    *modules.Store      // of the data directory
	refusals   map[refusal]bool    // that are recorded; guarded by changing
	stop       context.CancelFunc
	background sync.WaitGroup
}

// family is one version of a family. It is immutable, except for its loaded module.
type family struct {
	*grants.Version
	declared *config.Family // settings of the manifest
	origin   modules.Origin
	body     string // as in Module
	native   *sandbox.Native
	fault    string // why it cannot be used; empty: usable
	clashes  bool   // the fault is a name clash
	listing  sync.Once
	listed   []*Tool // of the manifest

	loading   chan struct{} // has room for one load at a time
	again     chan struct{} // has room for one overtaken call at a time
	mu        sync.Mutex
	module    Guest // nil: not loaded
	admitted  Guest // that the next load takes; nil: it admits one
	used      time.Time
	running   int
	coming    atomic.Bool // being loaded in the background
	rest      hooks.Rest  // of its hooks
	symbols   sync.Once
	functions map[uint32]string // names, by index; read once a trap has a trace
	retired   bool              // replaced by another version: it ends with its last call
	refused   error             // why a newer version of its file was rejected
}

// New finds the families and starts their jobs. Their hooks are called through Hooks.
func New(ctx context.Context, o Options) (*Families, error) {
	if o.Space == nil || o.Sandbox == nil || o.Dir == "" {
		return nil, errors.New("open families: a space, a sandbox and a directory are needed")
	}
	lockFile := statLock(o.Dir) // before reading it: a change in between is read again
	lock, err := o.lockFile()
	if err != nil {
		return nil, err
	}
	o.Locked = o.Locked || lock.Locked
	f := &Families{lockFile: lockFile, o: o.withDefaults(), lock: lock, shared: config.NewKeys(), changed: make(chan struct{}), closed: make(chan struct{}), files: map[string]seenFile{}, journaled: map[string]bool{}, shown: map[string]string{}, modules: o.store()}
	f.spent = budget.New(filepath.Join(f.o.Dir, spentDir), f.o.Clock)
	f.operations = ops.NewHost(ops.Host{Space: f.o.Space, Embedder: f.o.Embedder, Outside: f.o.Outside, Endpoints: f.Endpoints, Files: f.o.Files, Roots: f.Roots, Usage: f.o.Usage, Sessions: f.o.Sessions, Recent: f.o.Recent, Delegates: f.o.Delegates, Recalls: f.o.Recalls, Manifest: f.manifestOf, Families: f.names, Refused: f.refused, Logger: f.o.Logger})
	f.jobs = jobs.New(jobs.Options{Space: f.o.Space.As(ops.OwnCaller("")), Namespace: ops.SystemNamespace, Families: jobFamilies{f}, Clock: f.o.Clock, NewID: f.newID, Retry: f.o.Retry, Logger: f.o.Logger})
	f.hooks = hooks.New(hooks.Options{Space: f.o.Space, Families: hookFamilies{f}, Behind: f.behindHooks, Proposal: f.proposalName, Clock: f.o.Clock, Retry: f.o.Retry, Logger: f.o.Logger})
	encoded, err := registry.Encode(lock)
	if err != nil {
		return nil, err
	}
	f.accepted, f.expired = audit.LockDigest(encoded), f.lapsed()
	if err := f.knowCatalogue(lock); err != nil {
		return nil, err
	}
	f.noteCatalogue(lock)
	f.scan()
	f.noteCarried()
	if err := f.readPublished(ctx); err != nil {
		return nil, err
	}
	left, err := f.sessionsLeft(ctx)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	if o.Proxy != nil {
		o.Proxy.pass(f)
	}
	f.background.Go(func() { f.keepTidy(running) })
	if !o.ReadOnly && !o.Stepwise {
		f.background.Go(func() { f.jobs.Run(running) })
		f.background.Go(func() { f.jobs.Follow(running, f.o.Space.Watch(running)) })
		f.background.Go(func() { f.hooks.Follow(running) })
		f.background.Go(func() { f.deliverEnds(running, left) })
	}
	return f, nil
}

func (o Options) store() *modules.Store {
	m := o.modules
	m.Dir, m.ReadOnly, m.Logger = o.Dir, o.ReadOnly, o.Logger
	return modules.New(m)
}

func (o Options) lockFile() (registry.Lock, error) {
	if o.Lock != nil {
		return *o.Lock, nil
	}
	return registry.Read(o.Dir)
}

// Locked reports whether only digests in the lock file may run.
func (f *Families) Locked() bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.locked()
}

// locked is Locked for a caller that holds changing or mu. A directory may be locked while it is served.
func (f *Families) locked() bool { return f.o.Locked || f.lock.Locked }

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = randomName
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Idle == 0 {
		o.Idle = 10 * time.Minute
	}
	if o.Poll == 0 {
		o.Poll = time.Second
	}
	if o.Locked {
		o.Watch = "" // nothing comes while it runs
	}
	if o.Callable == nil {
		o.Callable = noTools{}
	}
	if o.Retry == 0 {
		o.Retry = 2 * time.Second
	}
	return o
}

// Hooks returns the hooks that the space calls before it stores, and to rank hits.
func (f *Families) Hooks() *hooks.Hooks { return f.hooks }

// Close stops jobs and unloads all modules.
func (f *Families) Close() error {
	f.mu.Lock()
	if !f.closing {
		f.closing = true
		close(f.closed)
	}
	f.mu.Unlock()
	f.stop()
	f.background.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	var failed []error
	for _, x := range f.known {
		failed = append(failed, x.unload())
	}
	for _, g := range f.guards {
		if g.family != nil {
			failed = append(failed, g.family.unload())
		}
	}
	return errors.Join(failed...)
}

// behind runs a function in the background, and reports whether it began: after Close it does not. Close waits for it.
func (f *Families) behind(do func()) (begun bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if f.closing {
		return false
	}
	f.background.Go(do)
	return true
}

// keepTidy polls the watched folder and unloads unused modules, until ctx ends.
func (f *Families) keepTidy(ctx context.Context) {
	tick := time.NewTicker(f.o.Poll)
	defer tick.Stop()
	f.preload(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.followLock()
			if f.o.Watch != "" && f.scan() {
				f.preload(ctx)
			}
			if now := f.lapsed(); now != f.expired {
				f.expired = now
				f.scan()
			}
			f.unloadIdle()
		}
	}
}

// named finds a family that may run.
func (f *Families) named(name string) (*family, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	x := f.known[name]
	if x == nil {
		return nil, f.unknown("family", name)
	}
	return x, x.usable()
}

func (x *family) usable() error {
	if x.fault != "" {
		return &memory.Error{Code: memory.Unavailable, Message: "family " + x.Name + " cannot be used: " + x.fault}
	}
	return nil
}

// grantOf returns a family's grant: the operator's, or the default of a built-in family.
func (f *Families) grantOf(x *family) registry.Grant {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return grants.In(f.lock, x.Version)
}

// hookOf returns the operator's settings of a family's hook; on is false if it must not be called: the family cannot be used,
// has no such hook, or is not granted it. The caller holds mu.
func (f *Families) hookOf(x *family, h abi.Hook) (said registry.On, on bool) {
	if x == nil || x.fault != "" || x.Digest == "" || !grants.Has(x.Manifest.Hooks, h) {
		return registry.On{}, false
	}
	said, on = grants.In(f.lock, x.Version).Hooks[h]
	return said, on
}

// powersOf returns the powers of a family for a caller in a part of its work; empty: in any.
func (f *Families) powersOf(x *family, caller memory.Caller, during registry.Work) policy.Powers {
	return grants.Powers(f.grantOf(x), x.Version, caller.Rights, during)
}

// untrusted returns why a version of a family must not run; empty if it may. The caller holds changing or mu.
func (f *Families) untrusted(x *family) string {
	return grants.Untrusted(f.lock, x.Version, f.locked(), f.o.Clock())
}
