package catalogue

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/family/naming"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
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
			f.o.Logger.Warn("a family was replaced by another version, which has nothing of what was granted to the one before", attributes...)
		}
	}
}

// scanResult holds the families that a scan found.
type scanResult struct {
	named  map[string]*Family
	hidden []*Family // with names of built-in families
	guards map[string]*guard
}

// add registers a family under its name. An unusable family replaces none, and none replaces a
// built-in one.
func (c *scanResult) add(x *Family) {
	there := c.named[x.Name]
	switch {
	case there == nil:
		c.named[x.Name] = x
	case there.Source == grants.BuiltIn && x.Source != grants.BuiltIn:
		if x.Digest != there.Digest { // otherwise it is the same one
			c.hidden = append(c.hidden, x)
		}
	case x.Digest != "":
		c.named[x.Name] = x
	}
}

// version returns the family with a name and a digest that is not built in; nil: none.
func (c scanResult) version(name, digest string) *Family {
	for _, x := range append(slices.Clone(c.hidden), c.named[name]) {
		if x != nil && x.Name == name && x.Digest == digest && x.Source != grants.BuiltIn {
			return x
		}
	}
	return nil
}

// every returns all families, including hidden ones. The caller holds changing or mu.
func (f *Catalogue) every() []*Family {
	return append(slices.Collect(maps.Values(f.known)), f.hidden...)
}

// unusable returns a placeholder for a family without a known manifest.
func (f *Catalogue) unusable(name, source, fault string) *Family {
	for _, x := range f.every() {
		if x.Name == name && x.Digest == "" && x.Source == source && x.fault == fault {
			return x
		}
	}
	m := &abi.Manifest{Name: name, Description: "It cannot be used."}
	return &Family{Version: &grants.Version{Name: name, Source: source, Manifest: m}, fault: fault, Declared: config.Declared(m)}
}

// findInstalled returns the family that the lock file has under a name; nil if its module is not installed.
func (f *Catalogue) findInstalled(name string) *Family {
	g := f.lock.Families[name]
	if g.Asked != nil || !f.modules.Has(g.Digest) {
		return nil // it is built in, or in the watched folder
	}
	x, err := f.installedFamily(g.Digest)
	if err == nil && x.Name != name {
		err = fmt.Errorf("its manifest has the name %s: install it again", x.Name)
	}
	if err != nil {
		return f.unusable(name, grants.Installed, err.Error())
	}
	return x
}

// findFiles returns the families in the watched folder; a later file replaces an earlier one of the same family.
func (f *Catalogue) findFiles() []*Family {
	paths := f.watched()
	var list []*Family
	for _, path := range paths {
		list = append(list, f.findFile(path))
	}
	maps.DeleteFunc(f.files, func(path string, _ seenFile) bool { return !slices.Contains(paths, path) })
	return list
}

// watched lists the modules in the watched folder by name. While the folder is unreadable, it returns the
// last list.
func (f *Catalogue) watched() []string {
	if f.o.Watch == "" || f.locked() {
		return nil
	}
	entries, err := readFolder(f.o.Watch)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.o.Logger.Warn("the folder of families cannot be read", "folder", f.o.Watch, "error", err)
		return slices.Sorted(maps.Keys(f.files))
	}
	var paths []string
	for _, e := range entries {
		path := filepath.Join(f.o.Watch, e.Name())
		if filepath.Ext(path) != modules.Extension {
			continue
		}
		if now, err := os.Stat(path); err == nil && now.Mode().IsRegular() { // reading a pipe would block
			paths = append(paths, path)
		}
	}
	return paths
}

// readFolder lists a folder. Anything else is refused before it is opened: a pipe would block.
func readFolder(path string) ([]os.DirEntry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", path)
	}
	return os.ReadDir(path)
}

// findFile returns the family in a file, as read before or read again.
func (f *Catalogue) findFile(path string) *Family {
	now, err := os.Stat(path)
	if was, ok := f.files[path]; ok && err == nil && was.same(now) && !was.family.isRetired() {
		return was.family
	}
	x := f.readFile(path)
	if err == nil {
		f.files[path] = seenFile{now, x}
	}
	return x
}

// seenFile is the state of a file of the watched folder when it was read.
type seenFile struct {
	os.FileInfo
	family *Family
}

func (was seenFile) same(now os.FileInfo) bool {
	return modules.SameState(was.FileInfo, now)
}

// readFile reads the family in a file. An unreadable file, or one without a family, keeps the family read before from
// that file.
func (f *Catalogue) readFile(path string) *Family {
	data, err := modules.ReadFile(path)
	if err == nil {
		var x *Family
		if x, err = f.watchedFamily(path, f.modules.Hash(data)); err == nil {
			return x
		}
	}
	for _, x := range f.every() {
		if x.Source != path || x.Digest == "" {
			continue
		}
		if x.refused == nil || x.refused.Error() != err.Error() {
			f.o.Logger.Warn("a changed family was not taken; the version before it goes on", "file", path, "error", err)
			x.refused = err
		}
		return x
	}
	return f.unusable(strings.TrimSuffix(filepath.Base(path), modules.Extension), path, err.Error())
}

// found returns a known family; nil: none, or its module is being installed, perhaps with another signature.
func (f *Catalogue) found(source, digest string) *Family {
	if _, arriving := f.modules.Arriving(digest); arriving {
		return nil
	}
	for _, x := range f.every() {
		if x.Digest == digest && x.Source == source {
			return x
		}
	}
	return nil
}

