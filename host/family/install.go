package family

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/family/policy"
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
	Guard *Guarding `json:"guard,omitempty"`
	// Update is what this version lacks of the grant before. The previous version of an installed family is known to the
	// answer to its installation only.
	Update *Update `json:"update,omitempty"`
	// NewlyAsked is what this release of a built-in family asks for beyond the one whose grant was decided.
	NewlyAsked []string `json:"newly_asked,omitempty"`
	// GrantCommand grants what still fits of the previous grant, or what is newly asked for; empty: nothing to grant.
	GrantCommand string `json:"grant_command,omitempty"`
	// Ended is the version that a grant stops from serving the store hook. Only the answer to that grant has it.
	Ended *Guarding `json:"ended,omitempty"`
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
			if x.name == name {
				list = append(list, Described{Manifest: x.manifest, Digest: x.digest, Source: x.source, Fault: x.fault, Grant: registry.Grant{Digest: x.digest}, Hidden: true})
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
		if d.Source != built && d.Source != installed && d.Digest != "" && !d.Hidden {
			f.shown[d.Manifest.Name] = d.Digest
		}
	}
	return list
}

// describe returns an operator's view of a family. The caller holds mu.
func (f *Families) describe(x *family) Described {
	d := Described{Manifest: x.manifest, Digest: x.digest, Source: x.source, Loaded: x.loaded(), Fault: x.fault, Published: f.publishedBy(x), Tools: f.toolsOf(x)}
	if g := f.guards[x.name]; g != nil && slices.Contains(f.serving(), x.name) {
		d.Guard = &Guarding{Digest: g.Digest, Version: g.Version, Missing: g.gone}
	}
	if x.digest == "" {
		return d
	}
	before := f.lock.Families[x.name]
	d.Grant = grantIn(f.lock, x)
	if x.clashes {
		return d // nothing can be granted to it
	}
	d.Lacking = lacking(x, d.Grant)
	n := newsOf(before, x)
	d.NewlyAsked = n.list(x.manifest)
	switch {
	case len(d.NewlyAsked) > 0:
		d.GrantCommand = n.command(x, d.Grant)
	case before.Asked == nil && before.Digest != x.digest && x.source != built:
		d.Update, d.GrantCommand = updateFrom(before, d.Grant), fitting(x, before)
	case d.Guard != nil && d.Grant.Guard != nil:
		d.GrantCommand = fitting(x, registry.Grant{Guard: d.Grant.Guard})
	}
	return d
}

// lacking lists the capabilities that a family with hooks on asks for and lacks, as a whole or, for a store hook that every namespace
// needs, in part.
func lacking(x *family, g registry.Grant) (list []string) {
	if len(g.Hooks) == 0 {
		return nil
	}
	for _, asked := range x.manifest.Capabilities {
		i := indexOf(g.Capabilities, asked.Name)
		everywhere := g.Hooks[abi.HookStore].OnFailure == abi.OnFailureRefuse && asked.Name.Scope() == "namespaces"
		switch {
		case i < 0:
			list = append(list, string(asked.Name))
		case everywhere && !slices.Contains(g.Capabilities[i].Scope, policy.Everything):
			list = append(list, fmt.Sprintf("%s outside of %s", asked.Name, strings.Join(g.Capabilities[i].Scope, ", ")))
		}
	}
	return list
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
	before, d, err := f.place(report, b, inheritsNothing)
	if err != nil {
		return Described{}, err
	}
	name := report.Manifest.Name
	f.warm(name, b)
	if before.Digest != d.Digest {
		d.Update = updateFrom(before, d.Grant)
	}
	if d.Update != nil || d.Guard != nil {
		d.GrantCommand = fitting(f.knownNow(name), before)
	}
	return d, nil
}

// warm compiles the module of a family that was just installed in the background, so that the first call finds it in the cache.
func (f *Families) warm(name string, b sandbox.Binary) {
	x := f.knownNow(name)
	if x == nil || x.usable() != nil || x.digest != b.Digest() {
		return
	}
	if f.o.Early != nil { // its author calls it next
		f.loadBehind(x)
		return
	}
	x = newFamily(x.source, x.digest, x.manifest, x.section, modules.InMemory(b))
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
	if there != nil && there.digest != "" && there.source != built && there.source != installed {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was installed: family %s comes from %s, in place of one that is installed: replace or remove that file", m.Name, there.source)}
	}
	names := naming.NewUsed(f.o.Core)
	for _, x := range f.known {
		if x.digest != "" && !x.clashes && (x.name != m.Name || x.source == built) {
			names.Add(x.manifest)
			for _, t := range f.publishedBy(x) {
				names.AddTool(x.name, t.Name)
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
	Family  string    `json:"family"`
	Digest  string    `json:"digest"`
	Version string    `json:"version,omitempty"`
	Guard   *Guarding `json:"guard,omitempty"` // the version that served a required store hook; nil: none
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
		r.Guard = &Guarding{Digest: a.Digest, Version: a.Version}
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
