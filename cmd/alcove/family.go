package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/regular"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/tool/families"
)

// compileModule is the command that the sandbox starts by itself, and that nobody else needs.
const compileModule = "compile-module"

func (a *app) familyCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "family",
		Short: "Manage tool families: WebAssembly modules that add tools",
		Long: `A family is a WebAssembly module that adds tools. It runs in a sandbox, and its
manifest requests capabilities. An operator grants them; alcove.lock records
each grant with the digest of the module.`,
	}
	c.AddCommand(a.familyListCommand(), a.familyInfoCommand(), a.familyInstallCommand(), a.familyUpdateCommand(), a.familyRollbackCommand(), a.familyRemoveCommand(), a.familyGrantCommand(), a.familyRevokeCommand(),
		a.familyConfigCommand(), a.familyJobsCommand(), a.familyLogsCommand(), a.familyStatsCommand(), a.familyTraceCommand(), a.familyInspectCommand(), a.familyPackCommand(), a.familyNewCommand(), a.familyGenCommand(), a.familyMeterCommand(), a.familyCallCommand(),
		a.familyVerifyCommand(), a.familyWarmCommand(), a.familyTestCommand(), a.whyDeniedCommand(), a.familyUndoCommand(),
		a.familyPushCommand(), a.familyPullCommand(), a.familyKeygenCommand(), a.familySignCommand(), a.familyTrustCommand(), a.familyDiffCommand(), a.familyDevCommand(), a.familyCheckCommand())
	return c
}

