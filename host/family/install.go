package family

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Show lists the families for an operator, whose grants refer to this listing.
func (f *Families) Show() []catalogue.Described {
	defer f.catalogue.Hold()()
	list := f.All()
	clear(f.shown)
	for _, d := range list {
		if d.Source != grants.BuiltIn && d.Source != grants.Installed && d.Digest != "" && !d.Hidden {
			f.shown[d.Manifest.Name] = d.Digest
		}
	}
	return list
}

// Install keeps a module in the data directory and registers it under its family's name, without powers. Replacing another
// version, it inherits none of its grants; but a required store hook is served by the approved
// version until this one is granted it. An unusable family is not installed.
func (f *Families) Install(module []byte) (catalogue.Described, error) {
	return f.install(f.modules.Hash(module))
}

func (f *Families) install(b sandbox.Binary) (catalogue.Described, error) {
	report, err := b.Check(sandbox.Options{})
	if err != nil {
		return catalogue.Described{}, err
	}
	defer f.catalogue.Hold()()
	if err := f.reread(); err != nil {
		return catalogue.Described{}, err
	}
	before, d, err := f.place(report, b, grants.Fresh)
	if err != nil {
		return catalogue.Described{}, err
	}
	name := report.Manifest.Name
	f.catalogue.Warm(name, b)
	if before.Digest != d.Digest {
		d.Update = grants.Lost(before, d.Grant)
	}
	if d.Update != nil || d.Guard != nil {
		d.GrantCommand = grants.Fitting(f.catalogue.Known(name).Version, before)
	}
	return d, nil
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
	defer f.catalogue.Hold()()
	if err := f.reread(); err != nil {
		return Removed{}, err
	}
	g, listed := f.catalogue.Lock().Families[name]
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
	f.modules.RemoveVersions(name, f.catalogue.Lock())
	r := Removed{Family: name, Digest: g.Digest, Version: g.Version}
	if a, ok := g.Approved(); ok && !g.Disabled {
		r.Guard = &grants.Guarding{Digest: a.Digest, Version: a.Version}
	}
	return r, nil
}
