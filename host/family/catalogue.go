package family

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Where a family comes from, when it is no file of the watched folder.
const (
	built     = "built in"
	installed = "installed"
)

// Folder is where installed modules are, in a data directory: each under its digest.
const Folder = "families"

const extension = ".wasm"

func randomName() string { return strings.ToLower(rand.Text()[:10]) }

// scan finds what families there are: those that the program carries, in place of which come those that are installed, in place
// of which come those in the watched folder. What did not change stays as it is, with what it has loaded.
func (f *Families) scan() {
	f.changing.Lock()
	defer f.changing.Unlock()
	f.scanLocked()
}

// scanLocked is scan for a caller that holds changing, without which neither what is known nor the lock changes.
func (f *Families) scanLocked() {
	next := map[string]*family{}
	for _, m := range f.o.Built {
		x, err := f.find(built, m.Digest, func() ([]byte, error) { return m.Bytes, nil })
		if err != nil {
			x = f.unusable("built-in-"+m.Digest[:min(12, len(m.Digest))], built, err.Error())
		}
		x.placeIn(next)
	}
	names := slices.Sorted(maps.Keys(f.lock.Families))
	for _, name := range names {
		f.findInstalled(next, name)
	}
	f.findFiles(next)
	for _, name := range names {
		if next[name] == nil { // an operator decided about it, and is to see that it is gone
			f.unusable(name, installed, "its module is not there: install it again, or remove it with alcove family remove").placeIn(next)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publish(next)
}

// placeIn makes a family the one of its name. One that cannot be used takes no other's place.
func (x *family) placeIn(next map[string]*family) {
	if x.digest != "" || next[x.name] == nil {
		next[x.name] = x
	}
}

// unusable stands for a family of which not even the manifest is known.
func (f *Families) unusable(name, source, fault string) *family {
	if x := f.known[name]; x != nil && x.digest == "" && x.source == source && x.fault == fault {
		return x
	}
	return &family{name: name, source: source, fault: fault, manifest: &abi.Manifest{Name: name, Description: "It cannot be used."}}
}

// findInstalled adds the family that the lock file has under a name, if its module was installed.
func (f *Families) findInstalled(next map[string]*family, name string) {
	digest := f.lock.Families[name].Digest
	path := filepath.Join(f.o.Dir, Folder, digest+extension)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return // it is built in, or in the watched folder
	}
	x, err := f.find(installed, digest, func() ([]byte, error) { return readModule(path) })
	if err == nil && x.name != name {
		err = fmt.Errorf("its manifest has the name %s: install it again", x.name)
	}
	if err != nil {
		x = f.unusable(name, installed, err.Error())
	}
	x.placeIn(next)
}

// findFiles adds the families in the watched folder, each later file in place of an earlier one of the same family.
func (f *Families) findFiles(next map[string]*family) {
	paths := f.watched()
	for _, path := range paths {
		f.findFile(path).placeIn(next)
	}
	maps.DeleteFunc(f.files, func(path string, _ seenFile) bool { return !slices.Contains(paths, path) })
}

// watched lists the modules in the watched folder, in the order of their names. While the folder cannot be read, they are
// those that there were.
func (f *Families) watched() []string {
	if f.o.Watch == "" {
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
		if filepath.Ext(path) != extension {
			continue
		}
		if now, err := os.Stat(path); err == nil && now.Mode().IsRegular() { // a pipe would be waited for
			paths = append(paths, path)
		}
	}
	return paths
}

// readFolder lists a folder. Anything else is refused before it is opened: a pipe would be waited for.
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

// findFile is the family in a file, as it was read before or anew.
func (f *Families) findFile(path string) *family {
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

// seenFile is what a file of the watched folder was when it was read.
type seenFile struct {
	os.FileInfo
	family *family
}

func (was seenFile) same(now os.FileInfo) bool {
	return os.SameFile(was.FileInfo, now) && was.Size() == now.Size() && was.ModTime().Equal(now.ModTime())
}

// readFile is the family in a file. One that cannot be read, or is not a family, leaves in place what was there from the same
// file before.
func (f *Families) readFile(path string) *family {
	data, err := readModule(path)
	if err == nil {
		var x *family
		if x, err = f.find(path, digestOf(data), func() ([]byte, error) { return data, nil }); err == nil {
			return x
		}
	}
	for _, x := range f.known {
		if x.source != path || x.digest == "" {
			continue
		}
		if x.refused == nil || x.refused.Error() != err.Error() {
			f.o.Logger.Warn("a changed family was not taken; the version before it goes on", "file", path, "error", err)
			x.refused = err
		}
		return x
	}
	return f.unusable(strings.TrimSuffix(filepath.Base(path), extension), path, err.Error())
}

// find is a family that is known, or comes.
func (f *Families) find(source, digest string, binary func() ([]byte, error)) (*family, error) {
	for _, x := range f.known {
		if x.digest == digest && x.source == source {
			return x, nil
		}
	}
	data, err := binary()
	if err != nil {
		return nil, err
	}
	manifest, err := manifestOf(data, digest, source)
	if err != nil {
		return nil, err
	}
	return &family{name: manifest.Name, digest: digest, source: source, manifest: manifest, binary: binary,
		loading: make(chan struct{}, 1), again: make(chan struct{}, 1), schemas: &schemas{}}, nil
}

// manifestOf reads a module's manifest. What was never checked is checked first; all is again when it is loaded.
func manifestOf(data []byte, digest, source string) (*abi.Manifest, error) {
	if source == installed && digestOf(data) != digest {
		return nil, errors.New("its module was changed since it was installed: install it again")
	}
	if source == built || source == installed {
		return sandbox.ReadManifest(data)
	}
	report, err := sandbox.Check(data, sandbox.Options{Digest: digest})
	if err != nil {
		return nil, err
	}
	return report.Manifest, nil
}

// publish puts families in the place of those that are known. The caller holds changing and mu.
func (f *Families) publish(next map[string]*family) {
	same := maps.Equal(next, f.known)
	for name, x := range f.known {
		if next[name] != x {
			x.retire()
		}
	}
	f.known = next
	f.offer()
	if !same {
		f.announce()
	}
}

// announce tells whoever waits that All gives something else. The caller holds mu.
func (f *Families) announce() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// offer works out whose tool each name is, and which families cannot be used. The caller holds changing and mu.
func (f *Families) offer() {
	f.tools = map[string]*family{}
	flat := map[string]*family{} // by names as clients see them
	for _, x := range f.byPrecedence() {
		if x.digest != "" {
			x.fault = f.faultOf(x, flat)
		}
		if x.fault != "" {
			continue
		}
		for _, t := range x.manifest.Tools {
			f.tools[t.Name], flat[flatName(t.Name)] = x, x
		}
	}
	f.offerPublished(flat)
}

// offerPublished offers what families published, where no manifest has the name. The caller holds changing and mu.
func (f *Families) offerPublished(flat map[string]*family) {
	for _, x := range f.byPrecedence() {
		if x.fault != "" || !granted(grantIn(f.lock, x), abi.CanToolsPublish) {
			continue
		}
		for _, t := range f.published[x.name] {
			if flat[flatName(t.Name)] == nil && !isCore(t.Name) {
				f.tools[t.Name], flat[flatName(t.Name)] = x, x
			}
		}
	}
}

func granted(g registry.Grant, c abi.Capability) bool {
	return slices.ContainsFunc(g.Capabilities, func(have registry.Capability) bool { return have.Name == c })
}

// byPrecedence lists the families so that whose names come first have them: those that the program carries, those that an
// operator installed, the others.
func (f *Families) byPrecedence() []*family {
	rank := func(x *family) int { return slices.Index([]string{built, installed}, x.source) & 3 } // 3: in neither
	return slices.SortedFunc(maps.Values(f.known), func(a, b *family) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.name, b.name))
	})
}

