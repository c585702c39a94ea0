package family

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Reviewed is a module that a reviewed lock file names, with its detached signature if it has one.
type Reviewed struct {
	Digest    string
	Module    []byte
	Signature []byte
}

// mostReviewed bounds the files in a folder of modules.
const mostReviewed = 10000

// Review finds the modules that a lock names, in a folder of reviewed ones and then in the data directory, and verifies each as a server
// does: digest, manifest, powers and signatures. A locked server needs all of them. The folder may be empty: none.
func Review(lock registry.Lock, dir, folder string, now func() time.Time) (list []Reviewed, err error) {
	r := reviewer{modules.New(modules.Options{Dir: dir}), lock, now()}
	named := modules.NamedBy(lock)
	given, err := modulesIn(folder, named)
	if err != nil {
		return nil, err
	}
	for _, digest := range slices.Sorted(maps.Keys(named)) {
		m, err := r.review(named[digest], digest, given[digest])
		if errors.Is(err, os.ErrNotExist) {
			if !lock.Locked {
				continue // it may be in a watched folder
			}
			err = fmt.Errorf("its module with the SHA-256 %s is neither in the data directory nor in the folder of --modules", digest)
		}
		if err != nil {
			return nil, fmt.Errorf("family %s: %w", named[digest], err)
		}
		list = append(list, m)
	}
	return list, nil
}

// reviewer verifies modules against a lock.
type reviewer struct {
	modules *modules.Store
	lock    registry.Lock
	now     time.Time
}

// review reads a module from a path, or from the data directory if that is empty, and verifies it.
func (r reviewer) review(name, digest, path string) (m Reviewed, err error) {
	m.Digest = digest
	if path == "" {
		if path, _, err = r.modules.Approved(digest, nil); err != nil {
			return m, errors.Join(err, os.ErrNotExist)
		}
	}
	if m.Module, err = regular.Read(path, abi.DefaultModuleLimits().ModuleBytes); err != nil {
		return m, err
	}
	for _, beside := range []string{path, r.modules.Path(digest)} {
		if m.Signature, err = modules.SignatureBeside(beside); err == nil {
			break
		} else if !errors.Is(err, os.ErrNotExist) {
			return m, err
		}
	}
	if modules.Digest(m.Module) != digest {
		return m, fmt.Errorf("the module %s was changed in the meantime: its SHA-256 is no longer %s", path, digest)
	}
	report, err := sandbox.Check(m.Module, sandbox.Options{})
	if err != nil {
		return m, err
	}
	if report.Manifest.Name != name {
		return m, fmt.Errorf("the module %s is of family %s", path, report.Manifest.Name)
	}
	seen, err := r.modules.Inspect(path, m.Signature)
	if err != nil {
		return m, err
	}
	if seen.Digest != digest {
		return m, fmt.Errorf("the module %s was changed meanwhile", path)
	}
	source := grants.Installed
	if r.lock.Families[name].Digest != digest {
		source = grants.Approved
	}
	v, err := catalogue.VersionOf(source, seen, m.Signature)
	if err != nil {
		return m, err
	}
	if why := grants.Untrusted(r.lock, v, r.lock.Locked, r.now); why != "" {
		return m, errors.New(why)
	}
	return m, nil
}

// modulesIn finds modules by their digests in a folder, whatever the names of their files.
func modulesIn(folder string, named map[string]string) (paths map[string]string, err error) {
	if folder == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("read the folder of modules: %w", err)
	}
	if len(entries) > mostReviewed {
		return nil, fmt.Errorf("the folder of modules %s has %d files: at most %d", folder, len(entries), mostReviewed)
	}
	paths = map[string]string{}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		if filepath.Ext(path) != modules.Extension {
			continue
		}
		data, err := regular.Read(path, abi.DefaultModuleLimits().ModuleBytes)
		if err != nil {
			return nil, fmt.Errorf("read a module: %w", err)
		}
		if digest := modules.Digest(data); named[digest] != "" {
			paths[digest] = path
		}
	}
	return paths, nil
}

// Keep puts reviewed modules into a data directory.
func Keep(dir string, list []Reviewed) error {
	kept := modules.New(modules.Options{Dir: dir})
	for _, m := range list {
		if err := kept.Keep(sandbox.Hash(m.Module)); err != nil {
			return err
		}
		if len(m.Signature) == 0 {
			continue
		}
		if err := kept.KeepSignature(m.Digest, m.Signature); err != nil {
			return err
		}
	}
	return nil
}

// LockDown locks the data directory while it is served, and returns what that changes in the lock file.
func (f *Families) LockDown() (Change, error) {
	defer f.catalogue.Hold()()
	if err := f.reread(); err != nil {
		return Change{}, err
	}
	before := grants.CloneLock(f.catalogue.Lock())
	if before.Locked {
		return Change{}, nil
	}
	if err := f.change(func(l *registry.Lock) error { l.Locked = true; return nil }); err != nil {
		return Change{}, err
	}
	return f.difference(before, f.catalogue.Lock())
}