// installedFamily returns the family of an installed module.
func (f *Catalogue) installedFamily(digest string) (*Family, error) {
	if x := f.found(grants.Installed, digest); x != nil {
		return x, nil
	}
	detached, err := f.modules.Detached(digest)
	if err != nil {
		return nil, err
	}
	seen, err := f.modules.Inspect(f.modules.Path(digest), detached)
	if err != nil {
		return nil, err
	}
	if seen.Digest != digest {
		return nil, errors.New("its module was changed since it was installed: its file " + digest + modules.Extension + " has the SHA-256 " + seen.Digest + ": install it again")
	}
	return f.familyOf(grants.Installed, seen, detached, f.modules.Origin(digest))
}

// watchedFamily returns the family of a module in the watched folder. A new one is checked first; loading checks everything again.
func (f *Catalogue) watchedFamily(path string, b sandbox.Binary) (*Family, error) {
	if x := f.found(path, b.Digest()); x != nil {
		return x, nil
	}
	if _, err := b.Check(sandbox.Options{}); err != nil {
		return nil, err
	}
	detached, err := f.modules.Detached(b.Digest())
	if err != nil {
		return nil, err
	}
	seen := modules.Examine(b.Bytes(), detached, func([]byte) sandbox.Binary { return b })
	return f.familyOf(path, seen, detached, modules.InMemory(b))
}

// familyOf returns the family of a module that was inspected.
func (f *Catalogue) familyOf(source string, seen modules.Info, detached []byte, o modules.Origin) (*Family, error) {
	v, err := VersionOf(source, seen, detached)
	if err != nil {
		return nil, err
	}
	return NewFamily(v, o), nil
}

// VersionOf returns the version of a family whose module was inspected, with a detached signature of it.
func VersionOf(source string, seen modules.Info, detached []byte) (*grants.Version, error) {
	if seen.Fault != nil {
		return nil, seen.Fault
	}
	manifest, err := abi.ParseManifest(seen.Section)
	if err != nil {
		return nil, err
	}
	v := &grants.Version{Name: manifest.Name, Digest: seen.Digest, Source: source, Manifest: manifest, Section: seen.Section}
	if v.Signed, err = seen.Signed(detached); err != nil {
		return nil, err
	}
	return v, config.Declared(manifest).Check()
}

// findAllBuilt returns the built-in families. Manifests that are not known yet are read side by side: a start waits for all of them.
// The caller holds changing.
func (f *Catalogue) findAllBuilt() []*Family {
	found := make([]*Family, len(f.o.Built))
	var reading sync.WaitGroup
	for i, m := range f.o.Built {
		if found[i] = f.knownBuilt(m.Digest); found[i] == nil {
			reading.Go(func() { found[i] = f.findBuilt(m) })
		}
	}
	reading.Wait()
	return found
}

// knownBuilt returns the known built-in family with a digest; nil: none.
func (f *Catalogue) knownBuilt(digest string) *Family {
	for _, x := range f.every() {
		if x.Digest == digest && x.Source == grants.BuiltIn {
			return x
		}
	}
	return nil
}

// findBuilt returns a built-in family. Its module is not read.
func (f *Catalogue) findBuilt(m modules.Module) *Family {
	x, err := readBuilt(m)
	if err != nil {
		return f.unusable("built-in-"+m.Digest[:min(12, len(m.Digest))], grants.BuiltIn, err.Error())
	}
	return x
}

func readBuilt(m modules.Module) (*Family, error) {
	manifest, err := abi.ParseManifest(m.Manifest)
	if err != nil {
		return nil, err
	}
	x := NewFamily(&grants.Version{Name: manifest.Name, Digest: m.Digest, Source: grants.BuiltIn, Manifest: manifest, Section: m.Manifest, Asks: grants.Asks(m.Manifest, manifest)}, m.Origin())
	x.body, x.native = m.Body, m.Native
	return x, nil
}

// Checked returns the family of a module in memory that was checked.
func Checked(source string, report *sandbox.Report, b sandbox.Binary) *Family {
	section, _ := sandbox.ManifestBytes(b.Bytes()) // it has one: it was checked
	return NewFamily(&grants.Version{Name: report.Manifest.Name, Digest: report.Digest, Source: source, Manifest: report.Manifest, Section: section}, modules.InMemory(b))
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
		return disabledFault(x.Name)
	}
	return ""
}

func disabledFault(name string) string {
	return "an operator disabled it: alcove family grant " + name + " --enable"
}

// unknown returns the error for an unknown name. The caller holds mu.
func (f *Catalogue) unknown(what, name string) error {
	return NotFound(what, name, slices.Collect(maps.Keys(f.known)))
}

// unknownTool returns the error for a tool that does not exist for a caller. The caller holds mu.
func (f *Catalogue) unknownTool(c memory.Caller, name string) error {
	var names []string
	for tool, x := range f.tools {
		if c.Rights.May(memory.ToUse(x.Name)) {
			names = append(names, tool)
		}
	}
	return NotFound("tool", name, names)
}

// NotFound returns the error for a name that is not among the known ones.
func NotFound(what, name string, known []string) error {
	slices.Sort(known)
	list := strings.Join(known, ", ")
	if list == "" {
		list = "none"
	}
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no %s %.100q: there are %s", what, name, list)}
}
