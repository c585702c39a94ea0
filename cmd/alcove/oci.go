package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry/oci"
	"github.com/alcove-memory/alcove/registry/signature"
)

// sourceFlags are the flags of commands that get a module.
type sourceFlags struct {
	signed    string // the file of a detached signature
	plainHTTP bool
}

func (o *sourceFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.signed, "signature", "", "file of a detached signature")
	o.registryFlags(c)
}

func (o *sourceFlags) registryFlags(c *cobra.Command) {
	c.Flags().BoolVar(&o.plainHTTP, "plain-http", false, "use a registry on this machine without TLS")
}

func (o *sourceFlags) registry() (oci.Client, error) {
	credentials, err := oci.Docker()
	return oci.Client{PlainHTTP: o.plainHTTP, Credentials: credentials}, err
}

// readInstallation reads a module and its detached signature, if there is one, and checks the module before a server is started for it.
func (a *app) readInstallation(ctx context.Context, name string, from sourceFlags) (i operator.Installation, err error) {
	if strings.HasSuffix(name, bundleSuffix) && from.signed == "" && !strings.Contains(name, "://") {
		return a.bundled(name)
	}
	if strings.HasPrefix(name, oci.Scheme) {
		i, _, err = a.pulled(ctx, name, from)
	} else if i.Module, i.Source, err = moduleFrom(ctx, name); err == nil {
		_, err = checkModule(name, i.Module)
	}
	if err == nil && i.Signature == nil {
		i.Signature, err = readDetached(signatureFor(name, from.signed, i.Module))
	}
	return i, err
}

// pulled pulls a module from a registry, checks it, and says to which digest its tag was resolved.
func (a *app) pulled(ctx context.Context, name string, from sourceFlags) (i operator.Installation, r oci.Reference, err error) {
	if r, err = oci.Parse(name); err != nil {
		return i, r, &usageError{err}
	}
	client, err := from.registry()
	if err != nil {
		return i, r, err
	}
	tagged := r.Digest == ""
	artifact, r, err := client.Pull(ctx, r)
	if err != nil {
		return i, r, fmt.Errorf("pull %s: %w", r, oci.Advise(err))
	}
	if _, err := checkModule(r.String(), artifact.Module); err != nil {
		return i, r, err
	}
	if err := checkArtifact(artifact); err != nil {
		return i, r, fmt.Errorf("pull %s: %w", r, err)
	}
	if tagged {
		a.notef("the tag %s is %s\n", r.Tag, r.Digest)
	}
	i = operator.Installation{Module: artifact.Module, Source: r.String()}
	i.Signature, err = a.withClaims(ctx, client, r, artifact)
	return i, r, err
}

// withClaims is the detached signature of an artifact with what cosign signed about it.
func (a *app) withClaims(ctx context.Context, client oci.Client, r oci.Reference, artifact oci.Artifact) ([]byte, error) {
	claims, refused := client.Claims(ctx, r, artifact)
	for _, why := range refused {
		a.notef("note: a cosign signature is ignored: %s\n", terminal.Line(why.Error()))
	}
	data, err := claims.Beside(artifact.Signature)
	if err != nil {
		return nil, fmt.Errorf("keep the signatures of %s: %w", r, err)
	}
	return data, nil
}

// checkArtifact checks that the manifest of an artifact is the one in its module, so that a manifest read in the registry is what gets installed.
func checkArtifact(a oci.Artifact) error {
	manifest, err := sandbox.ManifestBytes(a.Module)
	if err != nil {
		return err
	}
	if a.Manifest != nil && !bytes.Equal(a.Manifest, manifest) {
		return errors.New("the manifest next to the module differs from the one in it")
	}
	if len(a.Signature) == 0 {
		return nil
	}
	s, err := signature.Open(a.Module, a.Signature)
	if err == nil && s.None() {
		err = errors.New("the detached signature is not of this module")
	}
	return err
}

// followed returns the tag from which a family was installed.
func (a *app) followed(ctx context.Context, family string) (string, error) {
	info, err := call(ctx, a, operator.DescribeFamily, operator.FamilyName{Family: family})
	if err != nil {
		return "", err
	}
	source := info.Grant.Source
	r, err := oci.Parse(source)
	if !strings.HasPrefix(source, oci.Scheme) || err != nil || r.Tag == "" {
		return "", &usageError{fmt.Errorf("the family %s was not installed from a tag of a registry: give the module", family)}
	}
	r.Digest = ""
	return r.String(), nil
}