func (a *app) familyInspectCommand() *cobra.Command {
	var bare bool
	c := &cobra.Command{
		Use: "inspect M.wasm", Short: "Validate a module and show its manifest", Args: arguments(1, 1),
		Example: `  alcove family inspect notes.wasm
  alcove family inspect plain.wasm --bare`,
	}
	c.Flags().BoolVar(&bare, "bare", false, "accept a module without a manifest")
	c.RunE = func(_ *cobra.Command, args []string) error {
		module, err := readModule(args[0])
		if err != nil {
			return err
		}
		report, err := sandbox.Check(module, sandbox.Options{Bare: bare})
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		printed := a.printReport
		if a.asJSON {
			printed = func(r *sandbox.Report) error { return a.printJSON(r) }
		}
		return errors.Join(printed(report), checkNames(report))
	}
	return c
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
			a.printf("  asks for %s %s: %s\n", p.Name, strings.Join(p.Scope, ", "), p.Reason)
		}
		a.printAsked(m)
	} else {
		a.printf("no manifest\n")
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

func (a *app) familyPackCommand() *cobra.Command {
	var manifest, out string
	c := &cobra.Command{
		Use: "pack M.wasm --manifest F -o OUT", Short: "Add a manifest to a module, and validate both", Args: arguments(1, 1),
		Long: `Add a manifest to a module, and validate both.

Libraries often import WASI functions for files, the network and the
environment, which modules cannot use here. They are replaced by functions that
return "not supported", and listed with their callers.`,
		Example: `  alcove family pack build/notes.wasm --manifest manifest.json -o notes.wasm`,
	}
	c.Flags().StringVar(&manifest, "manifest", "", "manifest file")
	c.Flags().StringVarP(&out, "out", "o", "", "output file")
	c.RunE = func(_ *cobra.Command, args []string) error {
		if manifest == "" || out == "" {
			return &usageError{errors.New("give the manifest with --manifest and the file to write with -o")}
		}
		module, err := readModule(args[0])
		if err != nil {
			return err
		}
		data, err := readFile(manifest, abi.DefaultModuleLimits().ManifestBytes+1)
		if err != nil {
			return err
		}
		packed, err := sandbox.PackStubbed(module, data)
		if err != nil {
			return fmt.Errorf("pack %s: %w", args[0], err)
		}
		if err := checkNames(packed.Report); err != nil {
			return err
		}
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
	return c
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

func (a *app) familyCallCommand() *cobra.Command {
	var bare bool
	var t trialCall
	limits := map[string]int64{}
	c := &cobra.Command{
		Use:   "call M.wasm [TOOL] 'JSON'",
		Short: "Call a tool of a module in a temporary space",
		Long: `Call a tool of a module in an empty temporary space. The module gets every
capability that its manifest requests, except network, files and models. With
--bare, it needs no manifest and gets no capabilities.

--seed fills the space from a file of alcove export --memories. With --hook, the
JSON is the request of the hook, such as {"entries": [{"key": "a", "value":
"text"}]} for store; with --job, it is the payload of the job. With --on-data,
the call is a dry run on the data of the server, without network access.

The result is written to standard output, and the module's own output to
standard error. The exit code is the outcome:

  0  ok                    success
  1  error-result          error, trap, exit or invalid answer of the module
  4  refused-at-admission  the module was not admitted
  6  stopped-by-limit      a limit was exceeded

--json prints the outcome, class, result or error, fuel, time and peak memory.`,
		Args: arguments(2, 3),
		Example: `  alcove family call notes.wasm add_note '{"text": "buy tea"}'
  alcove family call notes.wasm find_notes '{}' --seed notes.jsonl --config words=3
  alcove family call notes.wasm --hook store '{"entries": [{"key": "a", "value": "buy tea"}]}'
  alcove family call notes.wasm find_notes '{}' --on-data
  alcove family call --bare notes.wasm add_note '{}' --limit wall_ms=100 --limit fuel=1000000 --json`,
	}
	c.Flags().BoolVar(&bare, "bare", false, "no capabilities; no manifest needed")
	c.Flags().StringToInt64Var(&limits, "limit", nil, "request limits, as wall_ms=100,fuel=1000000")
	t.flags(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := t.check(bare, args); err != nil {
			return err
		}
		if t.onData {
			return a.callOnData(c.Context(), args, t)
		}
		if !bare {
			return a.callThrowaway(c.Context(), args, limits, t)
		}
		return a.callBare(c.Context(), args, limits)
	}
	return c
}

// callBare calls a tool of a module, and prints what becomes of it.
func (a *app) callBare(ctx context.Context, args []string, limits map[string]int64) error {
	options := sandbox.Options{Bare: true}
	if err := setLimits(&options.Limits, limits); err != nil {
		return err
	}
	arguments, err := a.object(args[len(args)-1])
	if err != nil {
		return err
	}
	module, err := readModule(args[0])
	if err != nil {
		return err
	}
	s, done, err := a.openSandbox()
	if err != nil {
		return err
	}
	defer done()
	m, err := s.Admit(ctx, module, options)
	var refused *sandbox.Refusal
	switch {
	case errors.As(err, &refused):
		return a.outcome(&sandbox.Result{Class: refused.Class, Error: &abi.Error{Code: abi.CodeDenied, Message: refused.Error()}})
	case err != nil:
		return err
	}
	tool := ""
	if len(args) == 3 {
		tool = args[1]
	} else if f := m.Manifest(); f != nil && len(f.Tools) == 1 {
		tool = f.Tools[0].Name
	}
	payload, err := toolRequest(m.Manifest(), tool, arguments)
	if err != nil {
		return err
	}
	r, err := m.Call(ctx, sandbox.Request{Kind: abi.KindTool, Payload: payload})
	if err != nil {
		return err
	}
	return a.outcome(r)
}

func setLimits(limits *abi.Limits, given map[string]int64) error {
	known := map[string]bool{}
	limits.Each(func(name string, value *int64) {
		known[name] = true
		*value = given[name]
	})
	for name, value := range given {
		if !known[name] {
			return &usageError{fmt.Errorf("unknown request limit %q: use for example fuel, wall_ms, cpu_ms or memory_pages", name)}
		}
		if value <= 0 {
			return &usageError{fmt.Errorf("the limit %s is %d: give a number above 0", name, value)}
		}
	}
	return nil
}

// object is an argument that must be a JSON object; - is what standard input says.
func (a *app) object(argument string) (json.RawMessage, error) {
	value, err := a.value(argument)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil || fields == nil {
		return nil, &usageError{fmt.Errorf("%.80s is not a JSON object: give the arguments as '{\"name\": \"value\"}'", argument)}
	}
	return value, nil
}

// toolRequest is the request of a tool call without a caller.
func toolRequest(manifest *abi.Manifest, tool string, arguments json.RawMessage) ([]byte, error) {
	config, family := map[string]json.RawMessage{}, ""
	if manifest != nil {
		family = manifest.Name
		for _, s := range manifest.Config {
			config[s.Key] = s.Default
		}
	}
	id := make([]byte, 8)
	rand.Read(id)
	request := map[string]any{
		"tool": tool, "arguments": arguments, "config": config,
		"context": map[string]any{
			"family": family, "caller": "", "namespace": "default", "branch": "default", "now": time.Now().UTC().Format(time.RFC3339), "request_id": hex.EncodeToString(id),
		},
	}
	data, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	return data, nil
}

// openSandbox opens a sandbox with the user's cache of compiled modules.
func (a *app) openSandbox() (*sandbox.Sandbox, func(), error) {
	log := slog.New(slog.NewTextHandler(a.err, nil))
	if err := removeOldCache(); err != nil {
		log.Warn("the compiled modules of an earlier release could not be removed", "error", err)
	}
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

// outcomeError ends the program with the exit code of an outcome. What is to be said was said, or is its error.
type outcomeError struct {
	outcome abi.Outcome
	error
}

// code is that of the client's error that has the same exit code; empty for the exit code 1.
func (e *outcomeError) code() string {
	switch e.outcome {
	case abi.OutcomeRefusedAtAdmission:
		return "denied"
	case abi.OutcomeStoppedByLimit:
		return "exhausted"
	}
	return ""
}

// outcome prints what became of a call.
func (a *app) outcome(r *sandbox.Result) error {
	if a.asJSON {
		out := map[string]any{
			"outcome": r.Outcome(), "class": r.Class, "fuel": r.Fuel, "host_calls": r.HostCalls, "peak_memory_bytes": r.Memory,
			"time_ms": milliseconds(r.Time), "cpu_ms": milliseconds(r.CPU),
		}
		if r.Error != nil {
			out["error"] = r.Error
		} else {
			out["result"] = json.RawMessage(r.Output)
		}
		if r.Trace != "" {
			out["trace"] = r.Trace
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else if r.Error == nil {
		a.printf("%s\n", shown(r.Output))
	}
	if r.Outcome() == abi.OutcomeOK {
		if a.asJSON {
			return nil
		}
		return a.notef("fuel %d, %.3f ms, %d KiB of memory\n", r.Fuel, milliseconds(r.Time), r.Memory>>10)
	}
	if r.Trace != "" && !a.asJSON {
		a.notef("%s\n", terminal.Lines(r.Trace))
	}
	return &outcomeError{r.Outcome(), fmt.Errorf("%s (%s): %s", r.Outcome(), r.Class, r.Error.Error())}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
