package family

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
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
		_, _ = f.find(next, built, m.Digest, func() ([]byte, error) { return m.Bytes, nil })
	}
	for _, name := range slices.Sorted(maps.Keys(f.lock.Families)) {
		digest := f.lock.Families[name].Digest
		path := filepath.Join(f.o.Dir, Folder, digest+extension)
		if _, err := os.Stat(path); err == nil {
			_, _ = f.find(next, installed, digest, func() ([]byte, error) { return readModule(path) })
		}
	}
	for _, path := range f.watched() {
		f.findFile(next, path)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.publish(next)
}

// watched lists the modules in the watched folder.
func (f *Families) watched() []string {
	if f.o.Watch == "" {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(f.o.Watch, "*"+extension))
	if err != nil {
		f.o.Logger.Warn("the folder of families cannot be read", "folder", f.o.Watch, "error", err)
	}
	slices.Sort(paths)
	return paths
}

// findFile adds the family in a file. One that cannot be read, or is not a family, leaves in place what was there from the
// same file before.
func (f *Families) findFile(next map[string]*family, path string) {
	now, err := os.Stat(path)
	if err == nil {
		if was, ok := f.files[path]; ok && was.size == now.Size() && was.changed.Equal(now.ModTime()) {
			next[was.family.name] = was.family
			return
		}
	}
	x := f.readFile(next, path)
	if err == nil && x != nil {
		f.files[path] = seenFile{now.Size(), now.ModTime(), x}
	}
}

// seenFile is what a file of the watched folder was when it was read.
type seenFile struct {
	size    int64
	changed time.Time
	family  *family
}

// readFile adds the family in a file, and returns what was added.
func (f *Families) readFile(next map[string]*family, path string) *family {
	data, err := readModule(path)
	if err == nil {
		var x *family
		if x, err = f.find(next, path, digestOf(data), func() ([]byte, error) { return data, nil }); err == nil {
			return x
		}
	}
	for _, x := range f.known {
		if x.source == path && x.manifest != nil {
			next[x.name] = x
			if x.refused == nil || x.refused.Error() != err.Error() {
				f.o.Logger.Warn("a changed family was not taken; the version before it goes on", "file", path, "error", err)
				x.refused = err
			}
			return x
		}
	}
	name := strings.TrimSuffix(filepath.Base(path), extension)
	if next[name] == nil {
		next[name] = &family{name: name, source: path, fault: err.Error(), manifest: &abi.Manifest{Name: name, Description: "It cannot be used."}}
	}
	return next[name]
}

// find adds a family, or takes the one that is known.
func (f *Families) find(next map[string]*family, source, digest string, binary func() ([]byte, error)) (*family, error) {
	for _, x := range f.known {
		if x.digest == digest && x.source == source {
			next[x.name] = x
			return x, nil
		}
	}
	data, err := binary()
	if err != nil {
		return nil, err
	}
	manifest, err := manifestOf(data, digest, source)
	if err != nil {
		if source == built || source == installed {
			f.o.Logger.Error("a family cannot be used", "digest", digest, "source", source, "error", err)
		}
		return nil, err
	}
	x := &family{name: manifest.Name, digest: digest, source: source, manifest: manifest, binary: binary,
		loading: make(chan struct{}, 1), schemas: &schemas{}}
	next[x.name] = x
	return x, nil
}

// manifestOf reads a module's manifest. What was never checked is checked first; all is again when it is loaded.
func manifestOf(data []byte, digest, source string) (*abi.Manifest, error) {
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
	for _, name := range slices.Sorted(maps.Keys(f.known)) {
		x := f.known[name]
		if x.digest != "" {
			x.fault = f.faultOf(x, f.tools)
		}
		if x.fault != "" {
			continue
		}
		for _, t := range f.toolsOf(x) {
			if f.tools[t.Name] == nil {
				f.tools[t.Name] = x
			}
		}
	}
}

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
		if other := tools[t.Name]; other != nil {
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
	switch strings.ReplaceAll(name, ".", "_") {
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
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	defer file.Close()
	limit := abi.DefaultModuleLimits().ModuleBytes
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("the module %s has more than %d bytes", path, limit)
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
