package family

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/budget"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/registry"
)

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
	m.Dir, m.ReadOnly, m.Documents, m.Logger = o.Dir, o.ReadOnly, o.Documents, o.Logger
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
	if o.Documents == nil {
		o.Documents = modules.Files{}
	}
	if o.Retry == 0 {
		o.Retry = 2 * time.Second
	}
	return o
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
