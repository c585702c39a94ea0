package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/family/author/declared"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/go/gen/output"
)

// generator is the command that generates. Being run from source it is of the SDK that the family is built with, and the type
// checker of Go is no part of this program.
const generator = "github.com/alcove-memory/alcove/sdk/go/familygen"

func (a *app) familyGenCommand() *cobra.Command {
	var check bool
	c := &cobra.Command{
		Use: "gen [DIR|FILE]", Short: "Generate the manifest of a family from its source", Args: arguments(0, 1),
		Long: `Generate manifest.json from the types and comments of a family's source, and in Go
` + output.CodeFile + `, which reads and writes the types. The source is the Go package of DIR, or
a file in C, C++, Zig, Rust or AssemblyScript: FILE, or the one of
` + strings.Join(declared.Files(), ", ") + ` that DIR has; its manifest is
written beside it. DIR defaults to the current directory. Nothing of the source is
run. Commit the files; --check fails if they are out of date.`,
		Example: `  alcove family gen
  alcove family gen ./facts --check
  alcove family gen tea.zig`,
	}
	c.Flags().BoolVar(&check, "check", false, "write nothing; fail if a file is out of date")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir := "."
		if len(args) > 0 {
			dir = args[0]
		}
		out, err := a.generated(c.Context(), dir)
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
			files := map[string]string{"manifest": out.ManifestPath}
			if out.CodePath != "" {
				files["code"] = out.CodePath
			}
			return a.printJSON(files)
		}
		if out.CodePath == "" {
			return a.printf("%s is current\n", out.ManifestPath)
		}
		return a.printf("%s and %s are current\n", out.ManifestPath, out.CodePath)
	}
	return c
}

// generated is what the source at a path gives.
func (a *app) generated(ctx context.Context, path string) (*output.Files, error) {
	source, err := declaringSource(path)
	if err != nil {
		return nil, err
	}
	if source != "" {
		return declaredFiles(source)
	}
	a.stopWorking()
	working := a.err.Building("go run " + generator + ", which is compiled at first:")
	defer working.Stop()
	return generate(ctx, path)
}

// declaringSource is the file whose declarations are read; empty: the path is a directory with a package of Go, or with nothing.
func declaringSource(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return path, nil
	}
	if packages, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(packages) > 0 {
		return "", err
	}
	for _, name := range declared.Files() {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return filepath.Join(path, name), nil
		}
	}
	return "", nil
}

// declaredFiles is the manifest that a source declares. It is written beside the source.
func declaredFiles(source string) (*output.Files, error) {
	text, err := readFile(source, declared.MostBytes)
	if err != nil {
		return nil, err
	}
	m, err := declared.Manifest(source, text)
	if errors.Is(err, declared.ErrNone) && filepath.Ext(source) == ".ts" {
		return nil, fmt.Errorf("%w; the manifest of a family in TypeScript is made by alcove family pack %s", err, filepath.Base(source))
	}
	return &output.Files{Manifest: m, ManifestPath: filepath.Join(filepath.Dir(source), "manifest.json")}, err
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
