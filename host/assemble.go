package host

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/outside/files"
	"github.com/alcove-memory/alcove/host/family/outside/outbound"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/sessions"
	"github.com/alcove-memory/alcove/host/memory/usage"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/sandbox/early"
	"github.com/alcove-memory/alcove/host/search"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool/core"
)

// oldCompiledModules is where earlier releases kept compiled modules, in a data directory.
const oldCompiledModules = "modules"

// parts are what serves the space of a data directory.
type parts struct {
	engine    store.Engine
	embedders *embedders.Embedders
	space     *memory.Space
	families  *family.Families // nil: there are none
	usage     *usage.Counter   // of tools; nil: there are no families that could ask
	locked    bool             // the directory was locked when it was opened
	without   error            // why there are no families though there should be; nil: nothing is missing
	audit     *audit.Log       // nil: nothing is recorded
}

// assembly says which parts there are beside the space and its vectors.
type assembly struct {
	readOnly  bool                                     // the directory cannot be written: nothing is embedded, and there are no families
	dormant   bool                                     // likewise, by choice: a space that is only verified sends its texts nowhere
	sandbox   *sandbox.Sandbox                         // of the families; the caller closes it. Nil: a new one
	checkKey  func(id string) error                    // returns why an API key does not hold; nil: none is known
	whileKey  family.While                             // ends a job with its caller's key; nil: none is known
	sessions  *sessions.Sessions                       // nil: there are none
	delegates ops.Delegates                            // nil: no keys can be made
	watch     func(family.Guest) family.Guest          // replaces the guests of families, which then run stepwise; nil: they are as admitted
	purging   func(holds func(text []byte) bool) error // erases from files beside the store; nil: there are none
	called    func(audit.Entry)                        // receives each request to a guest; nil: what families do is not recorded
}

// assemble opens the space of a data directory, and what serves it. Everything that it opened is in closing, on an error too.
func assemble(ctx context.Context, o Options, a assembly, closing *closers) (p parts, err error) {
	lock, err := lockfile.Read(o.Dir, owner.AuditPath(o.Dir))
	if err != nil {
		return p, err
	}
	p.locked = o.Locked || lock.Lock.Locked
	p.engine, err = o.Driver.Open(ctx, o.Dir, store.Options{Clock: o.Clock, Logger: o.Logger, ReadOnly: a.readOnly})
	if errors.Is(err, store.ErrReadOnly) {
		return p, fmt.Errorf("%w: this user must be able to write there; choose another directory with --data", err)
	}
	if err != nil {
		return p, fmt.Errorf("open the store in %s: %w", o.Dir, err)
	}
	closing.later("the store", p.engine.Close)
	tuned, err := search.Tuning{Languages: o.Language, BM25: o.BM25, Conversations: o.Conversations}.Options()
	if err != nil {
		return p, err
	}
	index := search.New(tuned)
	p.embedders, err = embedders.Open(ctx, embedders.Options{Dir: o.Dir, Blobs: p.engine, Index: index, Logger: o.Logger, Getenv: os.Getenv, Serve: o.Embedder})
	if err != nil {
		return p, err
	}
	closing.later("the vectors", p.embedders.Close)
	p.space, err = memory.Open(ctx, memory.Options{
		Engine: p.engine, Index: index, Vectors: p.embedders.ForMemory(), Clock: o.Clock, Logger: o.Logger, ReadOnly: a.readOnly,
		Purging: a.purging, CheckKey: a.checkKey,
		IsPrivate: func(collection string) bool { return p.families == nil || p.families.IsPrivate(collection) },
	})
	if err != nil {
		return p, fmt.Errorf("open the memory in %s: %w", o.Dir, err)
	}
	closing.later("the memory", func() error { return p.space.Close(context.WithoutCancel(ctx)) })
	if guards := lock.Lock.Guards(); len(guards) > 0 {
		p.space.SetHooks(unguarded{guards}) // until the families' own replace them
	}
	if a.readOnly || a.dormant {
		return p, nil
	}
	p.embedders.Start(p.space)
	return p, p.openFamilies(ctx, o, a, &lock, closing)
}

