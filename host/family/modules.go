package family

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/abi"
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

// approvedModule reads the module with a digest, from the kept or the installed ones.
func (f *Families) approvedModule(digest string) ([]byte, error) {
	changed := false
	for _, path := range []string{f.approvedPath(digest), f.installedPath(digest)} {
		data, err := readModule(path)
		switch {
		case err == nil && digestOf(data) == digest:
			return data, nil
		case err == nil:
			changed = true
		case !errors.Is(err, os.ErrNotExist):
			return nil, err
		}
	}
	if changed {
		return nil, errors.New("its module was changed since it was approved")
	}
	return nil, errors.New("its module is not there any more")
}

// keepApproved keeps the module of a family for as long as it serves a required store hook, whatever
// happens to its file. A read-only server keeps nothing.
func (f *Families) keepApproved(x *family) error {
	if f.o.ReadOnly {
		return nil
	}
	if _, err := f.approvedModule(x.digest); err == nil {
		return nil
	}
	data, err := x.binary()
	if err != nil {
		return err
	}
	if digestOf(data) != x.digest {
		return errors.New("keep the module: it was changed meanwhile: look at it again with alcove family list")
	}
	return keepModule(filepath.Join(f.o.Dir, Folder, approvedFolder), x.digest, data)
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

// keepModule durably writes a module under its digest.
func keepModule(dir, digest string, binary []byte) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	path := filepath.Join(dir, digest+extension)
	if have, err := os.ReadFile(path); err == nil && digestOf(have) == digest {
		return nil
	}
	if err := durable.WriteFile(path, binary, 0o600); err != nil {
		return fmt.Errorf("keep the module: %w", err)
	}
	return nil
}

// readSigned reads who signed a family's module.
func (f *Families) readSigned(x *family, module []byte) error {
	section, err := sandbox.ManifestBytes(module)
	if err != nil {
		return err
	}
	x.section256 = digestOf(section)
	x.signed, err = f.signedFile(x.digest, module)
	return err
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

// readModule reads a module's file, up to a size limit.
func readModule(path string) ([]byte, error) {
	data, err := regular.Read(path, abi.DefaultModuleLimits().ModuleBytes)
	if err != nil {
		return nil, fmt.Errorf("read the module: %w", err)
	}
	return data, nil
}
