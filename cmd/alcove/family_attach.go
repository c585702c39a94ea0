package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/registry/oci"
	"github.com/alcove-memory/alcove/registry/provenance"
)

func (a *app) familyAttachCommand() *cobra.Command {
	var from sourceFlags
	var kind string
	c := &cobra.Command{
		Use: "attach HOST/REPOSITORY:TAG FILE", Short: "Attach provenance or a bill of materials to a family in an OCI registry", Args: arguments(2, 2),
		Long: `Attach a file to a family in an OCI registry, as an artifact that refers to it: provenance that its build made, a bill of materials, a review.
Anyone who can write to the registry can attach one: it is a claim, not a proof. Other tools find it as a referrer.
Signed provenance, as alcove family provenance make writes it, must be of the family's module.`,
		Example: `  alcove family attach registry.example.org/notes:1 provenance.json --type application/vnd.in-toto+json
  alcove family sbom notes.wasm > notes.cdx.json && alcove family attach registry.example.org/notes:1 notes.cdx.json --type application/vnd.cyclonedx+json`,
	}
	from.registryFlags(c)
	c.Flags().StringVar(&kind, "type", "application/vnd.in-toto+json", "media type of the attachment")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, client, err := a.inRegistry(args[0], from)
		if err != nil {
			return err
		}
		data, err := readFile(args[1], oci.AttachmentLimit+1) // more is refused by name
		if err != nil {
			return err
		}
		if err := ofArtifact(c.Context(), client, r, data); err != nil {
			return fmt.Errorf("attach to %s: %w", r, oci.Advise(err))
		}
		sum, err := client.Attach(c.Context(), r, kind, filepath.Base(args[1]), data)
		if err != nil {
			return fmt.Errorf("attach to %s: %w", r, oci.Advise(err))
		}
		if a.asJSON {
			return a.printJSON(oci.Attachment{Type: kind, Digest: sum})
		}
		r.Tag, r.Digest = "", sum
		return a.printf("attached %s\n", r)
	}
	return c
}

// ofArtifact checks that signed provenance is of the module of an artifact. What is none may say anything.
func ofArtifact(ctx context.Context, client oci.Client, r oci.Reference, data []byte) error {
	b, _, err := provenance.Open(data)
	if err != nil {
		return nil
	}
	artifact, _, err := client.Pull(ctx, r)
	if err == nil && b.SHA256 != modules.Digest(artifact.Module) {
		err = provenance.ErrOther
	}
	return err
}

func (a *app) inRegistry(name string, from sourceFlags) (oci.Reference, oci.Client, error) {
	r, err := oci.Parse(name)
	if err != nil {
		return r, oci.Client{}, &usageError{err}
	}
	client, err := from.registry()
	return r, client, err
}

func (a *app) familyAttachmentsCommand() *cobra.Command {
	var from sourceFlags
	var show string
	c := &cobra.Command{
		Use: "attachments HOST/REPOSITORY:TAG", Short: "List what is attached to a family in an OCI registry", Args: arguments(1, 1),
		Long: "List what is attached to a family in an OCI registry: media types and digests. With --show, print one.",
		Example: `  alcove family attachments registry.example.org/notes:1
  alcove family attachments registry.example.org/notes:1 --show sha256:…`,
	}
	from.registryFlags(c)
	c.Flags().StringVar(&show, "show", "", "print the attachment with this digest")
	c.RunE = func(c *cobra.Command, args []string) error {
		r, client, err := a.inRegistry(args[0], from)
		if err != nil {
			return err
		}
		if show != "" {
			data, err := client.Attached(c.Context(), r, show)
			if err != nil {
				return fmt.Errorf("get %.100s: %w", show, oci.Advise(err))
			}
			return a.printf("%s", terminal.Lines(string(data)))
		}
		list, err := client.Attachments(c.Context(), r)
		if err != nil {
			return fmt.Errorf("look at %s: %w", r, oci.Advise(err))
		}
		return printEach(a, list, func(at oci.Attachment) error { return a.printf("%s  %s\n", at.Digest, terminal.Line(at.Type)) })
	}
	return c
}
