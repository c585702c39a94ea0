package host

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/backup"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/embedders"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// RestoreOptions say how a backup is restored.
type RestoreOptions struct {
	KeepSettings bool                  // go on with settings of the directory that differ from the backup's; otherwise it is refused
	Progress     func(done, all int64) // may be nil
}

// Restored is what a restore made.
type Restored struct {
	memory.Verified
	Settings RestoredSettings `json:"settings"`
}

// RestoredSettings are what runs on a restored store.
type RestoredSettings struct {
	Carried   bool             `json:"carried"`             // the backup says which there are; one of an older format does not
	Kept      []string         `json:"kept,omitempty"`      // files that the directory had, and goes on with
	Families  []RestoredFamily `json:"families"`            // that the directory has a grant for
	Endpoints []string         `json:"endpoints,omitempty"` // likewise
	Embedders bool             `json:"embedders,omitempty"` // came from the backup
	// Dropped are families without which nothing was stored in the backup's directory, and that are not asked in this one.
	Dropped []string `json:"dropped,omitempty"`
}

// RestoredFamily is a family that a restored directory has a grant for.
type RestoredFamily struct {
	Family  string   `json:"family"`
	Version string   `json:"version,omitempty"`
	Digest  string   `json:"digest"`
	Guard   string   `json:"guard,omitempty"`   // the digest of its version without which nothing is stored; empty: there is none
	Carried bool     `json:"carried,omitempty"` // by the program
	Missing []string `json:"missing,omitempty"` // digests of its modules that are neither in the backup nor in the directory
}

// settingsFolder is where contents are until it is known which files there are, beside a store that is being loaded.
const settingsFolder = "settings"

// restoring takes the settings in a backup.
type restoring struct {
	dir, loading string // the data directory, and where a store is being made for it
	keep         bool

	have map[string]bool // contents that came, by digest
	list []backup.File
	said bool
}

func (r *restoring) contentPath(digest string) string {
	return filepath.Join(r.loading, settingsFolder, digest)
}

// File keeps a content.
func (r *restoring) File(digest string, content []byte) error {
	if r.have[digest] {
		return nil
	}
	if r.have == nil {
		r.have = map[string]bool{}
	}
	if err := os.MkdirAll(filepath.Join(r.loading, settingsFolder), 0o700); err != nil {
		return err
	}
	r.have[digest] = true
	return writeNew(r.contentPath(digest), content)
}

// Files checks which files there are to be.
func (r *restoring) Files(list []backup.File) error {
	for _, f := range list {
		digest, isModule := family.ModuleName(f.Name)
		limit := abi.DefaultModuleLimits().ModuleBytes
		switch {
		case isModule && digest != f.SHA256:
			return fmt.Errorf("module %s has the sha256 %s: it was changed", f.Name, f.SHA256)
		case isModule:
		case f.Name == registry.File:
			limit = registry.FileLimit
		case f.Name == embedders.File:
			limit = embedders.FileLimit
		default:
			return fmt.Errorf("it has the file %q, which this program does not restore", f.Name)
		}
		if f.Bytes > limit {
			return fmt.Errorf("%s has %d bytes: at most %d", f.Name, f.Bytes, limit)
		}
		if f.Absent != "" && !isModule {
			return fmt.Errorf("%s is absent: %.200s", f.Name, f.Absent)
		}
	}
	r.list, r.said = list, true
	return nil
}

// finish puts the settings beside the store that is being made, and tells what its directory goes on with.
func (r *restoring) finish() (s RestoredSettings, err error) {
	carried, err := r.lock()
	if err != nil {
		return s, err
	}
	if err := r.checkModules(carried); err != nil {
		return s, err
	}
	if err := r.noLinks(); err != nil {
		return s, err
	}
	own, err := registry.Read(r.dir)
	if err != nil {
		return s, err
	}
	s = RestoredSettings{Carried: r.said, Families: []RestoredFamily{}}
	lock := carried
	if own.Decides() {
		lock = own
	}
	if s.Kept, err = r.own(own, carried); err != nil {
		return s, err
	}
	if err := r.put(lock, s.Kept); err != nil {
		return s, err
	}
	s.Embedders = r.named(embedders.File) && !slices.Contains(s.Kept, embedders.File)
	r.tell(&s, lock, carried)
	return s, os.RemoveAll(filepath.Join(r.loading, settingsFolder))
}

// lock is what operators decided, as the backup has it.
func (r *restoring) lock() (registry.Lock, error) {
	for _, f := range r.list {
		if f.Absent == "" && !r.have[f.SHA256] {
			return registry.Lock{}, fmt.Errorf("%s is not in the backup, which says that it is: make another backup, or use an older one", f.Name)
		}
	}
	i := slices.IndexFunc(r.list, func(f backup.File) bool { return f.Name == registry.File })
	if i < 0 {
		return registry.Lock{}, nil
	}
	data, err := os.ReadFile(r.contentPath(r.list[i].SHA256))
	if err != nil {
		return registry.Lock{}, err
	}
	l, err := registry.Parse(data)
	if err != nil {
		return l, fmt.Errorf("%s in the backup: %w", registry.File, err)
	}
	return l, nil
}

