package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/guests/engines"
	"github.com/alcove-memory/alcove/host/family/author/develop"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry/materials"
	"github.com/alcove-memory/alcove/registry/oci"
	"github.com/alcove-memory/alcove/registry/provenance"
	"github.com/alcove-memory/alcove/registry/signature"
)

// provenanceSuffix ends the name of the file of provenance, after that of the module.
const provenanceSuffix = ".provenance.json"

const sourceUsage = "source file, or folder of sources, that the module was built from; repeatable (default: those of FAMILY.js or of DIR)"

// Limits of what provenance reads.
const (
	sourceLimit    = 32 << 20 // bytes of a source file
	mostStatements = 16       // of an artifact
)

func (a *app) familyProvenanceCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "provenance", Short: "Record what a module was built from, and verify such records",
		Long: `Provenance says what a module was built from: the digests of its source files, the
compiler and its version, the version of Alcove, the build command. It is a
statement of in-toto with the predicate of SLSA 1, in an envelope of DSSE that the
author's key signs: what the signer says, and no proof that the build was so.`,
	}
	c.AddCommand(a.provenanceMakeCommand(), a.provenanceVerifyCommand())
	return c
}

func (a *app) provenanceMakeCommand() *cobra.Command {
	var f signerFlags
	var sources []string
	var out string
	c := &cobra.Command{
		Use: "make M.wasm|FAMILY.js|DIR", Short: "Make signed provenance of a module", Args: arguments(1, 1),
		Long: `Make signed provenance of a module. For FAMILY.js and DIR the sources are those that
are packed or built; for M.wasm name them with --source. alcove family publish
--provenance makes and attaches it in one, alcove family attach attaches a file.`,
		Example: `  alcove family provenance make notes.wasm --source src --key author.key -o notes.wasm` + provenanceSuffix,
	}
	f.add(c)
	c.Flags().StringArrayVar(&sources, "source", nil, sourceUsage)
	c.Flags().StringVarP(&out, "out", "o", "", "output file (default: the family's name with .wasm"+provenanceSuffix+")")
	c.RunE = func(c *cobra.Command, args []string) error {
		by, err := a.signers(c.Context(), f)
		if err != nil {
			return err
		}
		module, err := a.moduleOf(c.Context(), args[0])
		if err != nil {
			return err
		}
		data, b, err := provenanceOf(args[0], module, sources, by)
		if err != nil {
			return err
		}
		return a.written(orElse(out, b.Family+".wasm"+provenanceSuffix), data, nil)
	}
	return c
}

// provenanceOf is the signed provenance of a module.
func provenanceOf(path string, module []byte, sources []string, by []keySigner) ([]byte, provenance.Build, error) {
	b, err := buildOf(path, module, sources)
	if err != nil {
		return nil, b, err
	}
	data, err := provenance.Sign(b, by...)
	if err != nil {
		return nil, b, fmt.Errorf("make the provenance of %s: %w", path, err)
	}
	return data, b, nil
}

// buildOf is what a module was built from.
func buildOf(path string, module []byte, sources []string) (b provenance.Build, err error) {
	report, err := checkModule(path, module)
	if err != nil {
		return b, err
	}
	b = provenance.Build{Family: report.Manifest.Name, Version: report.Manifest.Version, SHA256: modules.Digest(module), Alcove: versionText()}
	made, err := materials.Of(module)
	if err != nil {
		return b, fmt.Errorf("%s: %w", path, err)
	}
	for _, p := range made.Producers {
		if p.Version != "" {
			b.Tools = append(b.Tools, provenance.Material{Name: p.Name, Version: p.Version})
		}
	}
	if made.Go != nil && !slices.ContainsFunc(b.Tools, func(m provenance.Material) bool { return m.Version == made.Go.GoVersion }) {
		b.Tools = append(b.Tools, provenance.Material{Name: "Go", Version: made.Go.GoVersion})
	}
	switch language := script.LanguageOf(path); {
	case isFolder(path):
		err = fromProject(&b, path, len(sources) == 0)
	case language != "":
		err = fromScript(&b, path, language, len(sources) == 0)
	}
	for _, s := range sources {
		err = errors.Join(err, addSource(&b, s))
	}
	return b, err
}

