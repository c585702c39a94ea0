package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/author/develop"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/tool/families"
	"github.com/alcove-memory/alcove/host/tool/tokens"
)

// Goals for what every model reads of a tool, in tokens of cl100k_base. They are those of the families that the program carries.
const (
	mostDescriptionTokens = 50
	mostToolTokens        = 200 // as lists show it
)

// problem is something that an author should change.
type problem struct {
	Line    int    `json:"line,omitempty"` // of the manifest; 0: not known
	Message string `json:"message"`
}

func (a *app) familyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check M.wasm|MANIFEST.json|DIR", Short: "List the faults of a family's manifest and module", Args: arguments(1, 1),
		Long: fmt.Sprintf(`List the faults of a family's manifest and module: everything that prevents its
installation, and what makes it too large or too expensive. The check covers the
form of the manifest, schemas and defaults, the imports, exports and size of the
module, and the tokens of tools: at most %d for a description, and %d for a tool in
lists.

Names must differ from those of core tools, of built-in families, and of families
that are installed in the directory of --data. Nothing is run or changed, and no
server is needed. For DIR, %s names the manifest and the module.

The exit code is 0 without faults, and 1 otherwise.`, mostDescriptionTokens, mostToolTokens, develop.ConfigFile),
		Example: `  alcove family check manifest.json
  alcove family check notes.wasm
  alcove family check . --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := a.problemsAt(args[0])
			if err != nil {
				return err
			}
			if err := a.printProblems(args[0], list); err != nil || len(list) == 0 {
				return err
			}
			return &outcomeError{abi.OutcomeErrorResult, fmt.Errorf("found %s", counted(len(list), "problem"))}
		},
	}
}

func (a *app) printProblems(path string, list []problem) error {
	if a.asJSON {
		return a.printJSON(map[string]any{"problems": list})
	}
	if len(list) == 0 {
		return a.notef("%s has no faults\n", terminal.Line(path))
	}
	for _, p := range list {
		where := path
		if p.Line > 0 {
			where = fmt.Sprintf("%s, line %d", where, p.Line)
		}
		if err := a.printf("%s: %s\n", where, p.Message); err != nil {
			return err
		}
	}
	return nil
}

// problemsAt lists the problems of the family that a path leads to.
func (a *app) problemsAt(path string) ([]problem, error) {
	dir, err := a.dir()
	if err != nil {
		return nil, err
	}
	c := &familyCheck{dir: dir, list: []problem{}}
	manifest, module, err := checked(path)
	var unbuilt *develop.UnbuiltError
	if errors.As(err, &unbuilt) {
		c.add(0, err)
	} else if err != nil {
		return nil, err
	}
	if manifest == nil {
		err = c.module(module)
	} else {
		err = c.project(manifest, module)
	}
	slices.SortStableFunc(c.list, func(a, b problem) int { return cmp.Compare(a.Line, b.Line) })
	return c.list, err
}

// checked reads the manifest and the module that a path leads to. One of them may be nil. With a *develop.UnbuiltError there is
// a manifest.
func checked(path string) (manifest, module []byte, err error) {
	if isFolder(path) {
		p, err := develop.Open(path)
		if err != nil {
			return nil, nil, &usageError{err}
		}
		if manifest, err = p.ReadManifest(); err != nil {
			return nil, nil, err
		}
		module, err = p.ReadModule()
		return manifest, module, err
	}
	data, err := readModule(path)
	if err != nil || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return data, nil, err
	}
	return nil, data, nil
}

// familyCheck collects the problems of one family.
type familyCheck struct {
	dir  string // the data directory
	text []byte // the manifest's, with lines; nil: it comes from a module
	list []problem
}

// add adds a problem, once.
func (c *familyCheck) add(line int, err error) {
	if err != nil && !slices.ContainsFunc(c.list, func(p problem) bool { return p.Message == err.Error() }) {
		c.list = append(c.list, problem{line, err.Error()})
	}
}

// lineOf is the line of the manifest in which a name appears first; 0: none.
func (c *familyCheck) lineOf(name string) int {
	at := bytes.Index(c.text, []byte(`"`+name+`"`))
	if at < 0 || name == "" {
		return 0
	}
	return 1 + bytes.Count(c.text[:at], []byte("\n"))
}

// module checks a packed module.
func (c *familyCheck) module(module []byte) error {
	report, err := sandbox.Check(module, sandbox.Options{})
	c.advise(module)
	if err != nil {
		c.add(0, err)
		return nil
	}
	return c.names(report.Manifest, report.Digest)
}

// project checks a manifest, and a module before they are packed unless it is nil.
func (c *familyCheck) project(manifest, module []byte) error {
	c.text = manifest
	m, faults, err := sandbox.Faults(manifest)
	if err != nil {
		return err
	}
	for _, f := range faults {
		c.add(f.Line, f.Err)
	}
	if module != nil {
		c.add(0, buildFault(module, manifest, len(faults) == 0))
		c.advise(module)
	}
	if m == nil || m.Name == "" {
		return nil
	}
	m.Tools = slices.DeleteFunc(m.Tools, func(t abi.Tool) bool { return t.Name == "" }) // faults, which have been listed
	m.Config = slices.DeleteFunc(m.Config, func(s abi.Setting) bool { return s.Key == "" || len(s.Default) == 0 })
	return c.names(m, "")
}

// buildFault is what is wrong with a module before it is packed. A manifest that is wrong itself is left out.
func buildFault(module, manifest []byte, fits bool) error {
	if !fits {
		manifest = []byte(`{"abi": 1, "name": "` + otherName + `", "version": "0.0.0", "description": "Stands for a manifest with faults"}`)
	}
	_, err := sandbox.PackStubbed(module, manifest)
	return err
}

func (c *familyCheck) advise(module []byte) {
	if advice := sandbox.Advice(module); advice != "" {
		c.add(0, errors.New(advice))
	}
}

// names checks the names of a manifest, the defaults of its configuration, and what its tools cost.
func (c *familyCheck) names(m *abi.Manifest, digest string) error {
	taken, err := families.Taken(builtIn(), c.dir, m.Name)
	if err != nil {
		return err
	}
	eachPart(m, func(name string, part *abi.Manifest) {
		if err := taken.Check(part, digest); err != nil {
			c.add(c.lineOf(name), errors.New(strings.Replace(err.Error(), "family "+otherName+" is", "family "+m.Name+" is", 1)))
		}
	})
	return c.costs(m.Tools)
}

// costs checks how many tokens tools take.
func (c *familyCheck) costs(tools []abi.Tool) error {
	count, err := tokens.Load()
	if err != nil {
		return err
	}
	for _, t := range tools {
		if n := count.Count(t.Description); n > mostDescriptionTokens {
			c.add(c.lineOf(t.Name), fmt.Errorf("tool %s: its description has %d tokens, which models read with every request: shorten it to %d, and move the rest to docs", t.Name, n, mostDescriptionTokens))
		}
		listed, err := families.Listed(t)
		if err != nil {
			continue // a fault of the schema
		}
		if n := count.Count(string(listed)); n > mostToolTokens {
			c.add(c.lineOf(t.Name), fmt.Errorf(`tool %s: it has %d tokens in lists, and %d is the goal: shorten its description, or mark parameters that are rarely needed with "%s": true`, t.Name, n, mostToolTokens, abi.AdvancedKeyword))
		}
	}
	return nil
}

// otherName is the family's name while its parts are checked.
const otherName = "family-that-is-checked"

// eachPart calls f with a manifest of the name alone, of each tool, and of each key of the configuration, and with the whole: a check
// that stops at its first fault finds one in each.
func eachPart(m *abi.Manifest, f func(name string, part *abi.Manifest)) {
	alone := abi.Manifest{ABI: m.ABI, Name: m.Name, Version: m.Version, Description: m.Description}
	f(m.Name, &alone)
	alone.Name = otherName // a fault of the family's name would hide those of its parts
	for _, t := range m.Tools {
		part := alone
		part.Tools = []abi.Tool{t}
		f(t.Name, &part)
	}
	for _, s := range m.Config {
		part := alone
		part.Config = []abi.Setting{s}
		f(s.Key, &part)
	}
	f("", m)
}
