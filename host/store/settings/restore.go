package settings

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
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/embedders"
	"github.com/alcove-memory/alcove/host/store/backup"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Restored tells which settings a restored store runs with.
type Restored struct {
	Carried   bool     `json:"carried"`             // with a list of settings, as a backup and no bundle has
	Kept      []string `json:"kept,omitempty"`      // files that the directory had, and keeps
	Families  []Family `json:"families"`            // with a grant in the directory
	Endpoints []string `json:"endpoints,omitempty"` // likewise
	Embedders bool     `json:"embedders,omitempty"` // came from the backup
	Audit     int      `json:"audit,omitempty"`     // files of the audit log that did; 0: the directory keeps its own, or begins one
	// Dropped are families that are required in the backup, and not in the directory.
	Dropped []string `json:"dropped,omitempty"`
}

// Family is a family that a restored directory has a grant for.
type Family struct {
	Family  string   `json:"family"`
	Version string   `json:"version,omitempty"`
	Digest  string   `json:"digest"`
	Guard   string   `json:"guard,omitempty"`   // the digest of its version without which nothing is stored; empty: there is none
	Carried bool     `json:"carried,omitempty"` // by the program
	Missing []string `json:"missing,omitempty"` // digests of its modules that are neither in the backup nor in the directory
}

// Options say how settings are restored.
type Options struct {
	Keep bool // keep settings of the directory that differ from the backup's; otherwise they are an error
	// Person restores them, and why, for the audit log; empty: it is not known.
	Person, Reason string
}

// contentsFolder holds contents beside a store that is being loaded, until the list of files is known.
const contentsFolder = "settings"

// Restorer takes the settings from a backup, as backup.Read delivers them.
type Restorer struct {
	dir, loading string // the data directory, and the folder in which a store is being made for it
	options      Options

	have map[string]bool // digests of the contents so far
	list []backup.File
}

// NewRestorer restores settings to dir, for which a store is being made in loading.
func NewRestorer(dir, loading string, o Options) *Restorer {
	return &Restorer{dir: dir, loading: loading, options: o}
}

func (r *Restorer) contentPath(digest string) string {
	return filepath.Join(r.loading, contentsFolder, digest)
}

// File implements backup.Files.
func (r *Restorer) File(digest string, content []byte) error {
	if r.have[digest] {
		return nil
	}
	if r.have == nil {
		r.have = map[string]bool{}
	}
	if err := os.MkdirAll(filepath.Join(r.loading, contentsFolder), 0o700); err != nil {
		return err
	}
	r.have[digest] = true
	return writeNew(r.contentPath(digest), content)
}

