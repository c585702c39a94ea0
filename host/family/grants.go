package family

import (
	"fmt"

	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Grant changes a family's grant.
func (f *Families) Grant(r grants.Request) (catalogue.Described, error) {
	defer f.catalogue.Hold()()
	if err := f.reread(); err != nil {
		return catalogue.Described{}, err
	}
	x, g, err := f.decision(r)
	if err != nil {
		return catalogue.Described{}, err
	}
	if a, ok := g.Approved(); ok && x != nil && x.Source != grants.BuiltIn && a.Digest == x.Digest {
		if err := f.modules.KeepApproved(x.Digest, x.Origin); err != nil {
			return catalogue.Described{}, err
		}
	}
	return f.decide(r.Family, g)
}

// decision returns the grant that a request leads to, and the family; nil if its module is missing. The caller holds changing.
func (f *Families) decision(r grants.Request) (*catalogue.Family, registry.Grant, error) {
	x := f.catalogue.Known(r.Family)
	if x == nil || x.Digest == "" {
		g, err := f.revokeAbsent(r)
		return nil, g, err
	}
	if err := f.meant(r, x); err != nil {
		return nil, registry.Grant{}, err
	}
	g := grants.Clone(grants.Decided(f.catalogue.Lock(), x.Version)) // a later posture must not be outlived by what this one gives
	g.Version = x.Manifest.Version
	if err := r.Apply(x.Version, &g); err != nil {
		return nil, registry.Grant{}, err
	}
	if x.Source == grants.BuiltIn {
		asks := x.Asks
		g.Asked = &asks
	}
	return x, g, nil
}

// decide sets a family's grant. The caller holds changing.
func (f *Families) decide(name string, g registry.Grant) (catalogue.Described, error) {
	before := f.catalogue.Lock().Families[name]
	if err := f.auditGrant(name, g); err != nil {
		return catalogue.Described{}, err
	}
	if err := f.change(func(l *registry.Lock) error { l.Families[name] = g; return nil }); err != nil {
		return catalogue.Described{}, err
	}
	d := f.catalogue.Describe(name)
	a, was := before.Approved()
	if now, still := g.Approved(); was && (!still || now.Digest != a.Digest) {
		d.Ended = &grants.Guarding{Digest: a.Digest, Version: a.Version}
	}
	return d, nil
}

// revokeAbsent revokes grants of a family whose module is missing.
func (f *Families) revokeAbsent(r grants.Request) (registry.Grant, error) {
	g, listed := f.catalogue.Lock().Families[r.Family]
	if !listed || !r.RevokesOnly() {
		if x := f.catalogue.Known(r.Family); x != nil {
			return registry.Grant{}, x.Usable()
		}
		return registry.Grant{}, f.catalogue.UnknownFamily(r.Family)
	}
	g = grants.Clone(g)
	return g, r.Apply(nil, &g)
}

// meant refuses a request about another version, or a grant to a family with a name
// clash. A grant to a family in the watched folder must be for the version last shown to the operator.
func (f *Families) meant(r grants.Request, x *catalogue.Family) error {
	if r.Digest != "" && r.Digest != x.Digest {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("family %s has the digest %s, not %s: review it with alcove family list", x.Name, x.Digest, r.Digest)}
	}
	if r.RevokesOnly() {
		return nil
	}
	if x.Clashes {
		return x.Usable()
	}
	if shown := f.shown[x.Name]; r.Digest == "" && shown != "" && shown != x.Digest {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("family %s is not the version that alcove family list showed: review it, or grant this one with --digest %s", x.Name, x.Digest)}
	}
	return nil
}
