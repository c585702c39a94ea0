package family

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Update replaces an installed family by another version, which keeps what it still asks for of the grant. A required store hook
// stays with the approved version until this one is granted it. The module is compiled first: after an error nothing has changed.
func (f *Families) Update(ctx context.Context, name string, module []byte) (catalogue.Described, error) {
	return f.update(ctx, name, f.modules.Hash(module))
}

func (f *Families) update(ctx context.Context, name string, b sandbox.Binary) (d catalogue.Described, err error) {
	report, err := b.Check(sandbox.Options{})
	if err != nil {
		return catalogue.Described{}, err
	}
	if err := isOf(name, report); err != nil {
		return catalogue.Described{}, err
	}
	m, err := f.catalogue.Admit(ctx, catalogue.Checked(grants.Installed, report, b))
	if err != nil {
		return catalogue.Described{}, fmt.Errorf("nothing was updated: %w", err)
	}
	loads := f.o.Early != nil // its author calls it next
	defer func() {
		if !loads {
			err = errors.Join(err, m.Close())
			return
		}
		err = errors.Join(err, f.catalogue.LoadWith(name, report.Digest, m))
	}()
	defer f.catalogue.Hold()()
	if err := f.mayReplace(name); err != nil {
		return catalogue.Described{}, err
	}
	was := f.catalogue.Known(name)
	loads = loads || was != nil && was.IsLoaded()
	before, d, err := f.place(report, b, grants.Keeping)
	if err != nil || before.Digest == d.Digest {
		return d, err
	}
	if before.Digest != d.Digest {
		d.Update = grants.Lost(before, d.Grant)
	}
	return f.withNews(d, was), nil
}

// isOf refuses to update a family to a module of another one.
func isOf(name string, report *sandbox.Report) error {
	if report.Manifest.Name == name {
		return nil
	}
	return &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("nothing was updated: the module is of family %s: use alcove family update %[1]s, or alcove family install", report.Manifest.Name)}
}

// withNews adds what a version asks for that another one did not, and the command that grants it.
func (f *Families) withNews(d catalogue.Described, was *catalogue.Family) catalogue.Described {
	x := f.catalogue.Known(d.Manifest.Name)
	var asked registry.Asked
	if was != nil && was.Digest != "" {
		asked = grants.Asks(nil, was.Manifest)
	}
	n := grants.AdditionsBetween(asked, grants.Asks(nil, d.Manifest))
	n.Hooks = slices.DeleteFunc(n.Hooks, func(h abi.Hook) bool { return h == abi.HookStore && d.Guard != nil })
	if d.NewlyAsked = n.List(d.Manifest); d.Guard != nil {
		n.Hooks = append(n.Hooks, abi.HookStore+"="+abi.Hook(abi.OnFailureRefuse))
	}
	if d.GrantCommand = ""; len(n.Capabilities)+len(n.Hooks) > 0 {
		d.GrantCommand = n.Command(x.Version, d.Grant)
	}
	return d
}

// Rollback exchanges the present version of an installed family for the previous one, with what that was granted. A second
// rollback undoes the first.
func (f *Families) Rollback(name string) (catalogue.Described, error) {
	defer f.catalogue.Hold()()
	if err := f.mayReplace(name); err != nil {
		return catalogue.Described{}, err
	}
	back, ok := f.modules.Previous(name, f.catalogue.Lock().Families[name].Digest)
	if !ok {
		return catalogue.Described{}, noPrevious(name)
	}
	b, err := f.modules.Read(f.modules.Path(back.Digest))
	if err != nil || b.Digest() != back.Digest {
		return catalogue.Described{}, &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("nothing was changed: the module of version %s (sha256 %s) is gone or was changed: install it with alcove family update", back.Version, back.Digest)}
	}
	report, err := b.Check(sandbox.Options{})
	if err != nil {
		return catalogue.Described{}, err
	}
	_, d, err := f.place(report, b, func(now registry.Grant, _ string, _ *abi.Manifest) registry.Grant { return grants.Restored(now, back) })
	if err == nil && d.Guard != nil {
		d.GrantCommand = grants.Fitting(f.catalogue.Known(name).Version, registry.Grant{Guard: d.Grant.Guard})
	}
	return d, err
}

// mayReplace refuses to replace a family that is not installed. The caller holds changing.
func (f *Families) mayReplace(name string) error {
	if err := f.reread(); err != nil {
		return err
	}
	if g, listed := f.catalogue.Lock().Families[name]; listed && g.Asked == nil && f.modules.Has(g.Digest) {
		return nil
	}
	switch x := f.catalogue.Known(name); {
	case x == nil:
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("nothing was changed: family %.100q is not installed: install it with alcove family install", name)}
	case x.Source == grants.BuiltIn:
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was changed: the program carries family %s, which changes with the program alone", name)}
	default:
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("nothing was changed: family %s is not installed (%s): install it with alcove family install", name, x.Source)}
	}
}

// place registers a module under its family's name, with the grant that next makes of the one before, and keeps that one for a
// rollback. The caller holds changing and has the lock read again.
func (f *Families) place(report *sandbox.Report, b sandbox.Binary, next func(before registry.Grant, digest string, m *abi.Manifest) registry.Grant) (before registry.Grant, d catalogue.Described, err error) {
	if err := f.catalogue.MayInstall(report.Manifest); err != nil {
		return before, d, err
	}
	if err := f.modules.Keep(b); err != nil {
		return before, d, err
	}
	name := report.Manifest.Name
	before = f.catalogue.Lock().Families[name]
	replaces := before.Digest != report.Digest
	if replaces && before.Digest != "" && before.Asked == nil {
		if err := f.modules.NotePrevious(name, before); err != nil {
			return before, d, err
		}
	}
	if err := f.auditAct(audit.Entry{Kind: audit.Installed, Family: name, Digest: report.Digest}, nil); err != nil {
		return before, d, err
	}
	err = f.change(func(l *registry.Lock) error {
		if replaces {
			l.Families[name] = next(before, report.Digest, report.Manifest)
		}
		return nil
	})
	if err != nil {
		return before, d, err
	}
	f.modules.RemoveVersions(name, f.catalogue.Lock())
	d = f.catalogue.Describe(name)
	if d.Fault != "" {
		return before, catalogue.Described{}, &memory.Error{Code: memory.Unavailable, Message: fmt.Sprintf("family %s %s was installed, but cannot be used: %s", name, d.Manifest.Version, d.Fault)}
	}
	return before, d, nil
}

func noPrevious(name string) error {
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("nothing was changed: no version of family %s before the present one is known: install one with alcove family update", name)}
}
