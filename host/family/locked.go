package family

import (
	"context"
	"fmt"
	"maps"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// mayChange refuses to change the lock file of a locked server, except to take powers and trust away. The caller holds changing.
func (f *Families) mayChange(before, next registry.Lock) error {
	if !f.Locked() {
		return nil
	}
	before = grants.CloneLock(before)
	for name := range next.Families { // a built-in family has a grant before anybody decides about it
		if x := f.catalogue.Known(name); x != nil && x.Source == grants.BuiltIn {
			before.Families[name] = grants.In(before, x.Version)
		}
	}
	if registry.Narrows(before, next) {
		return nil
	}
	return &memory.Error{Code: memory.Denied, Message: "the server is locked: nothing can be installed, granted or trusted, only revoked and disabled. " +
		"Stop it, and take a reviewed lock file with alcove lock apply FILE, or unlock the directory with alcove unlock"}
}

// complete fills in what a lock says about modules that a change brings: the digest of the manifest, who signed them and whence
// they come. It refuses modules whose signatures do not suffice. The caller holds changing.
func (f *Families) complete(before registry.Lock, next *registry.Lock) error {
	for name, g := range next.Families {
		source, installing := f.modules.Arriving(g.Digest)
		if g.Asked != nil || g.Digest == before.Families[name].Digest && g.Manifest != "" && !installing {
			continue
		}
		x := f.catalogue.KnownVersion(name, g.Digest)
		seen, s, err := f.modules.Installed(g.Digest)
		switch {
		case err != nil:
			return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("family %s: %v", name, err)}
		case seen.Digest == g.Digest:
			g.Manifest = modules.Digest(seen.Section)
		case x != nil:
			s, g.Manifest = x.Signed, modules.Digest(x.Section)
		default:
			continue
		}
		g.Signers = next.Signers(s)
		if source != "" {
			g.Source = source
		}
		if (installing || g.Digest != before.Families[name].Digest) && len(next.Keys) > 0 {
			if err := next.CheckSignatures(g, s, f.o.Clock(), registry.Locked); err != nil {
				return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("family %s: %v", name, err)}
			}
		}
		next.Families[name] = g
	}
	return nil
}

// Proposal is a change of the lock file that is only shown. One of its fields is set, or Endpoint and Grant, which is made after it.
type Proposal struct {
	Install  *Installation    `json:"install,omitempty"`
	Update   *Replacement     `json:"update,omitempty"`
	Rollback string           `json:"rollback,omitempty"` // a family
	Endpoint *EndpointRequest `json:"endpoint,omitempty"`
	Root     *RootRequest     `json:"root,omitempty"`
	Grant    *grants.Request  `json:"grant,omitempty"`
	Remove   string           `json:"remove,omitempty"` // a family
	Trust    *TrustRequest    `json:"trust,omitempty"`
	Posture  *PostureRequest  `json:"posture,omitempty"`
}

// Previews reports that nothing is to be changed.
func (p Proposal) Previews() bool { return true }

// Installation is a module to be installed, with where it comes from.
type Installation struct {
	Module    []byte `json:"module"`
	Signature []byte `json:"signature,omitempty"` // detached; empty: what the module has in it
	Source    string `json:"source,omitempty"`
}

// Replacement is the next version of an installed family.
type Replacement struct {
	Family string `json:"family"`
	Installation
}

// Propose returns what a change would do to the lock file, and changes nothing.
func (f *Families) Propose(p Proposal) (Change, error) {
	defer f.catalogue.Hold()()
	if err := f.reread(); err != nil {
		return Change{}, err
	}
	do, err := f.proposed(p)
	if err != nil {
		return Change{}, err
	}
	next := grants.CloneLock(f.catalogue.Lock())
	if err := do(&next); err != nil {
		return Change{}, err
	}
	if p.Install == nil && p.Update == nil {
		err = f.complete(f.catalogue.Lock(), &next)
	}
	if err == nil {
		err = f.mayChange(f.catalogue.Lock(), next)
	}
	if err != nil {
		return Change{}, err
	}
	return f.difference(f.catalogue.Lock(), next)
}

func (f *Families) proposed(p Proposal) (func(*registry.Lock) error, error) {
	switch {
	case p.Install != nil:
		report, err := sandbox.Check(p.Install.Module, sandbox.Options{})
		if err != nil {
			return nil, err
		}
		return f.proposedInstall(*p.Install, report, grants.Fresh)
	case p.Update != nil:
		if err := f.mayReplace(p.Update.Family); err != nil {
			return nil, err
		}
		report, err := sandbox.Check(p.Update.Module, sandbox.Options{})
		if err == nil {
			err = isOf(p.Update.Family, report)
		}
		if err != nil {
			return nil, err
		}
		return f.proposedInstall(p.Update.Installation, report, grants.Keeping)
	case p.Rollback != "":
		return f.proposedRollback(p.Rollback)
	case p.Endpoint != nil && p.Grant == nil:
		return p.Endpoint.apply, nil
	case p.Root != nil:
		return func(l *registry.Lock) error { return f.applyRoot(*p.Root, l) }, nil
	case p.Grant != nil:
		_, g, err := f.decision(*p.Grant)
		return func(l *registry.Lock) error {
			l.Families[p.Grant.Family] = g
			if p.Endpoint == nil {
				return nil
			}
			return p.Endpoint.apply(l)
		}, err
	case p.Trust != nil:
		return p.Trust.apply, nil
	case p.Posture != nil:
		return p.Posture.apply, nil
	case p.Remove != "":
		return func(l *registry.Lock) error { delete(l.Families, p.Remove); return nil }, nil
	}
	return nil, &memory.Error{Code: memory.InvalidArgument, Message: "no change was proposed"}
}

