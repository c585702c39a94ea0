package catalogue

import (
	"cmp"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/family/policy"
)

// Scan finds all families: built-in ones, and installed ones, which those in the watched folder replace. None replaces
// a built-in one. Unchanged families stay as they are, with their loaded modules.
// It reports whether anything changed.
func (f *Catalogue) Scan() (changed bool) {
	f.changing.Lock()
	defer f.changing.Unlock()
	return f.scanLocked()
}

// scanLocked is Scan for a caller that holds changing, which guards the known families and the lock.
func (f *Catalogue) scanLocked() (changed bool) {
	c := scanResult{named: map[string]*Family{}}
	for _, x := range f.findAllBuilt() {
		c.add(x)
	}
	names := slices.Sorted(maps.Keys(f.lock.Families))
	for _, name := range names {
		if x := f.findInstalled(name); x != nil {
			c.add(x)
		}
	}
	for _, x := range f.findFiles() {
		c.add(x)
	}
	for _, name := range names {
		if c.named[name] == nil { // an operator decided about it, and must see that it is gone
			c.add(f.unusable(name, grants.Installed, "its module is not there: install it again, or remove it with alcove family remove "+name))
		}
	}
	f.fillSilence(c)
	c.guards = f.findGuards(c)
	was := f.known
	f.mu.Lock()
	defer f.mu.Unlock()
	changed = f.publish(c)
	f.noteUpdates(was)
	return changed
}

// noteUpdates logs what families with replaced files lost. The caller holds changing and mu.
func (f *Catalogue) noteUpdates(was map[string]*Family) {
	for name, x := range f.known {
		before := was[name]
		if before == nil || before.Digest == x.Digest || x.Digest == "" || x.Source == grants.BuiltIn || x.Source == grants.Installed {
			continue
		}
		if d := f.describe(x); d.Update != nil || d.Guard != nil {
			attributes := []any{"family", name, "version", x.Manifest.Version, "digest", x.Digest, "grant", d.GrantCommand}
			if d.Update != nil {
				attributes = append(attributes, "dropped", d.Update.Dropped)
			}
			if d.Guard != nil {
				attributes = append(attributes, "store hook served by", d.Guard.Digest)
			}
			f.o.Logger.Warn("a family was replaced by another version, which has none of the previous one's grants", attributes...)
		}
	}
}

// publish replaces the known families, and reports whether they differ. The caller holds changing
// and mu.
func (f *Catalogue) publish(c scanResult) (changed bool) {
	changed = !maps.Equal(c.named, f.known) || !slices.Equal(c.hidden, f.hidden) || f.otherGuards(c.guards)
	was := f.every()
	f.known, f.hidden = c.named, c.hidden
	for _, x := range was {
		if !slices.Contains(f.every(), x) {
			x.retire()
		}
	}
	f.replaceGuards(c.guards)
	f.assignTools()
	f.declare()
	if changed {
		f.announce()
	}
	return changed
}

// announce signals that the result of All changed. The caller holds mu.
func (f *Catalogue) announce() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// assignTools assigns each name to a tool, and determines unusable families. The caller holds changing and mu.
func (f *Catalogue) assignTools() {
	f.tools = map[string]*Family{}
	names := naming.NewUsed(f.o.Core)
	for _, x := range f.byPrecedence() {
		if x.Digest == "" {
			continue
		}
		clash := names.Clash(x.Manifest)
		if x.Clashes = clash != ""; x.Clashes {
			x.fault = clash
			continue
		}
		x.fault = f.faultOf(x)
		if !f.lockedOut(x) {
			names.Add(x.Manifest)
		}
		if x.fault != "" {
			continue
		}
		for _, t := range x.Manifest.Tools {
			f.tools[t.Name] = x
		}
	}
	for _, x := range f.hidden {
		if x.Digest != "" {
			x.Clashes, x.fault = true, "the program carries a family of this name, which stays in use: give this one another name"
		}
	}
	if !f.shared.Same(names.Settings()) { // equal settings keep their cache
		f.shared = names.Settings()
	}
	f.assignPublished(names)
	f.auditRefusals()
}

// assignPublished assigns names to published tools where no manifest has a similar name. The caller holds changing and mu.
func (f *Catalogue) assignPublished(names *naming.Used) {
	for _, x := range f.byPrecedence() {
		if f.locked() || x.fault != "" || !grants.Holds(grants.In(f.lock, x.Version), abi.CanToolsPublish) {
			continue
		}
		for _, t := range f.published[x.Name] {
			if _, clash := names.Like(t); !clash {
				f.tools[t.Name] = x
				names.AddTool(x.Name, t.Name)
			}
		}
	}
}

// byPrecedence lists the families in the order in which they get their names: built-in ones, installed ones, those of
// the watched folder that an operator decided about, the others.
func (f *Catalogue) byPrecedence() []*Family {
	rank := func(x *Family) int {
		_, listed := f.lock.Families[x.Name] // perhaps with another digest: a name belongs to all versions of a family
		switch {
		case x.Source == grants.BuiltIn:
			return 0
		case x.Source == grants.Installed:
			return 1
		case listed:
			return 2
		}
		return 3
	}
	return slices.SortedFunc(maps.Values(f.known), func(a, b *Family) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
}

// lockedOut reports whether a family must not run because its digest is not in the lock file.
func (f *Catalogue) lockedOut(x *Family) bool {
	g, listed := f.lock.Families[x.Name]
	return f.locked() && x.Source != grants.BuiltIn && (!listed || g.Digest != x.Digest)
}

// faultOf returns why a family without name clashes cannot be used.
func (f *Catalogue) faultOf(x *Family) string {
	switch {
	case f.untrusted(x) != "":
		return f.untrusted(x)
	case f.lock.Families[x.Name].Disabled:
		return f.disabledFault(x.Name)
	}
	return ""
}

// disabled begins the fault of a family that an operator disabled.
const disabled = "an operator disabled it"

func (f *Catalogue) disabledFault(name string) string {
	if f.locked() {
		return disabled + ", and the server is locked, so a reviewed file alone enables it: " + policy.Offline
	}
	return disabled + ": alcove family grant " + name + " --enable"
}
