package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry"
	"github.com/alcove-memory/alcove/registry/signature"
)

// bundleSuffix ends the name of a bundle.
const bundleSuffix = ".bundle"

// The files of a bundle, which is a tar archive.
const (
	bundledModule    = "module.wasm"
	bundledSignature = "module.wasm.sig"
	bundledLock      = "alcove.lock"
)

// bundle is a module with its detached signature and the part of a lock file that grants it something.
type bundle struct {
	module, signature []byte
	lock              []byte // empty: none
}

func bundleLimits() map[string]int64 {
	return map[string]int64{bundledModule: abi.DefaultModuleLimits().ModuleBytes, bundledSignature: signature.DataLimit, bundledLock: registry.FileLimit}
}

func (a *app) familyBundleCommand() *cobra.Command {
	var signed, lock, out string
	c := &cobra.Command{
		Use: "bundle M.wasm", Short: "Put a module, its signatures and its grant into one file", Args: arguments(1, 1),
		Long: `Put a module, its detached signature and the part of a reviewed lock file that is about it into one file, for a machine without a network.
There, alcove family install FILE.bundle installs the module without any grant, and alcove lock apply FILE.bundle takes the grant, too, also in a locked
directory: the module is verified by the keys that are trusted there. A bundle brings no trust.`,
		Example: `  alcove family bundle notes.wasm --lock reviewed.lock
  alcove lock apply notes.bundle --dry-run`,
	}
	c.Flags().StringVar(&signed, "signature", "", "file of a detached signature (default: M.wasm.sig, if there is one)")
	c.Flags().StringVar(&lock, "lock", "", "a lock file with a grant of this module")
	c.Flags().StringVarP(&out, "out", "o", "", "output file (default: the family's name with .bundle)")
	c.RunE = func(_ *cobra.Command, args []string) error {
		module, err := readModule(args[0])
		if err != nil {
			return err
		}
		report, err := checkModule(args[0], module)
		if err != nil {
			return err
		}
		b := bundle{module: module}
		if b.signature, err = readDetached(signatureFor(args[0], signed, module)); err != nil {
			return err
		}
		if lock != "" {
			if b.lock, err = lockPart(lock, report.Manifest.Name, report.Digest); err != nil {
				return err
			}
		}
		data, err := b.encode()
		if err != nil {
			return err
		}
		return a.written(orElse(out, report.Manifest.Name+bundleSuffix), data, nil)
	}
	return c
}

// lockPart is the part of a lock file about one module.
func lockPart(path, family, digest string) ([]byte, error) {
	data, err := readFile(path, registry.FileLimit)
	if err != nil {
		return nil, err
	}
	l, err := registry.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	grant, ok := l.Families[family]
	if !ok || grant.Digest != digest {
		return nil, &usageError{fmt.Errorf("%s has no grant of family %s with the SHA-256 %s", path, family, digest)}
	}
	return registry.Encode(registry.Lock{Families: map[string]registry.Grant{family: grant}})
}

func (b bundle) encode() ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		data []byte
	}{{bundledModule, b.module}, {bundledSignature, b.signature}, {bundledLock, b.lock}} {
		if len(f.data) == 0 {
			continue
		}
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o644, Size: int64(len(f.data)), Format: tar.FormatUSTAR}); err != nil {
			return nil, fmt.Errorf("write the bundle: %w", err)
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, fmt.Errorf("write the bundle: %w", err)
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// readBundle reads a bundle, whose files are bounded and known.
func readBundle(path string) (b bundle, err error) {
	f, err := openFile(path)
	if err != nil {
		return b, err
	}
	defer f.Close()
	limits, into := bundleLimits(), map[string]*[]byte{bundledModule: &b.module, bundledSignature: &b.signature, bundledLock: &b.lock}
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return b, fmt.Errorf("%s is not a bundle: %w", path, err)
		}
		to := into[h.Name]
		switch most := limits[h.Name]; {
		case to == nil || h.Typeflag != tar.TypeReg:
			return b, fmt.Errorf("%s has %.80q, which does not belong in a bundle", path, h.Name)
		case *to != nil:
			return b, fmt.Errorf("%s has %s twice", path, h.Name)
		case h.Size > most:
			return b, fmt.Errorf("%s has %d bytes of %s: the limit is %d", path, h.Size, h.Name, most)
		}
		if *to, err = io.ReadAll(r); err != nil {
			return b, fmt.Errorf("read %s: %w", path, err)
		}
	}
	if b.module == nil {
		return b, fmt.Errorf("%s has no module: it is not a bundle", path)
	}
	_, err = checkModule(path, b.module)
	return b, err
}

// installation is what a bundle installs.
func (a *app) bundled(path string) (i operator.Installation, err error) {
	b, err := readBundle(path)
	if err != nil {
		return i, err
	}
	if len(b.lock) > 0 {
		a.notef("The bundle's grant was not applied: alcove lock apply %s applies it.\n", quoted(path))
	}
	return operator.Installation{Module: b.module, Signature: b.signature, Source: filepath.Base(path)}, nil
}

// lockOfBundle is the lock file of a data directory with the grant of a bundle. The module is in the folder.
func lockOfBundle(dir, path string) (lock []byte, folder string, err error) {
	b, err := readBundle(path)
	if err != nil {
		return nil, "", err
	}
	if len(b.lock) == 0 {
		return nil, "", &usageError{fmt.Errorf("%s has no grant: make it with alcove family bundle --lock", path)}
	}
	part, err := registry.Parse(b.lock)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	l, err := registry.Read(dir)
	if err != nil {
		return nil, "", err
	}
	if l.Families == nil {
		l.Families = map[string]registry.Grant{}
	}
	for name, grant := range part.Families {
		l.Families[name] = grant
	}
	if folder, err = os.MkdirTemp("", "alcove-bundle-"); err != nil {
		return nil, "", fmt.Errorf("unpack the bundle: %w", err)
	}
	err = os.WriteFile(filepath.Join(folder, bundledModule), b.module, 0o600)
	if err == nil && len(b.signature) > 0 {
		err = os.WriteFile(filepath.Join(folder, bundledSignature), b.signature, 0o600)
	}
	if err == nil {
		lock, err = registry.Encode(l)
	}
	return lock, folder, err
}
