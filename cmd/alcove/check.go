package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/develop"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// problem is something that would keep a family from being installed.
type problem struct {
	Line    int    `json:"line,omitempty"` // of the manifest; 0: not known
	Message string `json:"message"`
}

func (a *app) familyCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check M.wasm|MANIFEST.json|DIR", Short: "List all that would keep a family from being installed", Args: arguments(1, 1),
		Long: `List all that would keep a family from being installed: faults of the manifest, names that are taken by core tools or by families that the
program carries, defaults that their own schemas refuse, and faults of the module. A directory is a project with ` + develop.ConfigFile + `, whose
module is checked if it was built. Nothing is run and no server is asked. The exit code is 0 if there is no problem, and 1 otherwise.`,
		Example: `  alcove family check manifest.json
  alcove family check . --json`,
		RunE: func(_ *cobra.Command, args []string) error {
			manifest, module, err := checked(args[0])
			if err != nil {
				return err
			}
			list := problemsOf(manifest, module)
			if a.asJSON {
				err = a.printJSON(map[string]any{"problems": list})
			}
			for _, p := range list {
				if where := args[0]; !a.asJSON {
					if p.Line > 0 {
						where = fmt.Sprintf("%s, line %d", where, p.Line)
					}
					a.printf("%s: %s\n", where, p.Message)
				}
			}
			if err == nil && len(list) > 0 {
				err = &outcomeError{abi.OutcomeErrorResult, fmt.Errorf("%d problems were found", len(list))}
			}
			return err
		},
	}
}

// checked reads the manifest and the module that a path leads to. One of them may be nil.
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
		if errors.Is(err, fs.ErrNotExist) { // it is not built yet
			err = nil
		}
		return manifest, module, err
	}
	data, err := readModule(path)
	if err != nil || bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return data, nil, err
	}
	return nil, data, nil
}

// problemsOf lists the problems of a manifest, a module, or both before they are packed.
func problemsOf(manifest, module []byte) (list []problem) {
	list = []problem{}
	add := func(name string, err error) {
		if err == nil || slices.ContainsFunc(list, func(p problem) bool { return p.Message == err.Error() }) {
			return
		}
		line := 0
		if at := bytes.Index(manifest, []byte(`"`+name+`"`)); at >= 0 && name != "" {
			line = 1 + bytes.Count(manifest[:at], []byte("\n"))
		}
		list = append(list, problem{line, err.Error()})
	}
	var m *abi.Manifest
	digest := ""
	switch {
	case manifest == nil:
		report, err := sandbox.Check(module, sandbox.Options{})
		if add("", err); err != nil {
			return list
		}
		m, digest = report.Manifest, report.Digest
	default:
		var err error
		if m, err = sandbox.ParseManifest(manifest); err != nil {
			add("", err)
			return list
		}
		if module != nil {
			_, err := sandbox.PackStubbed(module, manifest)
			add("", err)
		}
	}
	eachPart(m, func(name string, part *abi.Manifest) {
		if err := host.CheckFamilyNames(part, digest, builtIn()); err != nil {
			add(name, errors.New(strings.Replace(err.Error(), "family "+otherName+" is", "family "+m.Name+" is", 1)))
		}
	})
	if advice := sandbox.Advice(module); module != nil && advice != "" {
		add("", errors.New(advice))
	}
	return list
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