// Files implements backup.Files. It refuses files that are no settings.
func (r *Restorer) Files(list []backup.File) error {
	for _, f := range list {
		digest, isModule := modules.ModuleName(f.Name)
		_, isSignature := modules.SignatureName(f.Name)
		limit := abi.DefaultModuleLimits().ModuleBytes
		switch {
		case isModule && digest != f.SHA256:
			return fmt.Errorf("module %s has the sha256 %s: it was changed", f.Name, f.SHA256)
		case isModule:
		case isSignature:
			limit = signature.DataLimit
		case f.Name == audit.FormerFile:
			limit = audit.FormerLimit
		case audit.IsPart(f.Name):
			limit = audit.LargestFile
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
	r.list = list
	return nil
}

// Finish writes the settings beside the store that is being made.
func (r *Restorer) Finish() (s Restored, err error) {
	carried, err := r.carriedLock()
	if err != nil {
		return s, err
	}
	if err := r.checkModules(carried); err != nil {
		return s, err
	}
	if err := r.refuseLinks(); err != nil {
		return s, err
	}
	own, err := registry.Read(r.dir)
	if err != nil {
		return s, err
	}
	carried.Roots = own.Roots // those of the backup may be of another machine
	s = Restored{Carried: true, Families: []Family{}}
	lock := carried
	if own.Decides() {
		lock = own
	}
	if s.Kept, err = r.kept(own, carried); err != nil {
		return s, err
	}
	if err := r.write(lock, s.Kept); err != nil {
		return s, err
	}
	if err := r.writeFormer(); err != nil {
		return s, err
	}
	s.Embedders = r.named(embedders.File) && !slices.Contains(s.Kept, embedders.File)
	r.describe(&s, lock, carried)
	if !slices.Contains(s.Kept, audit.Folder) {
		s.Audit = len(slices.DeleteFunc(slices.Clone(r.list), func(f backup.File) bool { return !audit.IsPart(f.Name) }))
	}
	return s, os.RemoveAll(filepath.Join(r.loading, contentsFolder))
}

// carriedLock is the lock file of the backup.
func (r *Restorer) carriedLock() (registry.Lock, error) {
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

// checkModules refuses a backup that lists other modules than its lock file names.
func (r *Restorer) checkModules(l registry.Lock) error {
	named := modules.NamedBy(l)
	listed := map[string]bool{}
	for _, f := range r.list {
		if digest, ok := modules.ModuleName(f.Name); ok {
			if named[digest] == "" {
				return fmt.Errorf("module %s is none that %s in the backup names", f.Name, registry.File)
			}
			listed[digest] = true
		}
		if digest, ok := modules.SignatureName(f.Name); ok && named[digest] == "" {
			return fmt.Errorf("signature %s is of no module that %s in the backup names", f.Name, registry.File)
		}
	}
	for _, digest := range slices.Sorted(maps.Keys(named)) {
		if !listed[digest] {
			return fmt.Errorf("the module of family %s with the SHA-256 %s is not in the backup: make another backup, or use an older one", named[digest], digest)
		}
	}
	return nil
}

// refuseLinks refuses a directory with a symbolic link that would lead modules elsewhere.
func (r *Restorer) refuseLinks() error {
	for _, f := range r.list {
		for at := filepath.Dir(filepath.FromSlash(f.Name)); at != "."; at = filepath.Dir(at) {
			path := filepath.Join(r.dir, at)
			info, err := os.Lstat(path)
			if err == nil && !info.IsDir() {
				return fmt.Errorf("%s is not a folder: move it away", path)
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// kept lists the settings that the directory has already, and keeps. It refuses settings that differ from the backup's, because
// what was approved in one of them would not be in force.
func (r *Restorer) kept(own, carried registry.Lock) (kept []string, err error) {
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
	if logged, err := audit.Has(filepath.Join(r.dir, audit.Folder)); err != nil {
		return nil, err
	} else if logged {
		kept = append(kept, audit.Folder)
	}
	if r.options.Keep {
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

func (r *Restorer) differs(file string) error {
	return fmt.Errorf("%s differs from the one in the backup: move it away to restore that, or go on with this one with --keep-settings", filepath.Join(r.dir, file))
}

func (r *Restorer) named(file string) bool {
	return slices.ContainsFunc(r.list, func(f backup.File) bool { return f.Name == file })
}

// write writes the files beside the store, without those that the directory keeps, and without modules that the lock file in
// force does not name.
func (r *Restorer) write(lock registry.Lock, kept []string) error {
	named := modules.NamedBy(lock)
	for _, f := range r.list {
		digest, isModule := modules.ModuleName(f.Name)
		of, isSignature := modules.SignatureName(f.Name)
		if audit.IsPart(f.Name) && slices.Contains(kept, audit.Folder) {
			continue
		}
		if f.Name == audit.FormerFile || f.Absent != "" || slices.Contains(kept, f.Name) || isModule && named[digest] == "" || isSignature && named[of] == "" {
			continue
		}
		if f.Name == registry.File {
			if err := registry.Write(r.loading, lock); err != nil {
				return err
			}
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

// writeFormer has the log name the log of the backup, and who restored it.
func (r *Restorer) writeFormer() error {
	former := audit.FormerLog{}
	if i := slices.IndexFunc(r.list, func(f backup.File) bool { return f.Name == audit.FormerFile }); i >= 0 {
		data, err := os.ReadFile(r.contentPath(r.list[i].SHA256))
		if err == nil {
			former, err = audit.ParseFormer(data)
		}
		if err != nil {
			return fmt.Errorf("%s in the backup: %w", audit.FormerFile, err)
		}
	} else if r.options.Person == "" {
		return nil
	}
	return writeFormer(r.loading, former.Head, r.options)
}

// writeFormer notes in a folder what log a copy has, and who restored it.
func writeFormer(folder string, head audit.Head, o Options) error {
	text, err := audit.FormerLog{Head: head, Person: o.Person, Reason: o.Reason}.Text()
	if err != nil {
		return fmt.Errorf("note who restored: %w", err)
	}
	return writeNew(filepath.Join(folder, audit.FormerFile), text)
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

// describe adds what the lock file in force grants, and which of its modules are missing.
func (r *Restorer) describe(s *Restored, lock, carried registry.Lock) {
	named := modules.NamedBy(lock)
	for _, name := range slices.Sorted(maps.Keys(lock.Families)) {
		g := lock.Families[name]
		f := Family{Family: name, Version: g.Version, Digest: g.Digest, Guard: guardOf(g).Digest, Carried: g.Asked != nil}
		for _, digest := range slices.Sorted(maps.Keys(named)) {
			if named[digest] == name && !modules.Has(r.loading, digest) && !modules.Has(r.dir, digest) {
				f.Missing = append(f.Missing, digest)
			}
		}
		s.Families = append(s.Families, f)
	}
	s.Endpoints = slices.Sorted(maps.Keys(lock.Endpoints))
	for _, name := range slices.Sorted(maps.Keys(carried.Families)) {
		if isRequired(carried.Families[name]) && !isRequired(lock.Families[name]) {
			s.Dropped = append(s.Dropped, name)
		}
	}
}
