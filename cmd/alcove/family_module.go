package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/author/script"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/tool/families"
)

func (a *app) familyInspectCommand() *cobra.Command {
	var bare, source bool
	c := &cobra.Command{
		Use: "inspect M.wasm", Short: "Validate a module and show its manifest", Args: arguments(1, 1),
		Example: `  alcove family inspect notes.wasm
  alcove family inspect plain.wasm --bare
  alcove family inspect tea.wasm --source`,
	}
	c.Flags().BoolVar(&bare, "bare", false, "accept a module without a manifest")
	c.Flags().BoolVar(&source, "source", false, "print the source that its engine runs (JavaScript, TypeScript or Python)")
	c.RunE = func(_ *cobra.Command, args []string) error {
		module, err := readModule(args[0])
		if err != nil {
			return err
		}
		report, err := sandbox.Check(module, sandbox.Options{Bare: bare})
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		if source {
			return a.printSource(args[0], module)
		}
		printed := a.printReport
		if a.asJSON {
			printed = func(r *sandbox.Report) error { return a.printJSON(r) }
		}
		return errors.Join(printed(report), checkNames(report))
	}
	return c
}

// printSource prints the source of a module: the text behind the name of its file.
func (a *app) printSource(path string, module []byte) error {
	name, text, found := bytes.Cut(sandbox.SourceOf(module), []byte{0})
	if !found {
		return notFound("%s has no source: its code was compiled", path)
	}
	if a.asJSON {
		return a.printJSON(map[string]string{"file": string(name), "source": string(text)})
	}
	if script.LanguageOf(string(name)) == "python" {
		text = script.Listed(text)
	}
	// Its last line is for positions of errors. Nothing of what runs is left out, whatever looks like such a line.
	if at := bytes.LastIndex(text, []byte("\n"+script.LinesMark)); at >= 0 && !bytes.ContainsAny(bytes.TrimSuffix(text[at+1:], []byte("\n")), "\n\r\u2028\u2029") {
		text = text[:at+1]
	}
	return a.printf("%s", terminal.Lines(string(text)))
}

// checkModule checks a module and its names.
func checkModule(path string, module []byte) (*sandbox.Report, error) {
	report, err := sandbox.Check(module, sandbox.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return report, checkNames(report)
}

// checkNames refuses a family whose names resemble those of this program, or of each other.
func checkNames(r *sandbox.Report) error {
	if r.Manifest == nil {
		return nil
	}
	return families.CheckNames(r.Manifest, r.Digest, builtIn())
}

func (a *app) printReport(r *sandbox.Report) error {
	if m := r.Manifest; m != nil {
		a.printf("%s %s: %s\n", a.bold(m.Name), m.Version, m.Description)
		for _, t := range m.Tools {
			a.printf("  tool %s: %s\n", namesOf(t), t.Description)
		}
		for _, p := range m.Capabilities {
			a.printf("  requests %s: %s\n", powerOf(p.Name, p.Scope), p.Reason)
		}
		a.printAsked(m)
	} else {
		a.printf("no manifest\n")
	}
	if r.SourceBytes > 0 {
		a.printf("source of %d bytes, which its engine runs: --source prints it\n", r.SourceBytes)
	}
	return a.printf("sha256 %s\n%d bytes, %d functions, %d pages of memory, %d table elements\nimports %s\n",
		r.Digest, r.Bytes, r.Functions, r.MemoryPages, r.TableElements, strings.Join(r.Imports, ", "))
}

// printAsked prints the hooks, configuration and limits of a manifest.
func (a *app) printAsked(m *abi.Manifest) {
	for _, h := range hooksOf(m.Hooks) {
		state := ""
		if s := m.Hooks.Store; h == abi.HookStore && s.OnFailure != "" {
			state = ", " + string(s.OnFailure) + " when it fails"
		}
		a.printf("  hook %s%s\n", h, state)
	}
	for _, job := range m.Hooks.Jobs {
		a.printf("  job %s: %s\n", job.Name, job.Description)
	}
	for _, s := range m.Config {
		a.printf("  config %s = %s\n", s.Key, string(s.Default))
	}
	m.Limits.Each(func(name string, value *int64) {
		if *value != 0 {
			a.printf("  limit %s = %d\n", name, *value)
		}
	})
}

// namesOf is the name of a tool, and its aliases.
func namesOf(t abi.Tool) string {
	if len(t.Aliases) == 0 {
		return t.Name
	}
	var others []string
	for _, alias := range t.Aliases {
		others = append(others, alias.Name)
	}
	return t.Name + " (also " + strings.Join(others, ", ") + ")"
}

// packing is what alcove family pack is given.
type packing struct {
	in, manifest, manifestOut, out string
}

func (a *app) familyPackCommand() *cobra.Command {
	var p packing
	c := &cobra.Command{
		Use: "pack M.wasm|FAMILY.js|FAMILY.ts|FAMILY.py", Short: "Build a family from a module and its manifest, or from a source file", Args: arguments(1, 1),
		Long: `Make a family of a module and its manifest, and validate both; or of a source in
JavaScript, TypeScript or Python, which needs no compiler.

A source defines its manifest itself, unless --manifest is given. What it imports
from files, and in JavaScript from installed packages of npm, is bundled. It runs
once, without any capability, to tell its manifest. The output file is NAME.wasm by
default.

Libraries often import WASI functions for files, the network and the
environment, which modules cannot use here. They are replaced by functions that
return "not supported", and listed with their callers.`,
		Example: `  alcove family pack family.js
  alcove family pack family.py -o tea.wasm
  alcove family pack build/notes.wasm --manifest manifest.json -o notes.wasm`,
	}
	c.Flags().StringVar(&p.manifest, "manifest", "", "manifest file")
	c.Flags().StringVar(&p.manifestOut, "manifest-out", "", "output file of a source's manifest")
	c.Flags().StringVarP(&p.out, "out", "o", "", "output file")
	c.RunE = func(c *cobra.Command, args []string) error {
		p.in = args[0]
		return a.pack(c.Context(), p)
	}
	return c
}

func (a *app) pack(ctx context.Context, p packing) error {
	language := script.LanguageOf(p.in)
	switch {
	case language == "" && (p.manifest == "" || p.out == ""):
		return &usageError{errors.New("give the manifest with --manifest and the file to write with -o")}
	case p.manifestOut != "" && (language == "" || p.manifest != ""):
		return &usageError{errors.New("--manifest-out is for a source that defines its manifest")}
	}
	module, manifest, err := a.packed(ctx, p, language)
	if err != nil {
		return err
	}
	packed, err := sandbox.PackStubbed(module, manifest)
	if err != nil {
		return fmt.Errorf("pack %s: %w", p.in, err)
	}
	if err := checkNames(packed.Report); err != nil {
		return err
	}
	if p.out == "" {
		p.out = packed.Report.Manifest.Name + ".wasm"
	}
	if p.manifestOut != "" {
		if err := writeOutputFile(p.manifestOut, 0o644, manifest); err != nil {
			return err
		}
	}
	return a.writtenPacked(p.out, packed)
}

// packed reads what is packed: a module and a manifest, or a source that gives both.
func (a *app) packed(ctx context.Context, p packing, language string) (module, manifest []byte, err error) {
	if language == "" {
		module, err = readModule(p.in)
	} else {
		module, manifest, err = a.sourceModule(ctx, p.in, language)
	}
	if err == nil && p.manifest != "" {
		manifest, err = readFile(p.manifest, abi.DefaultModuleLimits().ManifestBytes+1)
	}
	return module, manifest, err
}

// writtenPacked writes a packed module, and says what is to be known of it.
func (a *app) writtenPacked(out string, packed *sandbox.Packed) error {
	if advice := sandbox.Advice(packed.Module); advice != "" {
		a.notef("note: %s\n", advice)
	}
	for _, s := range packed.Stubs {
		a.notef("note: %s\n", s.Text())
	}
	if len(packed.Stubs) == 0 {
		return a.written(out, packed.Module, nil)
	}
	return a.written(out, packed.Module, map[string][]sandbox.Stub{"stubs": packed.Stubs})
}

func (a *app) familyMeterCommand() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use: "meter IN.wasm -o OUT.wasm", Short: "Write a module with metering code, as the sandbox runs it", Args: arguments(1, 1),
		Example: `  alcove family meter notes.wasm -o metered.wasm`,
	}
	c.Flags().StringVarP(&out, "out", "o", "", "output file")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if out == "" {
			return &usageError{errors.New("give the file to write with -o")}
		}
		module, err := readModule(args[0])
		if err != nil {
			return err
		}
		metered, report, err := sandbox.Metered(module)
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		return a.written(out, metered, map[string]int{
			"functions_that_pay": report.Functions, "functions_paid_by_callers": report.Leaves, "loops": report.Loops, "functions_that_count_depth": report.Recursive,
			"globals_restored": report.Globals, "tables_restored": report.Tables,
		})
	}
	return c
}

