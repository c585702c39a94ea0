package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/go/gen"
)

func (a *app) familyGenCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use: "gen [DIR]", Short: "Write the manifest and the codec of a family in Go, from its types and comments", Args: arguments(0, 1),
		Long: `Write manifest.json and ` + gen.CodeFile + ` for the family in the Go package of a directory, the current one by default. Tools,
parameters, configuration and collections are read from the package's types, tags and comments; nothing of the package is run.
The files belong into version control; --check fails when they are not what would be written.`,
		Example: `  alcove family gen
  alcove family gen ./facts --check`,
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail if a file is not what would be written")
	c.RunE = func(_ *cobra.Command, args []string) error {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		out, err := gen.Generate(dir)
		if err != nil {
			return fmt.Errorf("generate %s: %w", dir, err)
		}
		if _, err := sandbox.ParseManifest(out.Manifest); err != nil {
			return fmt.Errorf("the manifest of %s: %w", dir, err)
		}
		if check {
			return out.Check()
		}
		if err := out.Write(); err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(map[string]string{"manifest": out.ManifestPath, "code": out.CodePath})
		}
		return a.printf("%s and %s are current\n", out.ManifestPath, out.CodePath)
	}
	return c
}
