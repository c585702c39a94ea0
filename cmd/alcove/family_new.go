package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/build/project"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/tool/families"
)

// newFamily matches names of new families: with one of them, the names of tools are not too long, either.
var newFamily = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9-]{0,47}$`) })

func (a *app) familyNewCommand() *cobra.Command {
	var language, from string
	languages := strings.Join(project.Languages(), ", ")
	c := &cobra.Command{
		Use: "new NAME --lang LANGUAGE", Short: "Create a project for a new family", Args: arguments(1, 1),
		Long: `Create a project for a new family in the directory NAME, which must not exist. The
project contains a tool, its test, the manifest, build and test scripts, a README
and the SDK; in JavaScript, TypeScript and Python a source, a README and types.
Nothing is downloaded.

With --from, the project implements an existing manifest: each of its tools
returns an error until you write it. The languages are ` + languages + `.`,
		Example: `  alcove family new tea --lang go
  alcove family new tea --lang rust --from manifest.json`,
	}
	c.Flags().StringVar(&language, "lang", "", "language: "+languages)
	c.Flags().StringVar(&from, "from", "", "manifest to implement, of a family with the same name")
	c.RunE = func(_ *cobra.Command, args []string) error {
		files, m, err := a.newProject(args[0], language, from)
		if err != nil {
			return err
		}
		if err := writeProject(args[0], files); err != nil {
			return err
		}
		if h := m.Hooks; from != "" && (h.Store != nil || h.Stored != nil || h.Merged != nil || h.SessionEnd != nil || h.Rank != nil || h.Embed != nil || h.Jobs != nil) {
			a.notef("note: the manifest has hooks or jobs, which are not in the project's code: see README.md of the SDK\n")
		}
		if a.asJSON {
			return a.printJSON(map[string]any{"directory": args[0], "files": slices.Sorted(maps.Keys(files))})
		}
		first := "./build.sh"
		if !slices.Contains(project.Compiled(), language) {
			first = "alcove family dev ."
		}
		return a.printf("wrote %s, %s; next: cd %s && %s, as in its README.md\n", args[0], counted(len(files), "file"), args[0], first)
	}
	return c
}

// newProject is the files of a project and its manifest, which was checked.
func (a *app) newProject(name, language, from string) (map[string]string, *abi.Manifest, error) {
	if !newFamily().MatchString(name) {
		return nil, nil, &usageError{fmt.Errorf("%.80q is not a name for a family: use a lower-case letter, then up to 47 lower-case letters, digits and -", name)}
	}
	if language == "" {
		return nil, nil, &usageError{fmt.Errorf("name the language: alcove family new %s --lang %s", name, strings.Join(project.Languages(), "|"))}
	}
	if !slices.Contains(project.Languages(), language) {
		return nil, nil, &usageError{fmt.Errorf("there is no template for the language %.40q: give --lang with one of %s", language, strings.Join(project.Languages(), ", "))}
	}
	templates, err := guests.Templates()
	if err != nil {
		return nil, nil, err
	}
	files, err := templates.New(name, language)
	if err != nil {
		return nil, nil, err
	}
	manifest := []byte(files["manifest.json"])
	if len(manifest) == 0 { // its source has it
		manifest = project.Sketch(name)
	}
	if from != "" {
		if manifest, err = readFile(from, abi.DefaultModuleLimits().ManifestBytes+1); err != nil {
			return nil, nil, err
		}
	}
	m, err := sandbox.ParseManifest(manifest)
	if err != nil {
		return nil, nil, fmt.Errorf("the manifest of %s: %w", name, err)
	}
	if m.Name != name {
		return nil, nil, &usageError{fmt.Errorf("the manifest is that of family %s: use alcove family new %s", m.Name, m.Name)}
	}
	if err := families.CheckNames(m, "", builtIn()); err != nil {
		return nil, nil, err
	}
	if from == "" {
		return files, m, nil
	}
	var tools []string
	for _, t := range m.Tools {
		tools = append(tools, t.Name)
	}
	return files, m, project.Stub(files, language, name, manifest, tools)
}

// writeProject writes files into a new directory. It removes what it wrote if it fails.
func writeProject(dir string, files map[string]string) error {
	err := os.Mkdir(dir, 0o755)
	switch {
	case errors.Is(err, fs.ErrExist):
		return &usageError{fmt.Errorf("%s exists already: nothing was written; remove it, or use another name", dir)}
	case err != nil:
		return fmt.Errorf("make the directory of the project: %w", err)
	}
	for name, text := range files {
		if err := writeProjectFile(filepath.Join(dir, filepath.FromSlash(name)), text); err != nil {
			return errors.Join(fmt.Errorf("write the project: %w", err), os.RemoveAll(dir))
		}
	}
	return nil
}

func writeProjectFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if strings.HasSuffix(path, ".sh") {
		mode = 0o755
	}
	return os.WriteFile(path, []byte(text), mode)
}
