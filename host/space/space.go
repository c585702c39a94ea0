// Package space opens the space of a data directory: its store, search index, memory, sandbox, families and audit log.
package space

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/usage"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/early"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/standby"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool"
	"github.com/alcove-memory/alcove/host/tool/core"
	"github.com/alcove-memory/alcove/host/tool/families"
)

// Space is an open space and what serves it.
type Space struct {
	Engine    store.Engine
	Embedders *embedders.Embedders
	Memory    *memory.Space
	Families  *family.Families  // nil: there are none
	Tools     *tool.Dispatcher  // of the core and of the families
	Usage     *usage.Counter    // of tools; nil: there are no families that could ask
	Without   error             // why there are no families though there should be; nil: nothing is missing
	Audit     *audit.Log        // nil: nothing is recorded
	ReadOnly  bool              // the directory cannot be written, or follows a bucket
	Follower  *standby.Follower // nil: the store is the directory's own
	proxy     *family.Proxy
	locked    bool // the directory was locked when it was opened
}

// embedder implements embedders.Guests.
func (p *Space) embedder(name string) (embedders.Guest, bool) {
	g, on := p.proxy.EmbedderOf(name)
	return embedders.Guest{Model: g.Model, Dimensions: g.Dimensions, Embed: g.Embed}, on
}

// Locked reports whether families run only as the lock file says, and nothing is granted.
func (p *Space) Locked() bool { return p.locked || p.Families != nil && p.Families.Locked() }

// Writable tells why nothing can be written though it should be: the files of the store are gone, for instance. nil when
// writes are kept, or are refused by intention.
func (p *Space) Writable() error {
	e, ok := p.Engine.(store.WriteChecker)
	if !ok || p.ReadOnly {
		return nil
	}
	return e.Writable()
}

// Open opens the space of a data directory, and what serves it. Everything that it opened is in closing, on an error too. The caller holds
// the lock of the directory.
func Open(ctx context.Context, o Options, a Environment, closing *Closers) (p *Space, err error) {
	o, p = o.WithDefaults(), &Space{}
	opening, follows := store.Options{Clock: o.Clock, Logger: o.Logger, ReadOnly: a.ReadOnly, Server: a.Server}, ""
	if o.Follow != nil {
		opening.Mirror, follows, a.ReadOnly = true, o.Follow.Place, true
	}
	p.ReadOnly = a.ReadOnly
	lock, err := lockfile.Read(o.Dir, owner.AuditPath(o.Dir))
	if err != nil {
		return p, err
	}
	p.locked = o.Locked || lock.Lock.Locked
	if err := checkDriver(o.Dir, o.Driver); err != nil {
		return p, err
	}
	if o.Posture != "" {
		switch there, err := o.Driver.Exists(o.Dir); {
		case err != nil:
			return p, fmt.Errorf("look for a store in %s: %w", o.Dir, err)
		case there:
			o.Posture = "" // what is there stays as it was
		}
	}
	p.Engine, err = o.Driver.Open(ctx, o.Dir, opening)
	if _, files := o.Driver.(store.Filed); files && errors.Is(err, store.ErrReadOnly) {
		return p, fmt.Errorf("%w: this user must be able to write there; choose another directory with --data", err)
	}
	if err != nil {
		return p, fmt.Errorf("open the store in %s: %w", o.Dir, err)
	}
	closing.Later("the store", p.Engine.Close)
	if a.Closing != nil {
		closing.Later("the move of the store", func() error { return a.Closing(p.Engine) })
	}
	if !a.ReadOnly {
		if err := noteDriver(o.Dir, o.Driver); err != nil {
			return p, err
		}
	}
	tuned, err := search.Tuning{Languages: o.Language, BM25: o.BM25, Conversations: o.Conversations}.Options()
	if err != nil {
		return p, err
	}
	index := search.New(tuned)
	var until memory.Hooks
	if guards := lock.Lock.Guards(); len(guards) > 0 {
		until = refusingHooks{guards}
	}
	p.proxy = family.NewProxy(until)
	var writeFile func(path string, data []byte) error
	if a.Documents != nil {
		writeFile = a.Documents.Write
	}
	p.Embedders, err = embedders.Open(ctx, embedders.Options{Write: writeFile, Dir: o.Dir, Guests: p.embedder, Blobs: p.Engine, Index: index, Logger: o.Logger, Getenv: os.Getenv, Serve: o.Embedder, Lexical: o.Lexical, Words: a.Words})
	if err != nil {
		return p, err
	}
	closing.Later("the vectors", p.Embedders.Close)
	p.Memory, err = memory.Open(ctx, memory.Options{
		Engine: p.Engine, Index: index, Vectors: p.Embedders.ForMemory(), Clock: o.Clock, Logger: o.Logger, ReadOnly: a.ReadOnly, Follows: follows,
		Purging: a.Purging, CheckKey: a.CheckKey, KeyQuotas: a.KeyQuotas, Hooks: p.proxy.Hooks, IsPrivate: p.proxy.IsPrivate, Synced: p.proxy.Synced, FeedLimits: p.proxy.FeedLimits,
	})
	if err != nil {
		return p, fmt.Errorf("open the memory in %s: %w", o.Dir, err)
	}
	closing.Later("the memory", func() error { return p.Memory.Close(context.WithoutCancel(ctx)) })
	if o.Follow != nil && !a.Dormant {
		if err := p.follow(ctx, o, closing); err != nil {
			return p, err
		}
	}
	if a.ReadOnly || a.Dormant {
		return p, p.openTools(o, a, nil)
	}
	p.Embedders.Start(p.Memory)
	return p, p.openFamilies(ctx, o, a, &lock, closing)
}

