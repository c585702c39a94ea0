package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry/oci"
	"github.com/alcove-memory/alcove/registry/review"
)

func (a *app) familyDiffCommand() *cobra.Command {
	var from sourceFlags
	c := &cobra.Command{
		Use: "diff OLD NEW", Short: "Compare two versions of a family", Args: arguments(2, 2),
		Long: `Compare two versions of a family: capabilities, limits, hooks, tools, schemas and
descriptions. Texts of NEW that target a model or deceive readers are listed:
instructions, names of other tools, links, hidden or bidirectional characters,
and look-alike letters. A line with ! marks a new power.

OLD and NEW are files, modules of an OCI registry, or names of families on the server.`,
		Example: `  alcove family diff notes notes-2.wasm
  alcove family diff notes oci://registry.example.org/notes:2`,
		RunE: func(c *cobra.Command, args []string) error {
			old, err := a.manifestOf(c.Context(), args[0], from)
			if err != nil {
				return err
			}
			now, err := a.manifestOf(c.Context(), args[1], from)
			if err != nil {
				return err
			}
			lines := review.Compare(old, now)
			if a.asJSON {
				return a.printJSON(map[string]any{"old": old.Version, "new": now.Version, "lines": lines})
			}
			if old.Version != now.Version {
				a.printf("%s %s becomes %s %s\n", old.Name, old.Version, now.Name, now.Version)
			}
			for _, l := range lines {
				a.printf("%s\n", differenceText(l))
			}
			if len(lines) == 0 {
				return a.printf("what an operator approves is the same\n")
			}
			return nil
		},
	}
	from.registryFlags(c)
	return c
}

// manifestOf returns the manifest in a file, or of a family that the server has.
// noteDifferences tells on standard error what a module would change of an installed family, as family diff does. Without the family or
// its manifest there is nothing to tell: what follows says why.
func (a *app) noteDifferences(ctx context.Context, family string, module []byte) {
	info, err := call(ctx, a, operator.DescribeFamily, operator.FamilyName{Family: family})
	if err != nil || info.Manifest == nil {
		return
	}
	report, _ := checkModule(family, module)
	if report == nil {
		return
	}
	if info.Digest == report.Digest {
		a.notef("%s %s is this module already, sha256 %s\n", terminal.Line(family), terminal.Line(info.Manifest.Version), report.Digest)
		return
	}
	a.notef("%s %s becomes %s %s:\n", terminal.Line(family), terminal.Line(info.Manifest.Version), terminal.Line(report.Manifest.Name), terminal.Line(report.Manifest.Version))
	if info.Manifest.Version == report.Manifest.Version {
		a.notef("! another build of the same version: sha256 %s in place of %s\n", report.Digest, info.Digest)
	}
	lines := review.Compare(info.Manifest, report.Manifest)
	for _, l := range lines {
		a.notef("%s\n", differenceText(l))
	}
	if len(lines) == 0 {
		a.notef("  what an operator approves is the same; the code differs\n")
	}
}

// noteInstalled tells on standard error what a module would change of an installed family of its name, and in a dry run what a new one asks for.
func (a *app) noteInstalled(ctx context.Context, name string, module []byte, dryRun bool) {
	report, err := checkModule(name, module)
	if err != nil {
		return
	}
	family := report.Manifest.Name
	if _, err := call(ctx, a, operator.DescribeFamily, operator.FamilyName{Family: family}); err == nil {
		a.noteDifferences(ctx, family, module)
		return
	}
	if !dryRun {
		return
	}
	a.notef("%s %s is new here, and requests:\n", terminal.Line(family), terminal.Line(report.Manifest.Version))
	for _, l := range review.Compare(nil, report.Manifest) {
		if l.Kind != "schema" && l.Kind != "description" {
			a.notef("%s\n", differenceText(l))
		}
	}
}

func (a *app) manifestOf(ctx context.Context, name string, from sourceFlags) (*abi.Manifest, error) {
	if strings.HasPrefix(name, oci.Scheme) {
		i, _, err := a.pulled(ctx, name, from)
		if err != nil {
			return nil, err
		}
		report, err := checkModule(name, i.Module)
		if report == nil {
			return nil, err
		}
		return report.Manifest, nil
	}
	module, err := readModule(name)
	if err == nil {
		report, err := checkModule(name, module)
		if report == nil {
			return nil, err
		}
		return report.Manifest, nil // names that clash are shown, too
	}
	if strings.HasSuffix(name, ".wasm") || !errors.Is(err, os.ErrNotExist) && !strings.Contains(err.Error(), "there is no file") {
		return nil, err
	}
	info, err := call(ctx, a, operator.DescribeFamily, operator.FamilyName{Family: name})
	return info.Manifest, err
}

func differenceText(l review.Line) string {
	mark := " "
	if l.Wider {
		mark = "!"
	}
	switch {
	case l.Kind == "text":
		return fmt.Sprintf("%s %s: %s", mark, l.Name, l.New)
	case l.Old == "":
		return fmt.Sprintf("%s + %s %s: %s", mark, l.Kind, l.Name, l.New)
	case l.New == "":
		return fmt.Sprintf("%s - %s %s: %s", mark, l.Kind, l.Name, l.Old)
	}
	return fmt.Sprintf("%s   %s %s: %s → %s", mark, l.Kind, l.Name, l.Old, l.New)
}