func fromProject(b *provenance.Build, dir string, all bool) error {
	p, err := develop.Open(dir)
	if err != nil {
		return &usageError{err}
	}
	b.Command = p.Config.Build
	if !all {
		return nil
	}
	names, err := p.Sources()
	if err != nil {
		return err
	}
	return addFiles(b, dir, names)
}

// ofScript names the engine, which is part of the module, and the files that were packed.
func fromScript(b *provenance.Build, path, language string, all bool) error {
	engine, err := engines.Of(language)
	if err != nil {
		return err
	}
	b.Tools = append(b.Tools, provenance.Material{Name: "engine of " + language, Version: b.Alcove, SHA256: modules.Digest(engine)})
	source, err := script.Bundle(path)
	if err != nil || !all {
		return err
	}
	return addFiles(b, filepath.Dir(path), source.Files)
}

// addSource adds a file, or the files of a folder but hidden ones.
func addSource(b *provenance.Build, at string) error {
	if !isFolder(at) {
		return addFiles(b, filepath.Dir(at), []string{filepath.Base(at)})
	}
	var names []string
	err := filepath.WalkDir(at, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if file != at && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if len(names) > provenance.MostMaterials {
			return fmt.Errorf("%s has more than %d files", at, provenance.MostMaterials)
		}
		if d.Type().IsRegular() {
			inside, _ := filepath.Rel(at, file)
			names = append(names, inside)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("list the sources: %w", err)
	}
	return addFiles(b, at, names)
}

func addFiles(b *provenance.Build, dir string, names []string) error {
	for _, name := range names {
		data, err := readFile(filepath.Join(dir, name), sourceLimit)
		if err != nil {
			return err
		}
		b.Sources = append(b.Sources, provenance.Material{Name: path.Clean(filepath.ToSlash(name)), SHA256: modules.Digest(data)})
	}
	return nil
}

// attachProvenance attaches the provenance of a module that was published.
func (a *app) attachProvenance(ctx context.Context, path string, p publication, by []keySigner, module []byte, r oci.Reference) error {
	if !p.provenance {
		return nil
	}
	data, b, err := provenanceOf(path, module, p.sources, by)
	if err != nil {
		return err
	}
	client, err := p.from.registry()
	if err != nil {
		return err
	}
	if _, err := client.Attach(ctx, r, signature.InToto, b.Family+provenanceSuffix, data); err != nil {
		return fmt.Errorf("attach provenance to %s: %w", r, oci.Advise(err))
	}
	return a.notef("attached provenance: %s\n", builtFrom(b))
}

func builtFrom(b provenance.Build) string {
	return fmt.Sprintf("sources %d, tools %d", len(b.Sources), len(b.Tools))
}

func (a *app) provenanceVerifyCommand() *cobra.Command {
	var from sourceFlags
	var keys []string
	var statement string
	c := &cobra.Command{
		Use: "verify M.wasm|oci://HOST/REPOSITORY:TAG", Short: "Verify and show the provenance of a module", Args: arguments(1, 1),
		Long: `Verify the provenance of a module, and show what it was built from. It is the file
M.wasm` + provenanceSuffix + `, or what is attached to the module in a registry. All keys of
--key must have signed it; without any, one of the trusted keys in alcove.lock.
Provenance of another module is refused.`,
		Example: `  alcove family provenance verify notes.wasm --key author.pub
  alcove family provenance verify oci://registry.example.org/notes:1 --key author.pub`,
	}
	from.registryFlags(c)
	c.Flags().StringArrayVar(&keys, "key", nil, "required public key, as file or text; repeatable")
	c.Flags().StringVar(&statement, "statement", "", "file of the provenance (default: M.wasm"+provenanceSuffix+", or what is attached)")
	c.RunE = func(c *cobra.Command, args []string) error {
		module, all, err := a.statementsOf(c.Context(), args[0], statement, from)
		if err != nil {
			return err
		}
		b, _, by, err := a.provenBy(c.Context(), all, modules.Digest(module), keys)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return a.printProvenance(b, by)
	}
	return c
}

// statementsOf are a module and what may be its provenance.
func (a *app) statementsOf(ctx context.Context, name, statement string, from sourceFlags) (module []byte, all [][]byte, err error) {
	var r oci.Reference
	if strings.HasPrefix(name, oci.Scheme) {
		i, resolved, err := a.pulled(ctx, name, from)
		if err != nil {
			return nil, nil, err
		}
		module, r = i.Module, resolved
	} else if module, err = readModule(name); err != nil {
		return nil, nil, err
	}
	if statement == "" && r.Digest != "" {
		all, err = a.attachedStatements(ctx, r, from)
		return module, all, err
	}
	data, err := readFile(orElse(statement, name+provenanceSuffix), signature.EnvelopeLimit+1)
	return module, [][]byte{data}, err
}

// attachedStatements are what is attached to an artifact as statements.
func (a *app) attachedStatements(ctx context.Context, r oci.Reference, from sourceFlags) (all [][]byte, err error) {
	client, err := from.registry()
	if err != nil {
		return nil, err
	}
	list, err := client.Attachments(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", r, oci.Advise(err))
	}
	for _, at := range list {
		if at.Type != signature.InToto {
			continue
		}
		if len(all) == mostStatements {
			a.notef("note: of more than %d statements, the first %d are read\n", mostStatements, mostStatements)
			break
		}
		data, err := client.Attached(ctx, r, at.Digest)
		if err != nil {
			return nil, fmt.Errorf("get %s: %w", at.Digest, oci.Advise(err))
		}
		all = append(all, data)
	}
	return all, nil
}

// provenBy finds the provenance of a module that the keys signed: all that are given, or one that is trusted.
func (a *app) provenBy(ctx context.Context, all [][]byte, digest string, keys []string) (b provenance.Build, data []byte, by []string, err error) {
	why := errors.New("there is no provenance of it")
	for _, data := range all {
		b, e, err := provenance.Of(data, digest)
		if err != nil {
			why = err
			continue
		}
		list, err := a.verifiedBy(ctx, e, keys)
		if err != nil {
			return b, nil, nil, err
		}
		if by, err = signedEnough(list, len(keys) > 0); err == nil {
			return b, data, by, nil
		}
		why = err
	}
	return b, nil, nil, why
}

// signedEnough are the keys that signed: all, or at least one.
func signedEnough(list []signedBy, all bool) (by []string, err error) {
	for _, k := range list {
		switch {
		case k.Signed && k.Fault == "":
			by = append(by, k.Key)
		case k.Signed:
			err = fmt.Errorf("its provenance is signed by %s, which %s", k.Key, k.Fault)
		case all:
			return nil, fmt.Errorf("its provenance is not signed by %s", k.Key)
		}
	}
	if len(by) == 0 && err == nil {
		err = errors.New("its provenance is signed by no trusted key: name the author's with --key, or trust it with alcove family trust")
	}
	if len(by) > 0 {
		err = nil
	}
	return by, err
}

// pullProvenance writes the provenance of a module that all keys signed.
func (a *app) pullProvenance(ctx context.Context, r oci.Reference, from sourceFlags, module []byte, keys []string, file string) error {
	all, err := a.attachedStatements(ctx, r, from)
	if err != nil {
		return err
	}
	b, data, by, err := a.provenBy(ctx, all, modules.Digest(module), keys)
	if err != nil {
		return err
	}
	if err := writeOutputFile(file, 0o644, data); err != nil {
		return err
	}
	return a.notef("provenance by %s: %s\n", strings.Join(by, ", "), builtFrom(b))
}

func (a *app) printProvenance(b provenance.Build, by []string) error {
	if a.asJSON {
		return a.printJSON(map[string]any{"build": b, "keys": by})
	}
	a.printf("%s %s (sha256 %s), says %s:\n", terminal.Line(orElse(b.Family, "a module")), terminal.Line(b.Version), b.SHA256, terminal.Line(strings.Join(by, ", ")))
	if b.Alcove != "" {
		a.printf("  packed by alcove %s\n", terminal.Line(b.Alcove))
	} else {
		a.printf("  built by %s\n", terminal.Line(b.Builder))
	}
	if len(b.Command) > 0 {
		a.printf("  command   %s\n", terminal.Line(strings.Join(b.Command, " ")))
	}
	for _, m := range b.Tools {
		a.printf("  tool      %s %s%s\n", terminal.Line(m.Name), terminal.Line(m.Version), sumShown(m))
	}
	for _, m := range b.Sources {
		a.printf("  source    %s%s\n", terminal.Line(m.Name), sumShown(m))
	}
	return nil
}

func sumShown(m provenance.Material) terminal.Text {
	if m.SHA256 == "" {
		return terminal.Line("")
	}
	return terminal.Line(", sha256 " + m.SHA256)
}