// follow begins to follow a bucket.
func (p *Space) follow(ctx context.Context, o Options, closing *Closers) error {
	engine, ok := p.Engine.(standby.Engine)
	if !ok {
		return fmt.Errorf("follow %s: a server does so with a store in its data directory, and not with a database", o.Follow.Place)
	}
	p.Follower = &standby.Follower{Options: *o.Follow, Dir: FollowingDirectory(o.Dir, o.Driver), Space: p.Memory, Engine: engine, Clock: o.Clock, Logger: o.Logger}
	p.Without = errors.New("a server that follows a bucket runs none")
	closing.Later("what follows the bucket", Running(ctx, p.Follower.Run))
	return nil
}

// Following tells how far a copy is; empty: the store is the directory's own.
func (p *Space) Following(now time.Time) string {
	if p.Follower == nil {
		return ""
	}
	return p.Follower.Status().Says(now)
}

// openTools makes the tools of the core and of the families; without families if source is nil.
func (p *Space) openTools(o Options, a Environment, source *families.Source) error {
	c := core.Options{Space: p.Memory, Version: o.Version, Writable: p.Writable, Locked: p.Locked, Vectors: p.Embedders.Words(), Following: func() string { return p.Following(o.Clock()) }}
	all := tool.NewRegistry(nil)
	if source != nil {
		all, c.Meaning = tool.NewRegistry(source), source.Meaning
	}
	if err := all.Add(core.Specs(c)...); err != nil {
		return err
	}
	calls := a.Calls
	calls.Logger, calls.Clock = o.Logger, o.Clock
	p.Tools = tool.NewDispatcher(all, calls)
	return nil
}

