package catalogue

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// Load loads a family's module.
func (f *Catalogue) Load(ctx context.Context, name string) error {
	x, err := f.Named(name)
	if err != nil {
		return err
	}
	_, release, err := f.Acquire(ctx, x)
	if err != nil {
		return err
	}
	release()
	return nil
}

// replacedError returns hooks.ErrReplaced in the form that callers see.
func replacedError(x *Family) error {
	return replacement{&memory.Error{Code: memory.Unavailable, Retryable: true, Message: "family " + x.Name + ": another version took its place: try again"}}
}

type replacement struct{ error }

func (r replacement) Unwrap() []error { return []error{r.error, hooks.ErrReplaced} }

// Acquire loads a family's module if needed, and keeps it loaded until release is called.
func (f *Catalogue) Acquire(ctx context.Context, x *Family) (m Guest, release func(), err error) {
	if m := x.hold(f); m != nil {
		return m, func() { x.release(f) }, nil
	}
	stopping := &memory.Error{Code: memory.Unavailable, Retryable: true, Message: "the server is being stopped: try again"}
	late := &memory.Error{Code: memory.Timeout, Retryable: true, Message: "family " + x.Name + " is still being loaded: try again"}
	select {
	case x.Loading <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, late
	case <-f.closed:
		return nil, nil, stopping
	}
	if m := x.hold(f); m != nil {
		<-x.Loading
		return m, func() { x.release(f) }, nil
	}
	ended := make(chan error, 1)
	if !f.Behind(func() { ended <- f.load(x); <-x.Loading }) {
		<-x.Loading
		return nil, nil, stopping
	}
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = late
	}
	if err != nil {
		return nil, nil, err
	}
	if m := x.hold(f); m != nil {
		return m, func() { x.release(f) }, nil
	}
	return nil, nil, replacedError(x)
}

// load admits the module, until Close. It outlives the call that needed it: others may need it, too. The caller
// occupies loading.
func (f *Catalogue) load(x *Family) error {
	ctx, cancel := f.UntilClosed()
	defer cancel()
	began := f.o.Clock()
	f.mu.RLock()
	why := f.untrusted(x)
	f.mu.RUnlock()
	if why != "" {
		return &memory.Error{Code: memory.Unavailable, Message: "family " + x.Name + " was refused: " + why}
	}
	m, err := f.Admit(ctx, x)
	f.auditLoad(x, err)
	var refused *sandbox.Refusal
	if errors.As(err, &refused) {
		return &memory.Error{Code: memory.Unavailable, Message: "family " + x.Name + " was refused: " + refused.Error()}
	}
	var failed *sandbox.CompileError
	if errors.As(err, &failed) {
		f.o.Logger.Warn("a family could not be compiled", "family", x.Name, "error", failed)
		return &memory.Error{Code: memory.Unavailable, Retryable: failed.Retryable, Message: "family " + x.Name + " could not be loaded: " + failed.Error()}
	}
	if err != nil {
		return fmt.Errorf("load family %s: %w", x.Name, err)
	}
	f.o.Logger.Info("family loaded", "family", x.Name, "version", x.Manifest.Version, "digest", x.Digest, "took", f.o.Clock().Sub(began))
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.retired {
		return errors.Join(replacedError(x), m.Close())
	}
	x.module, x.used = m, f.o.Clock() // else it would look long unused
	return nil
}

