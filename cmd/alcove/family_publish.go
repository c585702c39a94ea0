package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/index"
	"github.com/alcove-memory/alcove/registry/oci"
	"github.com/alcove-memory/alcove/registry/signature"
)

// publication is what alcove family publish is given.
type publication struct {
	signerFlags
	from            sourceFlags
	tags            []string
	provenance      bool
	sources         []string
	entry           string // the file of an entry for an index; empty: none
	replace, dryRun bool
}

func (a *app) familyPublishCommand() *cobra.Command {
	var p publication
	c := &cobra.Command{
		Use: "publish M.wasm|FAMILY.js|DIR HOST/REPOSITORY[:TAG]", Short: "Sign a family, push it to an OCI registry and tag it", Args: arguments(2, 2),
		Long: `Sign a family with each key, push it to an OCI registry and tag it with its version,
or with TAG. The signature is detached: the digest of the module is that of the
file. A tag that another module has is moved only with --replace, or if it is
given with --tag, as for "latest". Credentials come from docker login.

--provenance attaches what alcove family provenance make says, signed by the same
keys. --sign-command is as of alcove family sign, and runs once for each signature.

--dry-run checks and signs, shows what would be pushed, and asks no registry.`,
		Example: `  alcove family publish notes.wasm registry.example.org/notes --key author.key
  alcove family publish family.js registry.example.org/notes --key author.key --tag latest --dry-run`,
	}
	p.from.registryFlags(c)
	flags := c.Flags()
	p.signerFlags.add(c)
	flags.StringArrayVar(&p.tags, "tag", nil, "further tag, which may be moved; repeatable")
	flags.StringVar(&p.entry, "entry", "", "output file of a signed entry for an index of families, such as notes.entry.json")
	flags.BoolVar(&p.provenance, "provenance", false, "attach signed provenance: sources, compiler and build of the module")
	flags.StringArrayVar(&p.sources, "source", nil, sourceUsage)
	flags.BoolVar(&p.replace, "replace", false, "move the tag of the version if another module has it")
	flags.BoolVar(&p.dryRun, "dry-run", false, "push nothing")
	c.RunE = func(c *cobra.Command, args []string) error { return a.publish(c.Context(), args[0], args[1], p) }
	return c
}

// published describes a push, or with --dry-run the push that would be made.
type published struct {
	Family     string   `json:"family"`
	Version    string   `json:"version"`
	SHA256     string   `json:"sha256"`           // of the module
	Keys       []string `json:"keys"`             // that signed, as text
	References []string `json:"references"`       // one for each tag
	Digest     string   `json:"digest,omitempty"` // of the artifact; empty: nothing was pushed
}

func (a *app) publish(ctx context.Context, path, to string, p publication) error {
	if len(p.sources) > 0 && !p.provenance {
		return &usageError{errors.New("--source is for --provenance")}
	}
	if p.entry != "" { // before anything is pushed
		if _, err := destination(p.entry); err != nil {
			return err
		}
	}
	by, err := a.signers(ctx, p.signerFlags)
	if err != nil {
		return err
	}
	artifact, done, err := a.signedArtifact(ctx, path, by)
	if err != nil {
		return err
	}
	first, all, err := p.references(to, done.Version)
	if err != nil {
		return &usageError{err}
	}
	if !p.dryRun {
		if all, err = p.push(ctx, artifact, first, all); err != nil {
			return err
		}
		done.Digest = all[0].Digest
		if err := errors.Join(writeEntry(p.entry, by, artifact.Module, all[0]), a.attachProvenance(ctx, path, p, by, artifact.Module, all[0])); err != nil {
			return err
		}
	}
	for _, r := range all {
		done.References = append(done.References, r.String())
	}
	return a.printPublished(done)
}

// signedArtifact is a family with a detached signature by each key.
func (a *app) signedArtifact(ctx context.Context, path string, by []keySigner) (artifact oci.Artifact, done published, err error) {
	module, err := a.moduleOf(ctx, path)
	if err != nil {
		return artifact, done, err
	}
	report, err := checkModule(path, module)
	if err != nil {
		return artifact, done, err
	}
	if signature.In(module) {
		return artifact, done, &usageError{fmt.Errorf("%s has a signature in it, and a published one is detached: publish the module as it was packed", path)}
	}
	m := report.Manifest
	done = published{Family: m.Name, Version: m.Version, SHA256: report.Digest}
	artifact = oci.Artifact{Name: m.Name, Module: module}
	if artifact.Signature, err = signDetached(path, module, nil, by); err != nil {
		return artifact, done, err
	}
	for _, key := range by {
		done.Keys = append(done.Keys, key.public)
	}
	if artifact.Manifest, err = sandbox.ManifestBytes(module); err != nil {
		return artifact, done, err
	}
	return artifact, done, checkArtifact(artifact)
}

// references are those that are pushed: that of the version first.
func (p *publication) references(to, version string) (first oci.Reference, all []oci.Reference, err error) {
	if first, err = oci.Parse(to); err != nil || first.Tag == "" && first.Digest == "" {
		first, err = oci.Parse(to + ":" + strings.ReplaceAll(version, "+", "_")) // a tag has no plus
	}
	if err != nil {
		return first, nil, err
	}
	if first.Digest != "" {
		return first, nil, fmt.Errorf("%s has a digest: give a repository, and a tag if it is not the version", to)
	}
	all = []oci.Reference{first}
	for _, tag := range p.tags {
		r, err := oci.Parse(first.Registry + "/" + first.Repository + ":" + tag)
		if err != nil {
			return first, nil, err
		}
		if !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return first, all, nil
}

// push pushes an artifact with all tags, of which the first is moved only if the author says so.
func (p *publication) push(ctx context.Context, artifact oci.Artifact, first oci.Reference, all []oci.Reference) ([]oci.Reference, error) {
	client, err := p.from.registry()
	if err != nil {
		return nil, err
	}
	there, _, err := client.Pull(ctx, first)
	switch {
	case err == nil && string(there.Module) != string(artifact.Module) && !p.replace:
		return nil, fmt.Errorf("publish %s: another module has this tag: give the family a new version, or move the tag with --replace", first)
	case err != nil && !oci.Missing(err):
		return nil, fmt.Errorf("look for %s: %w", first, oci.Advise(err))
	}
	for i, r := range all {
		if all[i], err = client.Push(ctx, r, artifact); err != nil {
			return nil, fmt.Errorf("push %s: %w", r, oci.Advise(err))
		}
	}
	return all, nil
}

// writeEntry writes what indexes say of a family that was pushed; without a file, nothing.
func writeEntry(file string, by []keySigner, module []byte, r oci.Reference) error {
	if file == "" {
		return nil
	}
	e, err := entryOf(module, r)
	if err != nil {
		return err
	}
	line, err := index.Sign(e, by...)
	if err != nil {
		return fmt.Errorf("make the entry: %w", err)
	}
	return writeOutputFile(file, 0o644, line)
}

func (a *app) printPublished(p published) error {
	if a.asJSON {
		return a.printJSON(p)
	}
	word := "published"
	if p.Digest == "" {
		word = "would publish"
	}
	a.printf("%s %s, sha256 %s, signed by %s\n", terminal.Line(p.Family), terminal.Line(p.Version), p.SHA256, strings.Join(p.Keys, ", "))
	for _, r := range p.References {
		a.printf("%s %s\n", word, r)
	}
	return nil
}
