package modules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Snapshot carries the grants to another data directory: a lock file, and the modules that it names.
type Snapshot struct {
	Lock       registry.Lock
	Modules    []SnapshotModule
	Signatures map[string][]byte // detached signatures of the modules, by the names of their files
}

// SnapshotModule is a module in a data directory.
type SnapshotModule struct {
	Name   string // of its file in the data directory, with slashes
	Digest string
	Bytes  int64
	File   *os.File // nil: missing
	Gone   string   // why it is missing
}

// OpenSnapshot opens the lock file of a data directory and its modules, while nobody changes them. The caller closes it.
func OpenSnapshot(dir string) (*Snapshot, error) {
	lock, err := registry.Read(dir)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Lock: lock, Signatures: map[string][]byte{}}
	for _, digest := range slices.Sorted(maps.Keys(NamedBy(lock))) {
		m, err := openModule(dir, digest)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.Modules = append(s.Modules, m)
		name := path.Join(Folder, digest+Extension+signatureExtension)
		data, err := readSignature(filepath.Join(dir, filepath.FromSlash(name)))
		if err == nil {
			s.Signatures[name] = data
		} else if !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Close closes the modules.
func (s *Snapshot) Close() (err error) {
	for _, m := range s.Modules {
		if m.File != nil {
			err = errors.Join(err, m.File.Close())
		}
	}
	return err
}

// NamedBy returns the families whose modules a lock names, by digest. Built-in families are left out.
func NamedBy(l registry.Lock) map[string]string {
	named := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(l.Families)) {
		g := l.Families[name]
		if g.Asked == nil {
			named[g.Digest] = name
		}
		if g.Guard != nil {
			named[g.Guard.Digest] = name
		}
	}
	return named
}

// ModuleName returns the digest in the name of a module's file in a data directory, with slashes.
func ModuleName(name string) (digest string, ok bool) {
	dir, file := path.Split(name)
	if dir != Folder+"/" && dir != Folder+"/"+ApprovedFolder+"/" {
		return "", false
	}
	digest, ok = strings.CutSuffix(file, Extension)
	sum, err := hex.DecodeString(digest)
	return digest, ok && err == nil && len(sum) == sha256.Size && digest == strings.ToLower(digest)
}

// SignatureName returns the digest of the module in the name of its detached signature in a data directory, with slashes.
func SignatureName(name string) (digest string, ok bool) {
	module, ok := strings.CutSuffix(name, signatureExtension)
	if digest, named := ModuleName(module); ok && named && path.Dir(module) == Folder {
		return digest, true
	}
	return "", false
}

// Has reports whether a data directory has the module with a digest.
func Has(dir, digest string) bool {
	m, err := openModule(dir, digest)
	if err != nil || m.File == nil {
		return false
	}
	return m.File.Close() == nil
}

// openModule opens the module with a digest, from the installed or the kept ones.
func openModule(dir, digest string) (SnapshotModule, error) {
	installed, kept := path.Join(Folder, digest+Extension), path.Join(Folder, ApprovedFolder, digest+Extension)
	gone := SnapshotModule{Name: installed, Digest: digest, Gone: "its module is not in the data directory"}
	for _, name := range []string{installed, kept} {
		file, size, err := openDigest(filepath.Join(dir, filepath.FromSlash(name)), digest)
		switch {
		case err == nil:
			return SnapshotModule{Name: name, Digest: digest, Bytes: size, File: file}, nil
		case errors.Is(err, errOtherDigest):
			gone.Gone = "its module in the data directory was changed"
		case !errors.Is(err, os.ErrNotExist):
			return SnapshotModule{}, fmt.Errorf("read the module: %w", err)
		}
	}
	return gone, nil
}

var errOtherDigest = errors.New("it has another digest")

// openDigest opens a module's file and verifies its digest.
func openDigest(path, digest string) (*os.File, int64, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	most := abi.DefaultModuleLimits().ModuleBytes
	sum := sha256.New()
	size, err := io.Copy(sum, io.LimitReader(file, most+1))
	if err == nil && (size > most || hex.EncodeToString(sum.Sum(nil)) != digest) {
		err = errOtherDigest
	}
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, size, nil
}

// ManifestsIn reads the manifests of the families that are installed in a data directory, sorted by name. It only reads: the
// directory may be missing, and a server may use it. Families that a server could not use are left out.
func ManifestsIn(dir string) (list []*abi.Manifest, err error) {
	lock, err := registry.Read(dir)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(lock.Families)) {
		g := lock.Families[name]
		if g.Asked != nil {
			continue // it is built in
		}
		data, err := ReadFile(filepath.Join(dir, Folder, g.Digest+Extension))
		if err != nil || Digest(data) != g.Digest {
			continue
		}
		if m, err := sandbox.ReadManifest(data); err == nil && m.Name == name {
			list = append(list, m)
		}
	}
	return list, nil
}
