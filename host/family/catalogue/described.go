package catalogue

import (
	"maps"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/policy"
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
	// GrantCommand grants what still fits of the previous grant, or what is newly asked for; empty: nothing to grant. A locked directory takes it
	// in a reviewed file.
	GrantCommand string `json:"grant_command,omitempty"`
	// Ended is the version that a grant stops from serving the store hook. Only the answer to that grant has it.
	Ended *grants.Guarding `json:"ended,omitempty"`
	// ByPosture is what of the grant the posture of the directory gives, as memory.write and hook rank.
	ByPosture []string `json:"by_posture,omitempty"`
	// Lacking is what the manifest asks for and was not granted, if a hook is on: the hook fails where it needs it.
	Lacking []string `json:"lacking,omitempty"`
	// LackingCommand grants it, as GrantCommand does; empty: nothing is lacking.
	LackingCommand string `json:"lacking_command,omitempty"`
	// Hidden means that a built-in family has its name.
	Hidden bool `json:"hidden,omitempty"`
}

// All lists the families by name.
func (f *Catalogue) All() []Described {
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

// describe returns an operator's view of a family. The caller holds mu.
func (f *Catalogue) describe(x *Family) Described {
	d := Described{Manifest: x.Manifest, Digest: x.Digest, Source: x.Source, Loaded: x.IsLoaded(), Fault: x.fault, Published: f.publishedBy(x), Tools: f.toolsOf(x)}
	if g := f.guards[x.Name]; g != nil && slices.Contains(f.serving(), x.Name) {
		d.Guard = &grants.Guarding{Digest: g.Digest, Version: g.Version, Missing: g.gone}
	}
	if x.Digest == "" {
		return d
	}
	before := f.lock.Families[x.Name]
	d.Grant = grants.In(f.lock, x.Version)
	if x.Clashes {
		return d // nothing can be granted to it
	}
	d.ByPosture = grants.ByPosture(f.lock, x.Version)
	if d.Lacking = grants.Lacking(x.Version, d.Grant); len(d.Lacking) > 0 {
		d.LackingCommand = f.command(grants.Command{Family: x.Name, Capabilities: capabilitiesIn(d.Lacking)}.String())
	}
	n := grants.AdditionsTo(before, x.Version)
	d.NewlyAsked = n.List(x.Manifest)
	switch {
	case len(d.NewlyAsked) > 0:
		d.GrantCommand = n.Command(x.Version, d.Grant)
	case before.Asked == nil && before.Digest != x.Digest && x.Source != grants.BuiltIn:
		d.Update, d.GrantCommand = grants.Lost(before, d.Grant), grants.Fitting(x.Version, before)
	case d.Guard != nil && d.Grant.Guard != nil:
		d.GrantCommand = grants.Fitting(x.Version, registry.Grant{Guard: d.Grant.Guard})
	}
	d.GrantCommand = f.command(d.GrantCommand)
	return d
}

// command is what an operator runs in place of a command that grants, which a locked directory refuses. The caller holds mu.
func (f *Catalogue) command(grant string) string {
	if grant != "" && f.locked() {
		return policy.Offline
	}
	return grant
}

// capabilitiesIn are the names of capabilities that are lacking, without the part in which they are.
func capabilitiesIn(lacking []string) (list []string) {
	for _, l := range lacking {
		name, _, _ := strings.Cut(l, " ")
		list = append(list, name)
	}
	return list
}

// Changed is closed as soon as the result of All changes, apart from loaded modules.
func (f *Catalogue) Changed() <-chan struct{} {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.changed
}

// Known returns the family with a name; nil: none.
func (f *Catalogue) Known(name string) *Family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.known[name]
}

// Describe returns an operator's view of the family with a name; the zero Described: there is none.
func (f *Catalogue) Describe(name string) Described {
	all := f.All()
	if i := slices.IndexFunc(all, func(d Described) bool { return d.Manifest.Name == name }); i >= 0 {
		return all[i]
	}
	return Described{}
}

// Guard returns the version that serves a family's store hook in its place; nil: none.
func (f *Catalogue) Guard(name string) *Family {
	f.mu.RLock()
	defer f.mu.RUnlock()
	if g := f.guards[name]; g != nil {
		return g.family
	}
	return nil
}
