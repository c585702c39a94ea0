package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Described is a family, and what an operator sees of it.
type Described struct {
	Manifest  *abi.Manifest  `json:"manifest"`
	Digest    string         `json:"digest,omitempty"`
	Source    string         `json:"source"` // built in, installed, or the path of a file
	Loaded    bool           `json:"loaded"`
	Fault     string         `json:"fault,omitempty"` // why it cannot be used
	Grant     registry.Grant `json:"grant"`
	Published []abi.Tool     `json:"published,omitempty"` // tools that it made while it ran
}

// All lists the families, by name.
func (f *Families) All() []Described {
	f.mu.RLock()
	defer f.mu.RUnlock()
	list := make([]Described, 0, len(f.known))
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		x := f.known[name]
		d := Described{Manifest: x.manifest, Digest: x.digest, Source: x.source, Loaded: x.loaded(), Fault: x.fault, Published: f.publishedBy(x)}
		if x.digest != "" {
			d.Grant = grantIn(f.lock, x)
		}
		list = append(list, d)
	}
	return list
}

// Changed is closed as soon as All gives something else, apart from what is loaded.
func (f *Families) Changed() <-chan struct{} {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.changed
}

// Install keeps a module in the data directory and makes it the family of its name, with no powers. In place of another
// version, it has none of what was granted to that.
func (f *Families) Install(binary []byte) (Described, error) {
	report, err := sandbox.Check(binary, sandbox.Options{})
	if err != nil {
		return Described{}, err
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := keepModule(filepath.Join(f.o.Dir, Folder), report.Digest, binary); err != nil {
		return Described{}, err
	}
	name := report.Manifest.Name
	err = f.change(func(l *registry.Lock) error {
		if l.Families[name].Digest != report.Digest {
			l.Families[name] = registry.Grant{Digest: report.Digest, Version: report.Manifest.Version}
		}
		return nil
	})
	return f.described(name), err
}

// keepModule writes a module under its digest, durably.
func keepModule(dir, digest string, binary []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	path := filepath.Join(dir, digest+extension)
	if have, err := os.ReadFile(path); err == nil && digestOf(have) == digest {
		return nil
	}
	file, err := os.CreateTemp(dir, "."+digest+".*")
	if err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	defer os.Remove(file.Name()) // fails once it has its name
	_, err = file.Write(binary)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	folder, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	_ = folder.Sync() // not every system can; then the rename alone has to do
	return folder.Close()
}

// Remove forgets an installed family and everything that was granted to it. What it keeps in its collections stays, for
// when it is installed again.
func (f *Families) Remove(name string) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := f.reread(); err != nil {
		return err
	}
	g, listed := f.lock.Families[name]
	if !listed {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("family %q is not in %s: list them with alcove family list", name, registry.File)}
	}
	if err := f.change(func(l *registry.Lock) error { delete(l.Families, name); return nil }); err != nil {
		return err
	}
	for _, other := range f.lock.Families {
		if other.Digest == g.Digest {
			return nil
		}
	}
	err := os.Remove(filepath.Join(f.o.Dir, Folder, g.Digest+extension))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// GrantRequest is what an operator grants a family, or takes back. What is granted is added to what was; a capability or
// hook that was granted before is replaced.
type GrantRequest struct {
	Family       string                   `json:"family"`
	Digest       string                   `json:"digest,omitempty"` // that the operator means; empty: the present one
	All          bool                     `json:"all,omitempty"`    // everything that its manifest asks for, hooks excepted
	Capabilities []registry.Capability    `json:"capabilities,omitempty"`
	Hooks        map[abi.Hook]registry.On `json:"hooks,omitempty"`
	Limits       map[string]int64         `json:"limits,omitempty"`
	Disable      *bool                    `json:"disable,omitempty"`
	Revoke       []string                 `json:"revoke,omitempty"` // capabilities and hooks; * for everything
}

// Grant changes what a family may do.
func (f *Families) Grant(r GrantRequest) (Described, error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := f.reread(); err != nil {
		return Described{}, err
	}
	x := f.knownNow(r.Family)
	if x == nil || x.digest == "" {
		f.mu.RLock()
		defer f.mu.RUnlock()
		return Described{}, f.unknown("family", r.Family)
	}
	if r.Digest != "" && r.Digest != x.digest {
		return Described{}, &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("family %s has the digest %s, not %s: look at it again with alcove family list", x.name, x.digest, r.Digest)}
	}
	g := cloneGrant(grantIn(f.lock, x))
	g.Version = x.manifest.Version
	if err := r.apply(x, &g); err != nil {
		return Described{}, err
	}
	err := f.change(func(l *registry.Lock) error { l.Families[x.name] = g; return nil })
	return f.described(x.name), err
}

func cloneGrant(g registry.Grant) registry.Grant {
	g.Capabilities = slices.Clone(g.Capabilities)
	g.Hooks, g.Limits = maps.Clone(g.Hooks), maps.Clone(g.Limits)
	if g.Hooks == nil {
		g.Hooks = map[abi.Hook]registry.On{}
	}
	if g.Limits == nil {
		g.Limits = map[string]int64{}
	}
	return g
}

func (r GrantRequest) apply(x *family, g *registry.Grant) error {
	if r.Disable != nil {
		g.Disabled = *r.Disable
	}
	for _, name := range r.Revoke {
		if err := revoke(g, name); err != nil {
			return err
		}
	}
	capabilities := r.Capabilities
	if r.All {
		for _, c := range x.manifest.Capabilities {
			capabilities = append(capabilities, registry.Capability{Name: c.Name, Scope: c.Scope})
		}
	}
	for _, c := range capabilities {
		if err := grantCapability(x, g, c); err != nil {
			return err
		}
	}
	for h, on := range r.Hooks {
		if !has(x.manifest.Hooks, h) {
			return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s has no hook %s", x.name, h)}
		}
		if h == abi.HookStore && on.OnFailure == "" {
			on.OnFailure = abi.OnFailureSkip
		}
		g.Hooks[h] = on
	}
	maps.Copy(g.Limits, r.Limits)
	return nil
}

