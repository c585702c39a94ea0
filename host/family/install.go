package family

import (
	"fmt"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Described is an operator's view of a family.
type Described struct {
	Manifest  *abi.Manifest  `json:"manifest"`
	Digest    string         `json:"digest,omitempty"`
	Source    string         `json:"source"` // built in, installed, or the path of a file
	Loaded    bool           `json:"loaded"`
	Fault     string         `json:"fault,omitempty"` // why it cannot be used
	Grant     registry.Grant `json:"grant"`
	Published []abi.Tool     `json:"published,omitempty"` // tools made at run time
	Tools     []*Tool        `json:"-"`                   // all, to be called
	// Guard is another version that serves the store hook; nil: none.
	Guard *grants.Guarding `json:"guard,omitempty"`
	// Update is what this version lacks of the grant before. The previous version of an installed family is known to the
	// answer to its installation only.
	Update *grants.Update `json:"update,omitempty"`
	// NewlyAsked is what this release of a built-in family asks for beyond the one whose grant was decided.
	NewlyAsked []string `json:"newly_asked,omitempty"`
	// GrantCommand grants what still fits of the previous grant, or what is newly asked for; empty: nothing to grant.
	GrantCommand string `json:"grant_command,omitempty"`
	// Ended is the version that a grant stops from serving the store hook. Only the answer to that grant has it.
	Ended *grants.Guarding `json:"ended,omitempty"`
	// Lacking is what the manifest asks for and was not granted, if a hook is on: the hook fails where it needs it.
	Lacking []string `json:"lacking,omitempty"`
	// Hidden means that a built-in family has its name.
	Hidden bool `json:"hidden,omitempty"`
}

// All lists the families by name.
func (f *Families) All() []Described {
	f.mu.RLock()
	defer f.mu.RUnlock()
	list := make([]Described, 0, len(f.known)+len(f.hidden))
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		list = append(list, f.describe(f.known[name]))
		for _, x := range f.hidden {
			if x.Name == name {
				list = append(list, Described{Manifest: x.Manifest, Digest: x.Digest, Source: x.Source, Fault: x.fault, Grant: registry.Grant{Digest: x.Digest}, Hidden: true})
			}
		}
	}
	return list
}

// Show lists the families for an operator, whose grants refer to this listing.
func (f *Families) Show() []Described {
	f.changing.Lock()
	defer f.changing.Unlock()
	list := f.All()
	clear(f.shown)
	for _, d := range list {
		if d.Source != grants.BuiltIn && d.Source != grants.Installed && d.Digest != "" && !d.Hidden {
			f.shown[d.Manifest.Name] = d.Digest
		}
	}
	return list
}

// describe returns an operator's view of a family. The caller holds mu.
func (f *Families) describe(x *family) Described {
	d := Described{Manifest: x.Manifest, Digest: x.Digest, Source: x.Source, Loaded: x.loaded(), Fault: x.fault, Published: f.publishedBy(x), Tools: f.toolsOf(x)}
	if g := f.guards[x.Name]; g != nil && slices.Contains(f.serving(), x.Name) {
		d.Guard = &grants.Guarding{Digest: g.Digest, Version: g.Version, Missing: g.gone}
	}
	if x.Digest == "" {
		return d
	}
	before := f.lock.Families[x.Name]
	d.Grant = grants.In(f.lock, x.Version)
	if x.clashes {
		return d // nothing can be granted to it
	}
	d.Lacking = grants.Lacking(x.Version, d.Grant)
	n := grants.NewsOf(before, x.Version)
	d.NewlyAsked = n.List(x.Manifest)
	switch {
	case len(d.NewlyAsked) > 0:
		d.GrantCommand = n.Command(x.Version, d.Grant)
	case before.Asked == nil && before.Digest != x.Digest && x.Source != grants.BuiltIn:
		d.Update, d.GrantCommand = grants.Lost(before, d.Grant), grants.Fitting(x.Version, before)
	case d.Guard != nil && d.Grant.Guard != nil:
		d.GrantCommand = grants.Fitting(x.Version, registry.Grant{Guard: d.Grant.Guard})
	}
	return d
}

// Changed is closed as soon as the result of All changes, apart from loaded modules.
func (f *Families) Changed() <-chan struct{} {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.changed
}

