package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/author/cases"
	"github.com/alcove-memory/alcove/host/family/author/develop"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/family/author/trial"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// casesFlags are those of alcove family test that are about cases.
type casesFlags struct {
	file   string
	update bool
	text   []byte // of the file
}

func (f *casesFlags) check(c *cobra.Command) error {
	if f.update && f.file == "" {
		return &usageError{errors.New("--update requires --cases")}
	}
	for _, name := range []string{"seed", "inputs", "tool"} {
		if f.file != "" && c.Flags().Changed(name) {
			return &usageError{fmt.Errorf("--%s generates arguments: leave it out with --cases", name)}
		}
	}
	return nil
}

// read reads the cases.
func (f *casesFlags) read() ([]cases.Case, error) {
	if f.file == "" {
		return nil, nil
	}
	var err error
	if f.text, err = readFile(f.file, cases.MostBytes+1); err != nil {
		return nil, err
	}
	list, err := cases.Read(bytes.NewReader(f.text))
	if err != nil {
		return nil, &usageError{fmt.Errorf("read %s: %w", f.file, err)}
	}
	return list, nil
}

// testedCase is what became of a case.
type testedCase struct {
	Name        string   `json:"name"`
	Line        int      `json:"line"`
	Status      string   `json:"status"` // pass, fail or updated
	Differences []string `json:"differences,omitempty"`
}

// moduleOf is the packed module of a file, of a source that an engine runs, or of a project that was built.
func (a *app) moduleOf(ctx context.Context, path string) ([]byte, error) {
	language := script.LanguageOf(path)
	var module, manifest []byte
	var err error
	switch {
	case isFolder(path):
		var p *develop.Project
		if p, err = develop.Open(path); err != nil {
			return nil, &usageError{err}
		}
		if module, err = p.ReadModule(); err == nil {
			manifest, err = p.ReadManifest()
		}
	case language != "":
		module, manifest, err = a.sourceModule(ctx, path, language)
	default:
		return readModule(path)
	}
	if err != nil {
		return nil, err
	}
	packed, err := sandbox.PackStubbed(module, manifest)
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	return packed.Module, nil
}

// testCases tests the cases of a file.
func (a *app) testCases(ctx context.Context, t trial.Cases, f casesFlags, list []cases.Case) error {
	done, failed, changed := []testedCase{}, 0, map[int]cases.Case{}
	for _, c := range list {
		got, err := t.Run(ctx, c)
		if err != nil {
			return a.unlessRefused(fmt.Errorf("%s, line %d, case %s: %w", f.file, c.Line, c.Name, err))
		}
		r := compared(&c, got, f.update)
		switch r.Status {
		case "fail":
			failed++
		case "updated":
			changed[c.Line] = c
		}
		done = append(done, r)
		a.printCase(r)
	}
	if err := f.rewrite(changed); err != nil {
		return err
	}
	return a.casesDone(done, failed, len(changed))
}

// compared compares the outcome of a case with its expectation. With update, the outcome becomes the expectation.
func compared(c *cases.Case, got []cases.Got, update bool) testedCase {
	r := testedCase{Name: c.Name, Line: c.Line, Status: "pass"}
	for i, s := range c.Steps() {
		lines := got[i].Differences(s.Expect)
		if update && (len(lines) > 0 || s.Expect == nil) {
			c.Update(i, got[i])
			r.Status = "updated"
			continue
		}
		for _, line := range lines {
			if len(got) > 1 {
				line = fmt.Sprintf("step %d: %s", i+1, line)
			}
			r.Status, r.Differences = "fail", append(r.Differences, line)
		}
	}
	return r
}

func (a *app) printCase(r testedCase) {
	if a.asJSON {
		return
	}
	a.printf("%-7s  %s (line %d)\n", r.Status, terminal.Line(r.Name), r.Line)
	for _, d := range r.Differences {
		a.printf("         %s\n", terminal.Line(d))
	}
}

// rewrite writes cases in place of those in their lines.
func (f *casesFlags) rewrite(changed map[int]cases.Case) error {
	if len(changed) == 0 {
		return nil
	}
	text, err := cases.Rewrite(f.text, changed)
	if err != nil {
		return fmt.Errorf("write %s: %w", f.file, err)
	}
	info, err := os.Stat(f.file)
	if err != nil {
		return err
	}
	return writeOutputFile(f.file, info.Mode().Perm(), text)
}

// casesDone says how many cases failed.
func (a *app) casesDone(done []testedCase, failed, updated int) error {
	if a.asJSON {
		if err := a.printJSON(map[string]any{"cases": done, "failed": failed, "updated": updated}); err != nil {
			return err
		}
	} else if failed == 0 {
		a.printf("%s, %d updated\n", counted(len(done), "case"), updated)
	}
	if failed > 0 {
		return &outcomeError{abi.OutcomeErrorResult, fmt.Errorf("%d of %d cases failed", failed, len(done))}
	}
	return nil
}
