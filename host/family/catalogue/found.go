package catalogue

import (
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
	"github.com/alcove-memory/alcove/host/sandbox"
)

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
			f.o.Logger.Warn("a changed family was refused; the previous version keeps running", "file", path, "error", err)
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
