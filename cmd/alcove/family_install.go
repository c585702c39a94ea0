package main

import (
	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) familyInstallCommand() *cobra.Command {
	var from sourceFlags
	var dryRun *bool
	c := &cobra.Command{
		Use: "install M.wasm", Short: "Install a family without any grants", Args: arguments(1, 1),
		Long: `Install a family. A new family has no capabilities until you grant them.

Installing another version of a family drops its grants. The output lists the
dropped grants and the command that restores those that still apply; use
alcove family update to keep them. An approved store hook on refuse stays in
force: the approved version serves it until you grant the hook to the new one.
A family that cannot be used is not installed. What another version may do beyond
the installed one is shown as by family diff; --dry-run also shows what a new
family asks for.

M.wasm is a file, an https address or an OCI reference:

  notes.wasm                                   a file
  notes.bundle                                 one of alcove family bundle
  https://example.org/notes.wasm#sha256=…      the digest is required
  oci://registry.example.org/notes:1@sha256:…  a tag alone is resolved once

An OCI registry supplies the detached signature, too. Once a key is trusted,
modules must be signed by trusted keys: see alcove family trust.`,
		Example: `  alcove family install notes.wasm
  alcove family install https://example.org/notes.wasm#sha256=…
  alcove family install oci://registry.example.org/notes:1@sha256:…
  alcove family grant notes --all`,
		RunE: func(c *cobra.Command, args []string) error {
			installation, err := a.readInstallation(c.Context(), args[0], from)
			if err != nil {
				return err
			}
			a.noteInstalled(c.Context(), args[0], installation.Module, *dryRun)
			if err := a.announce(c.Context(), operator.LockProposal{Install: &installation}); err != nil || *dryRun {
				return err
			}
			return callAndPrint(c.Context(), a, operator.InstallFamily, operator.InstallRequest(installation), a.showFamily)
		},
	}
	from.flags(c)
	dryRun = dryRunFlag(c)
	return c
}

func (a *app) familyUpdateCommand() *cobra.Command {
	var from sourceFlags
	var dryRun *bool
	c := &cobra.Command{
		Use: "update NAME [M.wasm]", Short: "Update an installed family and keep its grants", Args: arguments(1, 2),
		Long: `Update an installed family to another version. Capabilities, hooks and limits
that the new version still requests stay granted. New requests are listed, and
not granted. An approved store hook on refuse stays in force: the approved
version serves it until you grant the hook to the new one.

The module is checked and compiled first. After an error, the installed version
stays in use. To return to the previous version, use alcove family rollback.

What the new version may do beyond the installed one is shown as by family diff;
with --dry-run it stops there.

Without M.wasm, the tag that the family was installed from is resolved again.`,
		Example: `  alcove family update notes notes-2.wasm
  alcove family update notes
  alcove family rollback notes`,
		RunE: func(c *cobra.Command, args []string) error {
			source := args[len(args)-1]
			if len(args) == 1 {
				var err error
				if source, err = a.followed(c.Context(), args[0]); err != nil {
					return err
				}
			}
			installation, err := a.readInstallation(c.Context(), source, from)
			if err != nil {
				return err
			}
			a.noteDifferences(c.Context(), args[0], installation.Module)
			r := operator.UpdateRequest{Family: args[0], Installation: installation}
			if err := a.announce(c.Context(), operator.LockProposal{Update: &r}); err != nil || *dryRun {
				return err
			}
			return callAndPrint(c.Context(), a, operator.UpdateFamily, r, a.showFamily)
		},
	}
	from.flags(c)
	dryRun = dryRunFlag(c)
	return c
}

func (a *app) familyRollbackCommand() *cobra.Command {
	var dryRun *bool
	c := &cobra.Command{
		Use: "rollback NAME", Short: "Restore the previous version of a family and its grants", Args: arguments(1, 1),
		Example: `  alcove family rollback notes
  alcove family rollback notes --dry-run`,
		Long: `Restore the previous version of an installed family, with its grants. The data
of the family does not change. A second rollback undoes the first.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.announce(c.Context(), operator.LockProposal{Rollback: args[0]}); err != nil || *dryRun {
				return err
			}
			return callAndPrint(c.Context(), a, operator.RollBackFamily, operator.FamilyName{Family: args[0]}, a.showFamily)
		},
	}
	dryRun = dryRunFlag(c)
	return c
}

func (a *app) familyRemoveCommand() *cobra.Command {
	var dryRun *bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "Remove an installed family and its grants, but not its data", Args: arguments(1, 1),
		Example: `  alcove family remove notes`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.announce(c.Context(), operator.LockProposal{Remove: args[0]}); err != nil || *dryRun {
				return err
			}
			r, err := call(c.Context(), a, operator.RemoveFamily, operator.FamilyName{Family: args[0]})
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(r)
			}
			a.printf("removed %s %s (sha256 %s)\n", r.Family, r.Version, r.Digest)
			if r.Guard != nil {
				return a.printf("  memories are stored without its store hook now, which version %s (sha256 %s) served\n", r.Guard.Version, r.Guard.Digest)
			}
			return nil
		},
	}
	dryRun = dryRunFlag(c)
	return c
}