// openFamilies makes families ready to be called. Without a sandbox or an audit log there are none, and the server goes on only if
// nothing depends on them.
func (p *parts) openFamilies(ctx context.Context, o Options, a assembly, lock *lockfile.File, closing *closers) (err error) {
	recorder, err := p.openAudit(ctx, o, a, lock, closing)
	var edited *lockfile.EditedError
	switch {
	case errors.As(err, &edited):
		return err
	case err != nil:
		return p.goWithout(o, lock.Lock, fmt.Errorf("what families do cannot be recorded: %w", err))
	}
	p.locked = o.Locked || lock.Lock.Locked
	o.Locked = p.locked
	box := a.sandbox
	if box == nil {
		if err := sandbox.RemoveOldCache(filepath.Join(o.Dir, oldCompiledModules)); err != nil {
			o.Logger.Warn("the compiled modules of an earlier release could not be removed", "error", err)
		}
		box, err = sandbox.New(sandbox.Config{Cache: cacheOf(o), Scratch: []string{os.TempDir(), o.Dir}, Log: o.Logger, Compiler: o.Compiler, Inspect: o.Inspect})
		if err != nil {
			return p.goWithout(o, lock.Lock, err)
		}
		closing.later("the sandbox", box.Close)
	}
	var first *early.Sandbox
	if o.InterpretFirst {
		if first, err = early.New(sandbox.Config{Scratch: []string{o.Dir}, Log: o.Logger}, box); err != nil {
			return err
		}
		closing.later("the interpreter", first.Close)
	}
	outside := o.Outside
	if outside == nil {
		outside = outbound.New()
	}
	p.usage = usage.New(usage.Options{
		Space: p.space.As(memory.Caller{Rights: memory.FullRights()}), Namespace: ops.SystemNamespace, Clock: o.Clock, Logger: o.Logger,
		Wanted: func() bool { return p.families != nil && p.families.AnyGranted(abi.CanToolsUsage) },
	})
	options := family.Options{
		Space: p.space, Sandbox: box, Early: first, Dir: o.Dir, Built: o.Families, Release: o.Release, Watch: o.FamiliesDir, Core: core.Names(), Locked: o.Locked, Lock: &lock.Lock, Audit: recorder, ReadOnly: o.ReadOnly,
		Clock: o.Clock, Logger: o.Logger, Outside: outside, Embedder: p.embedders, Usage: p.usage, CheckKey: a.checkKey, WhileKey: a.whileKey,
		Delegates: a.delegates, Files: &files.Files{Private: []string{o.Dir}},
	}
	if a.sessions != nil {
		options.Sessions, options.Recent = a.sessions.List, a.sessions.Recent
	}
	if a.watch != nil {
		options.Stepwise, options.Admit = true, func(ctx context.Context, module []byte, digest string) (family.Guest, error) {
			m, err := box.Admit(ctx, module, sandbox.Options{Digest: digest})
			if err != nil {
				return nil, err
			}
			return a.watch(m), nil
		}
	}
	families, err := family.New(ctx, options)
	if err != nil {
		return err
	}
	closing.later("the families", families.Close)
	p.families = families
	p.embedders.SetGuests(func(name string) (embedders.Guest, bool) {
		g, on := families.Hooks().EmbedderOf(name)
		return embedders.Guest{Model: g.Model, Dimensions: g.Dimensions, Embed: g.Embed}, on
	})
	p.space.SetHooks(families.Hooks())
	p.space.SetFeedLimits(families.FeedLimits)
	if !o.ReadOnly {
		closing.later("the count of feeds", running(ctx, func(ctx context.Context) { watchFeeds(ctx, p.space, o.Logger) }))
		closing.later("the usage of tools", running(ctx, p.usage.Run))
	}
	return nil
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

// feedsEvery is the interval between counts of feeds.
const feedsEvery = time.Hour

// watchFeeds warns of feeds with too many notices.
func watchFeeds(ctx context.Context, space *memory.Space, log *slog.Logger) {
	tick := time.NewTicker(feedsEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		crowded, err := space.CrowdedFeeds(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("the feeds could not be counted", "error", err)
		}
		for _, feed := range crowded {
			log.Warn("a feed has more events than feed_alert_rows: keep fewer days of it, with alcove config set feed_retention_days=N, or raise the limit", "branch", feed.Branch, "events", feed.Rows, "feed_alert_rows", feed.Limit)
		}
	}
}

// running runs something until it is closed.
func running(ctx context.Context, run func(context.Context)) (end func() error) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		run(ctx)
	}()
	return func() error {
		stop()
		<-ended
		return nil
	}
}

// closers are what has to be closed, in the order of opening.
type closers []namedCloser

type namedCloser struct {
	name  string
	close func() error
}

func (c *closers) later(name string, f func() error) { *c = append(*c, namedCloser{name, f}) }

// close closes everything, last opened first.
func (c closers) close() (err error) {
	for i := len(c) - 1; i >= 0; i-- {
		if failed := c[i].close(); failed != nil {
			err = errors.Join(err, fmt.Errorf("close %s: %w", c[i].name, failed))
		}
	}
	return err
}