func (f *Families) proposedRollback(name string) (func(*registry.Lock) error, error) {
	if err := f.mayReplace(name); err != nil {
		return nil, err
	}
	back, ok := f.modules.Previous(name, f.catalogue.Lock().Families[name].Digest)
	if !ok {
		return nil, noPrevious(name)
	}
	return func(l *registry.Lock) error { l.Families[name] = grants.Restored(l.Families[name], back); return nil }, nil
}

// proposedInstall is the change of an installation, with the grant that next makes of the one before.
func (f *Families) proposedInstall(i Installation, report *sandbox.Report, next func(before registry.Grant, digest string, m *abi.Manifest) registry.Grant) (func(*registry.Lock) error, error) {
	if err := f.catalogue.MayInstall(report.Manifest); err != nil {
		return nil, err
	}
	s, err := signature.Open(i.Module, i.Signature)
	if err != nil {
		return nil, &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	section, err := sandbox.ManifestBytes(i.Module)
	if err != nil {
		return nil, err
	}
	return func(l *registry.Lock) error {
		name := report.Manifest.Name
		before := l.Families[name]
		if before.Digest == report.Digest {
			return nil
		}
		g := next(before, report.Digest, report.Manifest)
		g.Manifest, g.Source, g.Signers = modules.Digest(section), i.Source, l.Signers(s)
		l.Families[name] = g
		if len(l.Keys) == 0 {
			return nil
		}
		if err := l.CheckSignatures(g, s, f.o.Clock(), registry.Locked); err != nil {
			return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("family %s: %v", name, err)}
		}
		return nil
	}, nil
}

// InstallFrom installs a module, with its detached signature if it has one.
func (f *Families) InstallFrom(i Installation) (catalogue.Described, error) {
	b := f.modules.Hash(i.Module)
	done, err := f.receive(b, i)
	if err != nil {
		return catalogue.Described{}, err
	}
	defer done()
	return f.install(b)
}

// UpdateFrom replaces an installed family, as Update does, by a module with its detached signature if it has one.
func (f *Families) UpdateFrom(ctx context.Context, r Replacement) (catalogue.Described, error) {
	b := f.modules.Hash(r.Module)
	done, err := f.receive(b, r.Installation)
	if err != nil {
		return catalogue.Described{}, err
	}
	defer done()
	return f.update(ctx, r.Family, b)
}

// receive keeps the source of a module until done is called, for the lock file, and its detached signature for good.
func (f *Families) receive(b sandbox.Binary, i Installation) (done func(), err error) {
	if f.Locked() {
		return nil, f.mayChange(registry.Lock{}, registry.Lock{Families: map[string]registry.Grant{"": {}}})
	}
	if len(i.Signature) > 0 {
		if _, err := signature.Open(i.Module, i.Signature); err != nil {
			return nil, &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
		}
	}
	return f.modules.Receive(b, i.Signature, i.Source)
}

// TrustRequest changes which keys are trusted. A key that is named and not given otherwise is shown only.
type TrustRequest struct {
	Name       string        `json:"name,omitempty"`
	Key        *registry.Key `json:"key,omitempty"`        // to be trusted under the name
	Revoke     string        `json:"revoke,omitempty"`     // why the key with the name is not trusted any more
	Remove     bool          `json:"remove,omitempty"`     // forget the key with the name
	Signatures *int          `json:"signatures,omitempty"` // by how many keys modules must be signed
	Catalogue  *string       `json:"catalogue,omitempty"`  // digest of the first-party families that may run; empty: those of the program
	Release    *string       `json:"release,omitempty"`    // public key that must have signed them; empty: none
}

// Previews reports whether nothing is to be changed.
func (r TrustRequest) Previews() bool { return r == TrustRequest{} }

// Trusted is the keys that a lock file trusts.
type Trusted struct {
	Keys       map[string]registry.Key `json:"keys"`
	Signatures int                     `json:"signatures"`
	Catalogue  string                  `json:"catalogue,omitempty"`
	Release    string                  `json:"release,omitempty"`
	Locked     bool                    `json:"locked"`
}

// Trust changes which keys are trusted, and lists them.
func (f *Families) Trust(r TrustRequest) (Trusted, error) {
	defer f.catalogue.Hold()()
	if r != (TrustRequest{}) {
		if err := f.change(r.apply); err != nil {
			return Trusted{}, err
		}
	}
	return Trusted{Keys: maps.Clone(f.catalogue.Lock().Keys), Signatures: f.catalogue.Lock().Signatures, Catalogue: f.catalogue.Lock().Catalogue, Release: f.catalogue.Lock().Release, Locked: f.Locked()}, nil
}

func (r TrustRequest) apply(l *registry.Lock) error {
	k, there := l.Keys[r.Name]
	switch {
	case r.Key != nil && there && k.Public != r.Key.Public:
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("the name %s is another key's: choose another name, or remove that key first", r.Name)}
	case r.Key != nil:
		l.Keys[r.Name] = *r.Key
	case (r.Revoke != "" || r.Remove) && !there:
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no trusted key %.100q: list them with alcove family trust", r.Name)}
	case r.Revoke != "":
		k.Revoked = r.Revoke
		l.Keys[r.Name] = k
	case r.Remove:
		delete(l.Keys, r.Name)
	}
	if r.Signatures != nil {
		l.Signatures = *r.Signatures
	}
	if r.Catalogue != nil {
		l.Catalogue = *r.Catalogue
	}
	if r.Release != nil {
		l.Release = *r.Release
	}
	if err := l.Check(); err != nil {
		return &memory.Error{Code: memory.InvalidArgument, Message: err.Error()}
	}
	return nil
}