// checkModules makes sure that the backup has the modules that its lock file names, or says why not, and no others.
func (r *restoring) checkModules(l registry.Lock) error {
	named := family.ModulesOf(l)
	listed := map[string]bool{}
	for _, f := range r.list {
		if digest, ok := family.ModuleName(f.Name); ok {
			if named[digest] == "" {
				return fmt.Errorf("module %s is none that %s in the backup names", f.Name, registry.File)
			}
			listed[digest] = true
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(named)) {
		if !listed[digest] {
			return fmt.Errorf("the module of family %s with the SHA-256 %s is not in the backup: make another backup, or use an older one", named[digest], digest)
		}
	}
	return nil
}

// noLinks refuses a directory whose modules would be put elsewhere.
func (r *restoring) noLinks() error {
	for _, f := range r.list {
		for at := filepath.Dir(filepath.FromSlash(f.Name)); at != "."; at = filepath.Dir(at) {
			path := filepath.Join(r.dir, at)
			info, err := os.Lstat(path)
			if err == nil && !info.IsDir() {
				return fmt.Errorf("%s is no folder: move it away", path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// own names the settings that the directory has already, and goes on with. Others than the backup's are refused, because what
// was approved there or here would not be in force.
func (r *restoring) own(own, carried registry.Lock) (kept []string, err error) {
	if own.Decides() {
		kept = append(kept, registry.File)
	}
	configured, err := embedders.ReadFile(r.dir)
	if err != nil {
		return nil, err
	}
	if configured != nil {
		kept = append(kept, embedders.File)
	}
	if r.keep {
		return kept, nil
	}
	a, errOwn := registry.Encode(own)
	b, errCarried := registry.Encode(carried)
	if err := errors.Join(errOwn, errCarried); err != nil {
		return nil, err
	}
	if own.Decides() && carried.Decides() && !bytes.Equal(a, b) {
		return nil, r.differs(registry.File)
	}
	if same := inMemory(embedders.File, configured).File; configured != nil && r.named(embedders.File) && !slices.Contains(r.list, same) {
		return nil, r.differs(embedders.File)
	}
	return kept, nil
}

func (r *restoring) differs(file string) error {
	return fmt.Errorf("%s differs from the one in the backup: move it away to restore that, or go on with this one with --keep-settings", filepath.Join(r.dir, file))
}

func (r *restoring) named(file string) bool {
	return slices.ContainsFunc(r.list, func(f backup.File) bool { return f.Name == file })
}

// put puts the files beside the store, without those that the directory keeps, and without modules that the lock in force does not name.
func (r *restoring) put(lock registry.Lock, kept []string) error {
	named := family.ModulesOf(lock)
	for _, f := range r.list {
		digest, isModule := family.ModuleName(f.Name)
		if f.Absent != "" || slices.Contains(kept, f.Name) || isModule && named[digest] == "" {
			continue
		}
		to := filepath.Join(r.loading, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := copyFile(r.contentPath(f.SHA256), to); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file durably.
func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return durable.Write(to, 0o600, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

// tell says what the lock in force grants, and which modules it needs that are not there.
func (r *restoring) tell(s *RestoredSettings, lock, carried registry.Lock) {
	modules := family.ModulesOf(lock)
	for _, name := range slices.Sorted(maps.Keys(lock.Families)) {
		g := lock.Families[name]
		f := RestoredFamily{Family: name, Version: g.Version, Digest: g.Digest, Guard: guardOf(g).Digest, Carried: g.Asked != nil}
		for _, digest := range slices.Sorted(maps.Keys(modules)) {
			if modules[digest] == name && !family.HasModule(r.loading, digest) && !family.HasModule(r.dir, digest) {
				f.Missing = append(f.Missing, digest)
			}
		}
		s.Families = append(s.Families, f)
	}
	s.Endpoints = slices.Sorted(maps.Keys(lock.Endpoints))
	for _, name := range slices.Sorted(maps.Keys(carried.Families)) {
		if refuses(carried.Families[name]) && !refuses(lock.Families[name]) {
			s.Dropped = append(s.Dropped, name)
		}
	}
}

// guardOf is the version of a family without which nothing is stored; zero: there is none.
func guardOf(g registry.Grant) registry.Guard {
	if a, ok := g.Approved(); ok && !g.Disabled {
		return a
	}
	return registry.Guard{}
}

func refuses(g registry.Grant) bool { return guardOf(g).Digest != "" }