// Install keeps a module in the data directory and registers it under its family's name, without powers. Replacing another
// version, it inherits none of its grants; but a required store hook is served by the approved
// version until this one is granted it. An unusable family is not installed.
func (f *Families) Install(module []byte) (Described, error) {
	return f.install(f.modules.Hash(module))
}

func (f *Families) install(b sandbox.Binary) (Described, error) {
	report, err := b.Check(sandbox.Options{})
	if err != nil {
		return Described{}, err
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := f.reread(); err != nil {
		return Described{}, err
	}
	before, d, err := f.place(report, b, grants.Fresh)
	if err != nil {
		return Described{}, err
	}
	name := report.Manifest.Name
	f.warm(name, b)
	if before.Digest != d.Digest {
		d.Update = grants.Lost(before, d.Grant)
	}
	if d.Update != nil || d.Guard != nil {
		d.GrantCommand = grants.Fitting(f.knownNow(name).Version, before)
	}
	return d, nil
}

// warm compiles the module of a family that was just installed in the background, so that the first call finds it in the cache.
func (f *Families) warm(name string, b sandbox.Binary) {
	x := f.knownNow(name)
	if x == nil || x.usable() != nil || x.Digest != b.Digest() {
		return
	}
	if f.o.Early != nil { // its author calls it next
		f.loadBehind(x)
		return
	}
	x = newFamily(x.Source, x.Digest, x.Manifest, x.Section, modules.InMemory(b))
	f.behind(func() {
		ctx, cancel := f.untilClosed()
		defer cancel()
		m, err := f.admit(ctx, x)
		if err == nil {
			err = m.Close()
		}
		if err != nil && ctx.Err() == nil {
			f.o.Logger.Warn("a family that was installed could not be compiled; it is tried again when it is called", "family", name, "error", err)
		}
	})
}

// mayInstall refuses a family whose names clash or whose configuration is wrong. The caller holds changing.
func (f *Families) mayInstall(m *abi.Manifest) error {
	if err := config.Declared(m).Check(); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: "nothing was installed: " + err.Error()}
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	there := f.known[m.Name]
	if there != nil && there.Digest != "" && there.Source != grants.BuiltIn && there.Source != grants.Installed {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was installed: family %s comes from %s, in place of one that is installed: replace or remove that file", m.Name, there.Source)}
	}
	names := naming.NewUsed(f.o.Core)
	for _, x := range f.known {
		if x.Digest != "" && !x.clashes && (x.Name != m.Name || x.Source == grants.BuiltIn) {
			names.Add(x.Manifest)
			for _, t := range f.publishedBy(x) {
				names.AddTool(x.Name, t.Name)
			}
		}
	}
	if clash := names.Clash(m); clash != "" {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was installed: family %s is refused: %s", m.Name, clash)}
	}
	return nil
}

// Removed is a family that was removed.
type Removed struct {
	Family  string           `json:"family"`
	Digest  string           `json:"digest"`
	Version string           `json:"version,omitempty"`
	Guard   *grants.Guarding `json:"guard,omitempty"` // the version that served a required store hook; nil: none
}

// Remove removes an installed family, its grants, and the version that serves its store hook. Its
// collections stay, for when it is installed again.
func (f *Families) Remove(name string) (Removed, error) {
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := f.reread(); err != nil {
		return Removed{}, err
	}
	g, listed := f.lock.Families[name]
	if !listed {
		return Removed{}, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("family %q is not in %s: list them with alcove family list", name, registry.File)}
	}
	if err := f.auditAct(audit.Entry{Kind: audit.Removed, Family: name, Digest: g.Digest}, nil); err != nil {
		return Removed{}, err
	}
	if err := f.change(func(l *registry.Lock) error { delete(l.Families, name); return nil }); err != nil {
		return Removed{}, err
	}
	f.modules.ForgetPrevious(name)
	f.modules.RemoveVersions(name, f.lock)
	r := Removed{Family: name, Digest: g.Digest, Version: g.Version}
	if a, ok := g.Approved(); ok && !g.Disabled {
		r.Guard = &grants.Guarding{Digest: a.Digest, Version: a.Version}
	}
	return r, nil
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

// guardNow returns the version that serves a family's store hook in its place; nil: none.
func (f *Families) guardNow(name string) *family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if g := f.guards[name]; g != nil {
		return g.family
	}
	return nil
}
