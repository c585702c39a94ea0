package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/migrate"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/guests/families/legacy/successor"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/regular"
)

// longestMigrated is the longest file of calls, in bytes.
const longestMigrated = 16 << 20

func (a *app) migrateCallsCommand() *cobra.Command {
	var dry bool
	c := &cobra.Command{
		Use: "migrate-calls FILE...", Short: "Rewrite calls of deprecated tools and tool names of other systems in JSON, code and prompts",
		Long: `Rewrite calls of deprecated tools into calls of the tools that replace them, and names of other systems into Alcove's: in JSON (a call of
MCP, of a model API or of memory_operation), in calls as name({…}), and in prose. A call that several tools replace becomes one of
memory_operation, with a chain or a batch. A call that cannot be rewritten stays as it is and is listed with the reason, as is the
name of a tool that does not exist.

The files are changed in place, unless --dry-run is given. - rewrites standard input to standard output.`,
		Example: `  alcove migrate-calls --dry-run prompts/*.md
  alcove migrate-calls calls.json
  alcove migrate-calls - <agent.ts >agent-new.ts`,
		Args: arguments(1, -1),
		RunE: func(_ *cobra.Command, args []string) error { return a.migrateCalls(args, dry) },
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "show the differences; change nothing")
	return c
}

// fileReport is what was done to a file.
type fileReport struct {
	File    string           `json:"file"`
	Changed bool             `json:"changed"`
	Changes []migrate.Change `json:"changes"`
	Left    []migrate.Left   `json:"left"`
	Diff    string           `json:"diff,omitempty"`
}

func (a *app) migrateCalls(files []string, dry bool) error {
	tools, err := knownTools()
	if err != nil {
		return err
	}
	list := []fileReport{}
	for _, path := range files {
		m, err := a.migrateFile(tools, path, dry)
		if err != nil {
			return err
		}
		list = append(list, m)
	}
	if a.asJSON {
		return a.printJSON(fields{"files": list, "dry_run": dry})
	}
	return nil
}

// migrateFile rewrites a file, or shows how.
func (a *app) migrateFile(tools migrate.Tools, path string, dry bool) (fileReport, error) {
	text, err := a.textOf(path)
	if err != nil {
		return fileReport{}, err
	}
	r := tools.Rewrite(text)
	m := fileReport{File: path, Changed: r.Text != text, Changes: append([]migrate.Change{}, r.Changes...), Left: append([]migrate.Left{}, r.Left...)}
	switch {
	case dry:
		m.Diff = migrate.Diff(path, text, r.Text)
		if !a.asJSON {
			err = a.printf("%s", terminal.Lines(m.Diff))
		}
	case path == "-":
		if a.asJSON {
			return m, &usageError{errors.New("- prints the rewritten text, which --json has no place for: name a file")}
		}
		_, err = io.WriteString(a.out.Data(), r.Text)
	case m.Changed:
		err = rewriteFile(path, r.Text)
	}
	if err != nil || a.asJSON {
		return m, err
	}
	return m, a.printMigrated(m)
}

// printMigrated prints the calls that were rewritten, and those that were left.
func (a *app) printMigrated(m fileReport) error {
	for _, c := range m.Changes {
		if c.Dropped != "" {
			if err := a.notef("%s:%d: %s: %s has no %s\n", m.File, c.Line, c.Old, c.New, c.Dropped); err != nil {
				return err
			}
		}
	}
	for _, l := range m.Left {
		if err := a.notef("%s:%d: %s is unchanged: %s\n", m.File, l.Line, l.Name, l.Why); err != nil {
			return err
		}
	}
	return a.notef("%s: %d rewritten, %d unchanged\n", m.File, len(m.Changes), len(m.Left))
}

func (a *app) textOf(path string) (string, error) {
	if path != "-" {
		data, err := regular.Read(path, longestMigrated)
		if errors.Is(err, fs.ErrNotExist) {
			return "", notFound("there is no file %s", path)
		}
		return string(data), err
	}
	data, err := io.ReadAll(io.LimitReader(a.in, longestMigrated+1))
	if err == nil && len(data) > longestMigrated {
		err = fmt.Errorf("standard input is longer than %d bytes: rewrite its parts", longestMigrated)
	}
	return string(data), err
}

// rewriteFile replaces the contents of a file.
func rewriteFile(path, text string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return writeOutputFile(path, info.Mode().Perm(), []byte(text))
}

// knownTools are the core tools and those of the families that this program carries.
func knownTools() (migrate.Tools, error) {
	t := migrate.Tools{Names: map[string]bool{}, Aliases: map[string]migrate.Alias{}}
	for _, s := range host.CoreTools() {
		t.Names[s.Name] = true
		for _, alias := range s.Aliases {
			t.Aliases[alias] = migrate.Alias{Tool: s.Name, Arguments: s.Presets[alias], Spellings: s.Spellings[alias]}
		}
	}
	for _, f := range guests.All() {
		m, err := abi.ParseManifest([]byte(f.Manifest))
		if err != nil {
			return t, fmt.Errorf("read the manifest of %s: %w", f.Name, err)
		}
		for _, tool := range m.Tools {
			t.Names[tool.Name] = true
			for _, alias := range tool.Aliases {
				t.Aliases[alias.Name] = migrate.Alias{Tool: tool.Name, Arguments: alias.Arguments}
			}
		}
	}
	for _, old := range successor.Tools() { // also in a program without families
		t.Names[old.Name] = true
		for _, name := range old.By {
			t.Names[name] = true
		}
	}
	for _, name := range slices.Collect(maps.Keys(t.Aliases)) {
		if strings.HasPrefix(name, "memory_") && t.Names[t.Aliases[name].Tool] { // an alias of the same system stays
			t.Names[name] = true
			delete(t.Aliases, name)
		}
	}
	return t, nil
}