// UntilClosed returns a context that ends with Close, or when it is cancelled.
func (f *Catalogue) UntilClosed() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		select {
		case <-f.closed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// CarriedTimeout bounds the compilation of the built-in families: one module holds many, and it is
// known to compile in seconds on an idle machine. Under the race detector it takes 140 s of a processor.
const CarriedTimeout = 20 * time.Minute

// Admit admits a family's module. A vetted one is compiled in a child process, too, which needs no memory of this process.
func (f *Catalogue) Admit(ctx context.Context, x *Family) (Guest, error) {
	if m := x.takeAdmitted(); m != nil {
		return m, nil
	}
	if f.o.Admit != nil {
		b, err := x.Origin.Read()
		if err != nil {
			return nil, err
		}
		return f.o.Admit(ctx, b.Bytes(), x.Digest)
	}
	if f.o.Early != nil && x.Source != grants.BuiltIn {
		return f.admitEarly(ctx, x)
	}
	m, err := f.admitModule(ctx, x)
	if err != nil {
		return nil, err // a nil Guest, not one without a module
	}
	return m, nil
}

func (f *Catalogue) admitEarly(ctx context.Context, x *Family) (Guest, error) {
	b, err := x.Origin.Read()
	if err != nil {
		return nil, err
	}
	m, err := f.o.Early.Admit(ctx, b, sandbox.Options{Digest: x.Digest})
	if err != nil {
		return nil, err // likewise
	}
	return m, nil
}

// LoadWith loads a family, in the background, with a module that was admitted as its own. It closes the module if the family is loaded
// already, or another version is served.
func (f *Catalogue) LoadWith(name, digest string, m Guest) error {
	x := f.Known(name)
	if x == nil || x.Digest != digest || !x.giveAdmitted(m) {
		return m.Close()
	}
	if !f.loadBehind(x) { // after Close
		return x.Unload()
	}
	return nil
}

// loadBehind loads a family in the background, and reports whether that began.
func (f *Catalogue) loadBehind(x *Family) (begun bool) {
	return f.Behind(func() {
		ctx, cancel := f.UntilClosed()
		defer cancel()
		if _, release, err := f.Acquire(ctx, x); err == nil {
			release()
		} else if ctx.Err() == nil {
			f.o.Logger.Warn("a family could not be loaded; it is tried again when it is called", "family", x.Name, "error", err)
		}
	})
}

func (f *Catalogue) admitModule(ctx context.Context, x *Family) (*sandbox.Module, error) {
	options := sandbox.Options{Digest: x.Digest}
	if x.Source == grants.BuiltIn {
		options.CompileTimeout, options.Body, options.Native = CarriedTimeout, x.body, x.native
	}
	now, err := x.Origin.Digest()
	if err != nil {
		return nil, err
	}
	return f.o.Sandbox.AdmitSource(ctx, sandbox.Source{Digest: now, Manifest: x.Section, Read: x.Origin.Read}, options)
}

// UnloadIdle unloads modules long unused that no hook needs.
func (f *Catalogue) UnloadIdle() {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, x := range f.known {
		if f.takesPart(x) {
			continue
		}
		x.mu.Lock()
		now := f.o.Clock()
		if x.used.After(now) { // the clock was put back
			x.used = now
		}
		if x.module != nil && x.running == 0 && now.Sub(x.used) > f.o.Idle {
			_ = x.module.Close()
			x.module = nil
			f.o.Logger.Info("unused family unloaded", "family", x.Name)
		}
		x.mu.Unlock()
	}
}

// AwaitHooks waits until a family with hooks in stores and searches is loaded. A hook that may be skipped is asked about every store that
// begins after this.
func (f *Catalogue) AwaitHooks(ctx context.Context, name string) error {
	var err error
	for range loadAttempts {
		f.mu.RLock()
		x := f.known[name]
		asked := x != nil && f.takesPart(x)
		f.mu.RUnlock()
		if !asked {
			return nil
		}
		var release func()
		if _, release, err = f.Acquire(ctx, x); err == nil {
			release()
			return nil
		}
		if !errors.Is(err, hooks.ErrReplaced) {
			break
		}
	}
	return fmt.Errorf("the grant of family %s holds, and its hooks are skipped or refuse until it can be loaded: %w", name, err)
}

// loadAttempts limits how often a family that is replaced while it is loaded is loaded again.
const loadAttempts = 8

// takesPart reports whether a family has hooks in stores or searches, so that it must be loaded. One that a tag, a condition or the type of a
// memory calls for is loaded then: a server that only answers searches needs no memory for its code. The caller holds mu.
func (f *Catalogue) takesPart(x *Family) bool {
	_, store := f.hookOf(x, abi.HookStore)
	store = store && x.Manifest.Hooks.Store.TagFrom == "" && x.Manifest.Hooks.Store.When.IsZero() && len(x.Manifest.Hooks.Store.Types) == 0
	_, rank := f.hookOf(x, abi.HookRank)
	return store || rank && f.rankWhen(x).IsZero()
}

// Preload loads families with hooks in stores and searches, in the background.
func (f *Catalogue) Preload(ctx context.Context) {
	f.mu.RLock()
	var wanted []*Family
	for _, x := range f.known {
		if f.takesPart(x) && !x.IsLoaded() {
			wanted = append(wanted, x)
		}
	}
	for _, name := range f.serving() {
		if x := f.guards[name].family; x != nil && !x.IsLoaded() {
			wanted = append(wanted, x)
		}
	}
	f.mu.RUnlock()
	for _, x := range wanted {
		f.Behind(func() {
			if _, release, err := f.Acquire(ctx, x); err == nil {
				release()
			} else if ctx.Err() == nil {
				f.o.Logger.Warn("a family whose hooks are on could not be loaded", "family", x.Name, "error", err)
			}
		})
	}
}

// Running keeps a family's module loaded until release is called, if it is; m is nil if it is not.
func (f *Catalogue) Running(x *Family) (m Guest, release func()) {
	if m = x.hold(f); m == nil {
		return nil, nil
	}
	return m, func() { x.release(f) }
}

// LoadForHooks loads a family in the background, once at a time. After a failure its hooks rest.
func (f *Catalogue) LoadForHooks(x *Family) {
	if !x.coming.CompareAndSwap(false, true) {
		return
	}
	begun := f.Behind(func() {
		defer x.coming.Store(false)
		_, release, err := f.Acquire(context.Background(), x)
		if err == nil {
			release()
			return
		}
		f.o.Logger.Warn("a family whose hooks are on could not be loaded", "family", x.Name, "error", err)
		x.Breaker.Trip(f.o.Clock())
	})
	if !begun {
		x.coming.Store(false)
	}
}

// Warm compiles the module of a family that was just installed in the background, so that the first call finds it in the cache.
func (f *Catalogue) Warm(name string, b sandbox.Binary) {
	x := f.Known(name)
	if x == nil || x.Usable() != nil || x.Digest != b.Digest() {
		return
	}
	if f.o.Early != nil { // its author calls it next
		f.loadBehind(x)
		return
	}
	x = NewFamily(x.Version, modules.InMemory(b))
	f.Behind(func() {
		ctx, cancel := f.UntilClosed()
		defer cancel()
		m, err := f.Admit(ctx, x)
		if err == nil {
			err = m.Close()
		}
		if err != nil && ctx.Err() == nil {
			f.o.Logger.Warn("a family that was installed could not be compiled; it is tried again when it is called", "family", name, "error", err)
		}
	})
}

// hold acquires the module if it is loaded.
func (x *Family) hold(f *Catalogue) Guest {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.module == nil || x.retired {
		return nil
	}
	x.running++
	x.used = f.o.Clock()
	return x.module
}

func (x *Family) release(f *Catalogue) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running--
	x.used = f.o.Clock()
	if x.retired && x.running == 0 && x.module != nil {
		_ = x.module.Close()
		x.module = nil
	}
}
