package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/go/gen/output"
)

// generator is the command that generates. Being run from source it is of the SDK that the family is built with, and the type
// checker of Go is no part of this program.
const generator = "github.com/alcove-memory/alcove/sdk/go/familygen"

func (a *app) familyGenCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use: "gen [DIR]", Short: "Generate the manifest and codec of a Go family", Args: arguments(0, 1),
		Long: `Generate manifest.json and ` + output.CodeFile + ` from the types, tags and comments of a Go
package. DIR defaults to the current directory. The code of the package is not
run. Commit both files; --check fails if they are out of date.`,
		Example: `  alcove family gen
  alcove family gen ./facts --check`,
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail if a file is out of date")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		a.stopWorking()
		working := a.err.Building("go run " + generator + ", which is compiled at first:")
		out, err := generate(c.Context(), dir)
		working.Stop()
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

// generate runs the generator in a directory.
func generate(ctx context.Context, dir string) (*output.Files, error) {
	run := exec.CommandContext(ctx, "go", "run", generator)
	run.Dir = dir
	// The generator runs here, whatever platform the family is built for.
	run.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOOS=") || strings.HasPrefix(v, "GOARCH=") })
	var said bytes.Buffer
	run.Stderr = &said
	text, err := run.Output()
	if err != nil {
		return nil, generatorError(err, said.String())
	}
	var files output.Files
	if err := json.Unmarshal(text, &files); err != nil {
		return nil, fmt.Errorf("read what %s printed: %w", generator, err)
	}
	return files.In(dir), nil
}

// generatorError is what the generator said, or why it does not run.
func generatorError(err error, said string) error {
	if said, ok := strings.CutSuffix(strings.TrimSpace(said), "\nexit status 1"); ok {
		return errors.New(said)
	}
	if said = strings.TrimSpace(said); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return fmt.Errorf("run %s with go, in a module that requires Alcove's SDK: %w", generator, err)
}