func (a *app) familyPushCommand() *cobra.Command {
	var from sourceFlags
	c := &cobra.Command{
		Use: "push M.wasm HOST/REPOSITORY:TAG", Short: "Push a module to an OCI registry", Args: arguments(2, 2),
		Long: `Push a module to an OCI registry as a Wasm artifact, with its manifest and its
detached signature. The same module and signature have the same digest in every
registry. Credentials come from docker login.`,
		Example: `  alcove family push notes.wasm registry.example.org/notes:1 --signature notes.wasm.sig`,
	}
	from.flags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := oci.Parse(args[1])
		if err != nil {
			return &usageError{err}
		}
		artifact, err := readArtifact(args[0], from.signed)
		if err != nil {
			return err
		}
		client, err := from.registry()
		if err != nil {
			return err
		}
		if r, err = client.Push(c.Context(), r, artifact); err != nil {
			return fmt.Errorf("push %s: %w", r, oci.Advise(err))
		}
		if a.asJSON {
			return a.printJSON(map[string]string{"reference": r.String(), "digest": r.Digest})
		}
		return a.printf("pushed %s\n", r)
	}
	return c
}

// readArtifact reads a module and its detached signature, and checks both.
func readArtifact(path, signed string) (oci.Artifact, error) {
	module, err := readModule(path)
	if err != nil {
		return oci.Artifact{}, err
	}
	report, err := checkModule(path, module)
	if err != nil {
		return oci.Artifact{}, err
	}
	artifact := oci.Artifact{Name: report.Manifest.Name, Module: module}
	if artifact.Manifest, err = sandbox.ManifestBytes(module); err != nil {
		return oci.Artifact{}, err
	}
	if artifact.Signature, err = readDetached(signatureFor(path, signed, module)); err != nil {
		return oci.Artifact{}, err
	}
	return artifact, checkArtifact(artifact)
}

func (a *app) familyPullCommand() *cobra.Command {
	var from sourceFlags
	var out string
	var keys []string
	var proven bool
	c := &cobra.Command{
		Use: "pull HOST/REPOSITORY:TAG@sha256:…", Short: "Pull a module from an OCI registry into a file", Args: arguments(1, 1),
		Long: `Pull a module from an OCI registry into a file, and its detached signature into
M.wasm.sig, with what cosign signed by a key. Nothing is installed or granted. An
artifact with another digest than the reference is refused. A tag without a digest
is resolved, and the digest is printed. With --key, so is a module that one of the
keys did not sign, and nothing is written.`,
		Example: `  alcove family pull registry.example.org/notes:1 -o notes.wasm
  alcove family pull registry.example.org/notes:1 --key author.pub --key cosign.pub
  alcove family pull registry.example.org/notes@sha256:…`,
	}
	from.registryFlags(c)
	c.Flags().StringVarP(&out, "out", "o", "", "output file (default: last part of the repository name, with .wasm)")
	c.Flags().StringArrayVar(&keys, "key", nil, "required public key, as file or text; one of cosign as PEM; repeatable")
	c.Flags().BoolVar(&proven, "provenance", false, "require provenance signed by each --key, and also write it")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, err := oci.Parse(args[0])
		if err != nil {
			return &usageError{err}
		}
		if proven && len(keys) == 0 {
			return &usageError{errors.New("--provenance: name who must have signed it with --key")}
		}
		file := orElse(out, path.Base(r.Repository)+".wasm")
		if _, err := destination(file); err != nil { // before a signature is written beside it
			return err
		}
		i, r, err := a.pulled(c.Context(), args[0], from)
		if err != nil {
			return err
		}
		if err := a.demandSigned(c.Context(), r, i, keys); err != nil {
			return err
		}
		if proven {
			if err := a.pullProvenance(c.Context(), r, from, i.Module, keys, file+provenanceSuffix); err != nil {
				return fmt.Errorf("pull %s: %w", r, err)
			}
		}
		if len(i.Signature) > 0 {
			if err := writeOutputFile(file+".sig", 0o644, i.Signature); err != nil {
				return err
			}
		}
		if !a.asJSON {
			a.printf("pulled %s\n", r)
		}
		return a.written(file, i.Module, map[string]any{"reference": r.String(), "digest": r.Digest, "signed": len(i.Signature) > 0})
	}
	return c
}

// demandSigned checks that all keys signed a module, and says so.
func (a *app) demandSigned(ctx context.Context, r oci.Reference, i operator.Installation, keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	s, err := signature.Open(i.Module, i.Signature)
	if err != nil {
		return fmt.Errorf("pull %s: %w", r, err)
	}
	list, err := a.verifiedBy(ctx, s, keys)
	if err != nil {
		return err
	}
	for _, k := range list {
		if !k.Signed {
			return fmt.Errorf("pull %s: it is not signed by %s", r, k.Key)
		}
	}
	return a.notef("signed by %s\n", strings.Join(keys, ", "))
}