// openFamilies makes families ready to be called. Without a sandbox or an audit log there are none, and the server goes on only if
// nothing depends on them.
func (p *Space) openFamilies(ctx context.Context, o Options, a Environment, lock *lockfile.File, closing *Closers) (err error) {
	recorder, err := p.openAudit(ctx, o, a, lock, closing)
	var edited *lockfile.EditedError
	switch {
	case errors.As(err, &edited):
		return err
	case err != nil:
		return p.openWithoutFamilies(o, a, lock.Lock, fmt.Errorf("what families do cannot be recorded: %w", err))
	}
	p.locked = o.Locked || lock.Lock.Locked
	o.Locked = p.locked
	box := a.Sandbox
	if box == nil {
		box, err = newSandbox(o)
		if err != nil {
			return p.openWithoutFamilies(o, a, lock.Lock, err)
		}
		closing.Later("the sandbox", box.Close)
	}
	var first *early.Sandbox
	if o.InterpretFirst {
		if first, err = early.New(sandbox.Config{Scratch: []string{o.Dir}, Log: o.Logger}, box); err != nil {
			return err
		}
		closing.Later("the interpreter", first.Close)
	}
	outside := o.Outside
	if outside == nil {
		outside = outbound.New()
	}
	p.Usage = usage.New(usage.Options{
		Space: p.Memory.As(memory.Caller{Rights: memory.FullRights()}), Namespace: ops.SystemNamespace, Clock: o.Clock, Logger: o.Logger,
		Wanted: func() bool { f := p.proxy.Families(); return f != nil && f.AnyGranted(abi.CanToolsUsage) },
	})
	source := families.New(p.proxy)
	if err := p.openTools(o, a, &source); err != nil {
		return err
	}
	options := family.Options{
		Space: p.Memory, Callable: families.NewCallable(p.Tools), Proxy: p.proxy, Sandbox: box, Early: first, Dir: o.Dir, Documents: a.Documents, Built: o.Families, Release: o.Release, Watch: o.FamiliesDir, Core: core.Names(), Locked: o.Locked, Lock: &lock.Lock, Audit: recorder, ReadOnly: o.ReadOnly,
		Clock: o.Clock, Logger: o.Logger, Outside: outside, Embedder: p.Embedders, Usage: p.Usage, CheckKey: a.CheckKey, WhileKey: a.WhileKey,
		Delegates: a.Delegates, Files: &files.Files{Private: []string{o.Dir}},
	}
	if a.Sessions != nil {
		options.Sessions, options.Recent = a.Sessions.List, a.Sessions.Recent
	}
	if a.Watch != nil {
		options.Stepwise, options.Admit = true, func(ctx context.Context, module []byte, digest string) (catalogue.Guest, error) {
			m, err := box.Admit(ctx, module, sandbox.Options{Digest: digest})
			if err != nil {
				return nil, err
			}
			return a.Watch(m), nil
		}
	}
	if p.Families, err = family.New(ctx, options); err != nil {
		return err
	}
	closing.Later("the families", p.Families.Close)
	if !o.ReadOnly {
		closing.Later("the count of feeds", Running(ctx, func(ctx context.Context) { watchFeeds(ctx, p.Memory, o.Logger) }))
		closing.Later("the usage of tools", Running(ctx, p.Usage.Run))
	}
	return nil
}

// Common is what spaces of one process share: compiled families and the table of word vectors, and nothing that they keep or are asked.
type Common struct {
	sandbox *sandbox.Sandbox
	words   embedders.Words
}

// NewCommon returns what spaces share that have the same options but for their directories. On an error each has its own.
func NewCommon(o Options) (c Common, err error) {
	if c.sandbox, err = newSandbox(o.WithDefaults()); err != nil {
		return Common{}, err
	}
	c.words = embedders.SharedWords()
	return c, nil
}

// In returns an environment with what is shared.
func (c Common) In(a Environment) Environment {
	a.Sandbox, a.Words = c.sandbox, c.words
	return a
}

// Close closes what is shared. No space uses it any more.
func (c Common) Close() error {
	if c.sandbox == nil {
		return nil
	}
	return c.sandbox.Close()
}

func newSandbox(o Options) (*sandbox.Sandbox, error) {
	return sandbox.New(sandbox.Config{Cache: cacheOf(o), Scratch: []string{os.TempDir(), o.Dir}, Log: o.Logger, Compiler: o.Compiler, Inspect: o.Inspect})
}

// cacheOf is the cache of compiled modules. A locked server has one of its own, with a key of its own: nothing that another
// server of this user compiled runs there.
func cacheOf(o Options) sandbox.Cache {
	c := o.Cache
	if !o.Locked || c.Dir == "" {
		return c
	}
	if c.Key != "" {
		c.Key += "-locked"
	}
	c.Dir += "-locked"
	return c
}
