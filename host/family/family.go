// Package family runs tool families: it reads their manifests, loads their modules, bounds their calls by the powers of operator
// and caller, and commits what they stage.
package family

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/budget"
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
	Admit     catalogue.Admit                               // nil: the sandbox admits modules
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

	catalogue  *catalogue.Catalogue
	modules    *modules.Store
	journaled  sync.Map          // open sessions that are in the journal
	shown      map[string]string // digests of watched families shown to an operator, by name; guarded by changing
	accepted   string            // digest of the lock file that was last recorded; guarded by changing
	lockFile   os.FileInfo       // as last read or written; nil: none; guarded by changing
	lockBroken os.FileInfo       // that was unreadable, or refused; guarded by changing
	stop       context.CancelFunc
	background sync.WaitGroup
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
	o = o.withDefaults()
	f := &Families{lockFile: lockFile, o: o, shown: map[string]string{}, modules: o.store()}
	f.catalogue, err = catalogue.New(catalogue.Options{Modules: f.modules, Lock: lock, Locked: o.Locked, Built: o.Built, Release: o.Release, Watch: o.Watch, Core: o.Core, Sandbox: o.Sandbox, Early: o.Early, Admit: o.Admit,
		Declares: o.declares, Audit: o.Audit, Clock: o.Clock, Logger: o.Logger, Idle: o.Idle})
	if err != nil {
		return nil, err
	}
	f.spent = budget.New(filepath.Join(f.o.Dir, spentDir), f.o.Clock)
	f.operations = ops.NewHost(ops.Host{Space: f.o.Space, Embedder: f.o.Embedder, Outside: f.o.Outside, Endpoints: f.Endpoints, Files: f.o.Files, Roots: f.Roots, Usage: f.o.Usage, Sessions: f.o.Sessions, Recent: f.o.Recent, Delegates: f.o.Delegates, Recalls: f.o.Recalls, Manifest: f.catalogue.ManifestOf, Families: f.catalogue.Names, Refused: f.refused, Logger: f.o.Logger})
	f.jobs = jobs.New(jobs.Options{Space: f.o.Space.As(ops.OwnCaller("")), Namespace: ops.SystemNamespace, Families: jobFamilies{f}, Clock: f.o.Clock, NewID: f.newID, Retry: f.o.Retry, Logger: f.o.Logger})
	f.hooks = hooks.New(hooks.Options{Space: f.o.Space, Families: hookFamilies{f}, Behind: f.behindHooks, Proposal: f.proposalName, Clock: f.o.Clock, Retry: f.o.Retry, Logger: f.o.Logger})
	encoded, err := registry.Encode(lock)
	if err != nil {
		return nil, err
	}
	f.accepted = audit.LockDigest(encoded)
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
	f.catalogue.Stop()
	f.stop()
	f.background.Wait()
	return f.catalogue.Close()
}

// keepTidy polls the watched folder and unloads unused modules, until ctx ends.
func (f *Families) keepTidy(ctx context.Context) {
	tick := time.NewTicker(f.o.Poll)
	defer tick.Stop()
	f.catalogue.Preload(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			f.followLock()
			f.catalogue.Follow(ctx)
			f.catalogue.UnloadIdle()
		}
	}
}

func randomName() string { return strings.ToLower(rand.Text()[:10]) }

// declares declares the indexes of a family to the space.
func (o Options) declares(m *abi.Manifest) {
	for _, c := range m.Collections {
		collection, err := ops.CollectionOf(m, c)
		if err != nil {
			o.Logger.Warn("a collection has a fault", "family", m.Name, "error", err)
			continue
		}
		o.Space.DeclareIndexes(collection)
	}
}

// All lists the families by name.
func (f *Families) All() []catalogue.Described { return f.catalogue.All() }

// Changed is closed as soon as the result of All changes, apart from loaded modules.
func (f *Families) Changed() <-chan struct{} { return f.catalogue.Changed() }

// Find returns a tool by its exact name, for a caller: tools of families that it has no right to do not exist.
func (f *Families) Find(c memory.Caller, name string) (*catalogue.Tool, error) {
	return f.catalogue.Find(c, name)
}

// Load loads a family's module.
func (f *Families) Load(ctx context.Context, name string) error { return f.catalogue.Load(ctx, name) }

// AwaitHooks waits until a family with hooks in stores and searches is loaded.
func (f *Families) AwaitHooks(ctx context.Context, name string) error {
	return f.catalogue.AwaitHooks(ctx, name)
}

// IsPrivate reports whether a collection, as FAMILY/NAME, is for its own family alone.
func (f *Families) IsPrivate(collection string) bool { return f.catalogue.IsPrivate(collection) }

// AnyGranted reports whether any family has a capability.
func (f *Families) AnyGranted(c abi.Capability) bool { return f.catalogue.AnyGranted(c) }

// Endpoints returns the external endpoints that an operator named.
func (f *Families) Endpoints() map[string]registry.Endpoint { return f.catalogue.Endpoints() }

// Roots returns the directories that an operator named.
func (f *Families) Roots() map[string]registry.Root { return f.catalogue.Roots() }

// Locked reports whether only digests in the lock file may run.
func (f *Families) Locked() bool { return f.catalogue.Locked() }