func has(h abi.Hooks, name abi.Hook) bool {
	switch name {
	case abi.HookStore:
		return h.Store != nil
	case abi.HookStored:
		return h.Stored != nil
	case abi.HookRank:
		return h.Rank != nil
	case abi.HookEmbed:
		return h.Embed != nil
	case abi.HookJob:
		return len(h.Jobs) > 0
	}
	return false
}

func grantCapability(x *family, g *registry.Grant, c registry.Capability) error {
	asked := slices.IndexFunc(x.manifest.Capabilities, func(a abi.Request) bool { return a.Name == c.Name })
	if asked < 0 {
		return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s does not ask for %s", x.name, c.Name)}
	}
	if len(c.Scope) == 0 {
		c.Scope = x.manifest.Capabilities[asked].Scope
	}
	g.Capabilities = slices.DeleteFunc(g.Capabilities, func(have registry.Capability) bool { return have.Name == c.Name })
	g.Capabilities = append(g.Capabilities, c)
	return nil
}

func revoke(g *registry.Grant, name string) error {
	if name == "*" {
		g.Capabilities, g.Hooks = nil, map[abi.Hook]registry.On{}
		return nil
	}
	before := len(g.Capabilities) + len(g.Hooks)
	g.Capabilities = slices.DeleteFunc(g.Capabilities, func(c registry.Capability) bool { return string(c.Name) == name })
	delete(g.Hooks, abi.Hook(name))
	if len(g.Capabilities)+len(g.Hooks) == before {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("%q was not granted: give a capability or a hook that was, or * for everything", name)}
	}
	return nil
}

// Endpoints are what an operator named outside.
func (f *Families) Endpoints() map[string]registry.Endpoint {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return maps.Clone(f.lock.Endpoints)
}

// SetEndpoint names a server outside; nil forgets the name.
func (f *Families) SetEndpoint(name string, e *registry.Endpoint) error {
	f.changing.Lock()
	defer f.changing.Unlock()
	return f.change(func(l *registry.Lock) error {
		if e == nil {
			if _, there := l.Endpoints[name]; !there {
				return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no endpoint %q", name)}
			}
			delete(l.Endpoints, name)
			return nil
		}
		l.Endpoints[name] = *e
		return nil
	})
}

// Configure changes a family's configuration; null goes back to the default. It returns all of it.
func (f *Families) Configure(ctx context.Context, name string, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	x, err := f.named(name)
	if err != nil {
		return nil, err
	}
	stage, err := f.o.Space.Stage(ctx, memory.Default, "operator")
	if err != nil {
		return nil, err
	}
	if len(values) == 0 {
		return x.config(ctx, stage)
	}
	config, err := x.configure(ctx, stage, values)
	if err != nil {
		return nil, asMemory(err)
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return config, err
}

func (f *Families) knownNow(name string) *family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.known[name]
}

func (f *Families) described(name string) Described {
	all := f.All()
	if i := slices.IndexFunc(all, func(d Described) bool { return d.Manifest.Name == name }); i >= 0 {
		return all[i]
	}
	return Described{}
}

// change writes the lock file, and then holds to it. The caller holds changing.
func (f *Families) change(do func(*registry.Lock) error) error {
	if err := f.reread(); err != nil {
		return err
	}
	next := f.lock
	next.Families, next.Endpoints = maps.Clone(f.lock.Families), maps.Clone(f.lock.Endpoints)
	if next.Families == nil {
		next.Families = map[string]registry.Grant{}
	}
	if next.Endpoints == nil {
		next.Endpoints = map[string]registry.Endpoint{}
	}
	if err := do(&next); err != nil {
		return err
	}
	if err := registry.Write(f.o.Dir, next); err != nil {
		return err
	}
	f.lockFile = statLock(f.o.Dir)
	f.hold(next)
	return nil
}

// hold has everything follow what an operator decided. The caller holds changing.
func (f *Families) hold(l registry.Lock) {
	f.mu.Lock()
	f.lock = l
	f.mu.Unlock()
	f.scanLocked()
	f.mu.Lock()
	f.offer()
	f.announce()
	f.mu.Unlock()
	f.preload(context.Background())
	f.jobs.wakeUp()
}

// followLock holds to a lock file that an operator edited. While one cannot be understood, what was decided before holds.
func (f *Families) followLock() {
	f.changing.Lock()
	defer f.changing.Unlock()
	now := statLock(f.o.Dir)
	if sameLock(f.lockFile, now) || sameLock(f.lockBroken, now) {
		return
	}
	if err := f.reread(); err != nil {
		f.lockBroken = now // which is said once
		f.o.Logger.Error("the lock file was changed and cannot be read; what it said before holds on", "error", err)
	}
}

// reread takes over what was edited in the lock file since it was read or written. The caller holds changing.
func (f *Families) reread() error {
	now := statLock(f.o.Dir)
	if sameLock(f.lockFile, now) {
		return nil
	}
	next, err := registry.Read(f.o.Dir)
	if err != nil {
		return &memory.Error{Code: memory.Unavailable, Message: err.Error()}
	}
	f.lockFile = now
	f.hold(next)
	return nil
}

// statLock is what the lock file is now; nil when there is none.
func statLock(dir string) os.FileInfo {
	now, err := os.Stat(filepath.Join(dir, registry.File))
	if err != nil {
		return nil
	}
	return now
}

func sameLock(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
