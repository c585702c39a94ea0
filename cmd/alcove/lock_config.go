package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// isConfigFile reports whether a file is a configuration file and no lock file.
func isConfigFile(path string) bool {
	return slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path))
}

// lockOfConfig returns the lock file that a data directory would have as a configuration file says, with modules of a folder. It is made in
// a directory that is thrown away, by a server that is not locked and has none of the memory: the data directory is only read.
func (a *app) lockOfConfig(ctx context.Context, dir, path, folder string) (lock []byte, err error) {
	f, _, err := a.readConfigFile(path)
	if err != nil {
		return nil, err
	}
	draft, err := os.MkdirTemp("", "alcove-draft-")
	if err != nil {
		return nil, fmt.Errorf("draft the lock file: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(draft)) }()
	if err := copyLocked(dir, draft); err != nil {
		return nil, err
	}
	cache, err := a.moduleCache()
	if err != nil {
		return nil, err
	}
	h, err := host.Open(ctx, host.Options{Dir: draft, Version: versionText(), Cache: cache, Families: builtIn(), Release: a.release, Lexical: true})
	if err != nil {
		return nil, fmt.Errorf("draft the lock file: %w", err)
	}
	err = draftLock(ctx, h.Operator(), f, folder)
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, fmt.Errorf("draft the lock file of %s: %w", path, err)
	}
	return os.ReadFile(filepath.Join(draft, registry.File))
}

// copyLocked copies a lock file, unlocked, and the modules that it names.
func copyLocked(dir, draft string) error {
	l, err := registry.Read(dir)
	if err != nil {
		return err
	}
	l.Locked = false
	if err := registry.Write(draft, l); err != nil {
		return err
	}
	from, to := modules.New(modules.Options{Dir: dir}), modules.New(modules.Options{Dir: draft})
	for digest := range modules.NamedBy(l) {
		if err := os.MkdirAll(filepath.Dir(to.Path(digest)), 0o700); err != nil {
			return err
		}
		module, err := os.ReadFile(from.Path(digest))
		if errors.Is(err, os.ErrNotExist) {
			continue // it is the program's; Review finds what is missing
		}
		if err == nil {
			err = os.WriteFile(to.Path(digest), module, 0o600)
		}
		signed, none := modules.SignatureBeside(from.Path(digest))
		if err == nil && none == nil {
			err = os.WriteFile(to.Path(digest)+".sig", signed, 0o600)
		}
		if err != nil {
			return fmt.Errorf("copy a module: %w", err)
		}
	}
	return nil
}

// draftLock makes a server's lock file what a configuration file says: trusted keys first, then modules, then all else.
func draftLock(ctx context.Context, s operator.Server, f *configfile.File, folder string) error {
	if err := makeAll(ctx, s, &configfile.File{Version: f.Version, Trust: f.Trust}); err != nil {
		return err
	}
	if f.Families != nil && folder != "" {
		if err := installGranted(ctx, s, folder, f.Families.Grants); err != nil {
			return err
		}
	}
	return makeAll(ctx, s, &configfile.File{Version: f.Version, Trust: f.Trust, Endpoints: f.Endpoints, Roots: f.Roots, Families: f.Families})
}

func makeAll(ctx context.Context, s operator.Server, f *configfile.File) error {
	changes, err := f.Plan(ctx, s)
	for _, c := range changes {
		if _, err := c.Make(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
	}
	return err
}

// installGranted installs the modules of a folder that grants name: those with the digest of the grant, or with any if it names none.
func installGranted(ctx context.Context, s operator.Server, folder string, grants map[string]configfile.Grant) error {
	list, err := operator.Query(ctx, s, operator.ListFamilyStates)
	if err != nil {
		return err
	}
	there := map[string]string{}
	for _, family := range list {
		if family.Manifest != nil {
			there[family.Manifest.Name] = family.Digest
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.wasm"))
	if err != nil {
		return err
	}
	for _, file := range files {
		i, name, digest, err := moduleOfFolder(file)
		if err != nil {
			return err
		}
		grant, named := grants[name]
		if !named || grant.Digest != "" && grant.Digest != digest || there[name] == digest {
			continue
		}
		if _, installed := there[name]; installed {
			_, err = operator.Call(ctx, s, operator.UpdateFamily, operator.UpdateRequest{Family: name, Installation: i})
		} else {
			_, err = operator.Call(ctx, s, operator.InstallFamily, operator.InstallRequest(i))
		}
		if err != nil {
			return fmt.Errorf("install %s: %w", file, err)
		}
		there[name] = digest
	}
	return nil
}

// moduleOfFolder reads a module with its detached signature, if there is one beside it.
func moduleOfFolder(file string) (i operator.Installation, name, digest string, err error) {
	if i.Module, err = readModule(file); err != nil {
		return i, "", "", err
	}
	report, err := sandbox.Check(i.Module, sandbox.Options{})
	if err != nil {
		return i, "", "", fmt.Errorf("%s: %w", file, err)
	}
	if i.Signature, err = modules.SignatureBeside(file); errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	i.Source = strings.TrimSuffix(filepath.Base(file), ".wasm")
	return i, report.Manifest.Name, report.Digest, err
}