// flatName is a tool's name as clients see it, who cannot tell dots, nor always capitals.
func flatName(name string) string { return strings.ToLower(strings.ReplaceAll(name, ".", "_")) }

// faultOf says why a family cannot be used.
func (f *Families) faultOf(x *family, tools map[string]*family) string {
	g, listed := f.lock.Families[x.name]
	switch {
	case f.o.Locked && x.source != built && (!listed || g.Digest != x.digest):
		return "its digest is not in " + registry.File + ", and only those that are may run here"
	case listed && g.Digest == x.digest && g.Disabled:
		return "an operator disabled it"
	}
	for _, t := range x.manifest.Tools {
		if other := tools[flatName(t.Name)]; other != nil {
			return fmt.Sprintf("its tool %s has the name of one of family %s", t.Name, other.name)
		}
		if isCore(t.Name) {
			return fmt.Sprintf("its tool %s has the name of one of the server's own", t.Name)
		}
	}
	return ""
}

// isCore reports whether a tool's name is one of the server's own.
func isCore(name string) bool {
	switch flatName(name) {
	case "memory_store", "memory_recall", "memory_search", "memory_forget", "memory_log", "memory_branch", "memory_history", "memory_status",
		"memory_capabilities", "memory_load_family", "memory_smart_load", "memory_operation":
		return true
	}
	return false
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readModule reads a module's file, unless that is too large.
func readModule(path string) ([]byte, error) {
	data, err := regular.Read(path, abi.DefaultModuleLimits().ModuleBytes)
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	return data, nil
}

// unknown is the error about a name that is not there. The caller holds mu.
func (f *Families) unknown(what, name string) error {
	names := slices.Sorted(maps.Keys(f.known))
	if what == "tool" {
		names = slices.Sorted(maps.Keys(f.tools))
	}
	list := strings.Join(names, ", ")
	if list == "" {
		list = "none"
	}
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no %s %.100q: there are %s", what, name, list)}
}

func (x *family) isRetired() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.retired
}

// retire lets the calls that run end, and unloads the module after the last of them.
func (x *family) retire() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.retired = true
	if x.running == 0 && x.module != nil {
		_ = x.module.Close()
		x.module = nil
	}
}

func (x *family) unload() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.module == nil {
		return nil
	}
	err := x.module.Close()
	x.module = nil
	return err
}

var errRetired = errors.New("another version took its place")
