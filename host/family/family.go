// Package family runs tool families: it reads their manifests, loads their modules, bounds their calls by the powers of operator
// and caller, and commits what they stage.
package family

import (
	"context"
	"log/slog"
	"os"
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
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/early"
	"github.com/alcove-memory/alcove/registry"
)

// While returns a context that ends with an API key. The caller calls stop when done.
type While func(ctx context.Context, key string) (held context.Context, stop func())

// Documents keeps files, wherever else the next server of their directory looks for them.
type Documents interface {
	modules.Documents
	Edited(path string) error // keeps a file that somebody edited
}

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
	Documents Documents                                     // keeps the lock file and modules; nil: they are files alone
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

// Hooks returns the hooks that the space calls before it stores, and to rank hits.
func (f *Families) Hooks() *hooks.Hooks { return f.hooks }

// Close stops jobs and unloads all modules.
func (f *Families) Close() error {
	f.catalogue.Stop()
	f.stop()
	f.background.Wait()
	return f.catalogue.Close()
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

// isPrivate reports whether a collection, as FAMILY/NAME, is for its own family alone.
func (f *Families) isPrivate(collection string) bool { return f.catalogue.IsPrivate(collection) }

// AnyGranted reports whether any family has a capability.
func (f *Families) AnyGranted(c abi.Capability) bool { return f.catalogue.AnyGranted(c) }

// Endpoints returns the external endpoints that an operator named.
func (f *Families) Endpoints() map[string]registry.Endpoint { return f.catalogue.Endpoints() }

// Roots returns the directories that an operator named.
func (f *Families) Roots() map[string]registry.Root { return f.catalogue.Roots() }

// Locked reports whether only digests in the lock file may run.
func (f *Families) Locked() bool { return f.catalogue.Locked() }