// written writes a module to a file, and says so.
func (a *app) written(path string, module []byte, more any) error {
	if err := writeOutputFile(path, 0o644, module); err != nil {
		return err
	}
	report := struct {
		File   string `json:"file"`
		Bytes  int    `json:"bytes"`
		Report any    `json:"report,omitempty"`
	}{path, len(module), more}
	if a.asJSON {
		return a.printJSON(report)
	}
	return a.printf("wrote %s, %d bytes\n", path, len(module))
}

// printedOr prints a text, or writes it to the file of --out.
func (a *app) printedOr(file string, text terminal.Text) error {
	if file == "" {
		return a.printf("%s\n", text)
	}
	return a.written(file, []byte(text.String()+"\n"), nil)
}

// readModule reads a module. One that is too large is cut just behind the limit, for the sandbox to refuse it.
func readModule(path string) ([]byte, error) {
	return readFile(path, abi.DefaultModuleLimits().ModuleBytes+1)
}

// readFile reads at most so many bytes of a file.
func readFile(path string, most int64) ([]byte, error) {
	f, err := openFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, notFound("there is no file %s", path)
	case err != nil:
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}

// openFile opens a file that the command line names.
func openFile(path string) (*os.File, error) {
	f, err := regular.Open(path)
	switch {
	case errors.Is(err, regular.ErrNot):
		return nil, &usageError{fmt.Errorf("%w: give the path of a file", err)}
	case err != nil:
		return nil, fmt.Errorf("read a file: %w", err)
	}
	return f, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// openSandbox opens a sandbox with the user's cache of compiled modules.
func (a *app) openSandbox() (*sandbox.Sandbox, func(), error) {
	log := slog.New(slog.NewTextHandler(a.err, nil))
	cache, err := a.moduleCache()
	if err != nil {
		return nil, nil, err
	}
	s, err := sandbox.New(sandbox.Config{Cache: cache, Log: log, Compiler: sandbox.Compiler{Args: []string{compileModule}}})
	if err != nil {
		return nil, nil, err
	}
	return s, func() { s.Close() }, nil
}
