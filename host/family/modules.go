package family

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// Folder holds the installed modules in a data directory, each named by its digest.
const Folder = "families"

// approvedFolder, in Folder, holds modules that serve a required store hook and are not installed.
const approvedFolder = "approved"

const extension = ".wasm"

func (f *Families) installedPath(digest string) string {
	return filepath.Join(f.o.Dir, Folder, digest+extension)
}

func (f *Families) approvedPath(digest string) string {
	return filepath.Join(f.o.Dir, Folder, approvedFolder, digest+extension)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

// origin is where the module of a family is.
type origin struct {
	digest func() (string, error)         // SHA-256 of its bytes at present, hexadecimal, as this process computed it
	read   func() (sandbox.Binary, error) // its bytes at present
}

func inMemory(b sandbox.Binary) origin {
	return origin{func() (string, error) { return b.Digest(), nil }, func() (sandbox.Binary, error) { return b, nil }}
}

// installedOrigin is the origin of the module that is installed with a digest.
func (f *Families) installedOrigin(digest string) origin {
	path := f.installedPath(digest)
	return origin{
		digest: func() (string, error) {
			seen, err := f.modules.inspect(path, nil)
			return seen.digest, err
		},
		read: func() (sandbox.Binary, error) { return f.modules.read(path) },
	}
}

// approvedOrigin is the origin of the module with a digest among the kept and the installed ones.
func (f *Families) approvedOrigin(digest string) origin {
	return origin{
		digest: func() (string, error) {
			_, seen, err := f.approvedModule(digest, nil)
			return seen.digest, err
		},
		read: func() (sandbox.Binary, error) {
			path, _, err := f.approvedModule(digest, nil)
			if err != nil {
				return sandbox.Binary{}, err
			}
			return f.modules.read(path)
		},
	}
}

// approvedModule finds the module with a digest among the kept and the installed ones. detached is a signature of it that is kept apart.
func (f *Families) approvedModule(digest string, detached []byte) (path string, seen moduleInfo, err error) {
	changed := false
	for _, path := range []string{f.approvedPath(digest), f.installedPath(digest)} {
		seen, err := f.modules.inspect(path, detached)
		switch {
		case err == nil && seen.digest == digest:
			return path, seen, nil
		case err == nil:
			changed = true
		case !errors.Is(err, os.ErrNotExist):
			return "", moduleInfo{}, err
		}
	}
	if changed {
		return "", moduleInfo{}, errors.New("its module was changed since it was approved")
	}
	return "", moduleInfo{}, errors.New("its module is not there any more")
}

// keepApproved keeps the module of a family for as long as it serves a required store hook, whatever
// happens to its file. A read-only server keeps nothing.
func (f *Families) keepApproved(x *family) error {
	if f.o.ReadOnly {
		return nil
	}
	if _, _, err := f.approvedModule(x.digest, nil); err == nil {
		return nil
	}
	b, err := x.origin.read()
	if err != nil {
		return err
	}
	if b.Digest() != x.digest {
		return errors.New("keep the module: it was changed meanwhile: look at it again with alcove family list")
	}
	return f.keepModule(f.approvedPath(x.digest), b)
}

// release removes the modules that served a hook by the previous decisions and are not needed by
// the present ones. The caller holds changing.
func (f *Families) release(before, now registry.Lock) {
	serve, installed := map[string]bool{}, map[string]bool{}
	for _, g := range now.Families {
		installed[g.Digest] = true
		if a, ok := g.Approved(); ok {
			serve[a.Digest], installed[a.Digest] = true, true
		}
	}
	for _, g := range before.Families {
		a, ok := g.Approved()
		if ok && !serve[a.Digest] {
			f.removeModule(f.approvedPath(a.Digest))
		}
		if g.Guard != nil && !installed[g.Guard.Digest] && !f.keptForRollback(g.Guard.Digest) {
			f.removeModule(f.installedPath(g.Guard.Digest))
		}
	}
}

// keptForRollback reports whether a module is that of a family's previous version.
func (f *Families) keptForRollback(digest string) bool {
	for name := range f.lock.Families {
		if g, ok := f.previous(name); ok && g.Digest == digest {
			return true
		}
	}
	return false
}

func (f *Families) removeModule(path string) {
	f.modules.forget(path)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		f.o.Logger.Warn("a module that nobody needs could not be removed", "file", path, "error", err)
	}
}

// removeVersions removes the installed modules of a family that are neither in the lock file nor its previous version.
func (f *Families) removeVersions(name string) {
	needed := map[string]bool{}
	if g, ok := f.previous(name); ok {
		needed[g.Digest] = true
	}
	for _, g := range f.lock.Families {
		needed[g.Digest] = true
		if g.Guard != nil {
			needed[g.Guard.Digest] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(f.o.Dir, Folder))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.o.Logger.Warn("older modules of a family could not be looked for", "family", name, "error", err)
	}
	for _, e := range entries {
		digest, ok := strings.CutSuffix(e.Name(), extension)
		if !ok || needed[digest] || !e.Type().IsRegular() {
			continue
		}
		path := f.installedPath(digest)
		data, err := readModule(path)
		if err != nil {
			continue
		}
		if m, err := sandbox.ReadManifest(data); err == nil && m.Name == name {
			f.removeModule(path)
		}
	}
}

// keepModule durably writes a module, unless its file has it.
func (f *Families) keepModule(path string, b sandbox.Binary) error {
	if have, err := f.modules.inspect(path, nil); err == nil && have.digest == b.Digest() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	if err := durable.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	return nil
}

// keepSignature durably writes a detached signature beside the module that it is for.
func (f *Families) keepSignature(digest string, data []byte) error {
	if err := os.MkdirAll(filepath.Join(f.o.Dir, Folder), 0o700); err != nil {
		return fmt.Errorf("keep the signature: %w", err)
	}
	if err := durable.WriteFile(f.installedPath(digest)+signatureExtension, data, 0o600); err != nil {
		return fmt.Errorf("keep the signature: %w", err)
	}
	return nil
}

func readSignature(path string) ([]byte, error) {
	data, err := regular.Read(path, signature.DataLimit)
	if err != nil {
		return nil, fmt.Errorf("read the signature: %w", err)
	}
	return data, nil
}
