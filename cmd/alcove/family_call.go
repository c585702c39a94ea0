package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/author/seed"
	"github.com/alcove-memory/alcove/host/family/author/trial"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// seedUsage says what a flag for a seed takes.
const seedUsage = "file of initial memories, records and settings: JSON lines, or from alcove export --memories"

// trialCall is what alcove family call is given beside a tool.
type trialCall struct {
	seed      string
	config    []string
	hook, job string
	onData    bool
	namespace string
	branch    string
}

func (t *trialCall) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&t.seed, "seed", "", seedUsage)
	flags.StringArrayVar(&t.config, "config", nil, "configuration, as KEY=JSON; repeatable")
	flags.StringVar(&t.hook, "hook", "", "call a hook instead of a tool: store, stored, merged, session_end, rank or embed")
	flags.StringVar(&t.job, "job", "", "run a job instead of a tool")
	flags.BoolVar(&t.onData, "on-data", false, "dry run on the data of the server")
	flags.StringVar(&t.namespace, "namespace", "", "namespace, with --on-data")
	flags.StringVar(&t.branch, "branch", "", "branch, with --on-data")
}

// check refuses flags that do not go together.
func (t *trialCall) check(bare bool, args []string) error {
	given := t.seed != "" || len(t.config) > 0 || t.hook != "" || t.job != "" || t.onData
	switch {
	case bare && given:
		return &usageError{errors.New("--bare takes only a tool and --limit")}
	case t.hook != "" && t.job != "":
		return &usageError{errors.New("use --hook or --job, not both")}
	case (t.hook != "" || t.job != "") && len(args) == 3:
		return &usageError{errors.New("with --hook or --job, give the module and the JSON alone")}
	case t.onData && (t.seed != "" || len(t.config) > 0):
		return &usageError{errors.New("--on-data changes nothing: omit --seed and --config")}
	case !t.onData && (t.branch != "" || t.namespace != ""):
		return &usageError{errors.New("--branch and --namespace require --on-data: an empty space has the default ones")}
	}
	return nil
}

// asked is the hook that is meant, if any.
func (t *trialCall) asked() abi.Hook {
	if t.job != "" {
		return abi.HookJob
	}
	return abi.Hook(t.hook)
}

// seedOf is what a space begins with: all that a file has, or nothing without one.
func seedOf(ctx context.Context, path string) (begin seed.Seed, err error) {
	if path == "" {
		return begin, nil
	}
	size := 0
	var list []operator.Memory
	err = readSeed(ctx, path, mostSeed, &begin, func(m operator.Memory) error {
		if size += len(m.Key) + len(m.Value); size > mostSeed {
			return &usageError{fmt.Errorf("read %s: its memories are larger than %d bytes: give fewer", path, mostSeed)}
		}
		list = append(list, m)
		return nil
	})
	begin.Memories = list
	return begin, err
}

func (t *trialCall) values() (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, given := range t.config {
		key, value, err := keyValue(given)
		if err != nil {
			return nil, err
		}
		values[key] = value
	}
	return values, nil
}

// callThrowaway makes a request to a module in a space that is thrown away.
func (a *app) callThrowaway(ctx context.Context, args []string, limits map[string]int64, t trialCall) error {
	var given abi.Limits
	if err := setLimits(&given, limits); err != nil {
		return err
	}
	try, err := a.tryOf(ctx, args, t)
	if err != nil {
		return err
	}
	if try.Dir, err = os.MkdirTemp("", "alcove-try-*"); err != nil {
		return fmt.Errorf("make a temporary space: %w", err)
	}
	defer os.RemoveAll(try.Dir)
	box, done, err := a.openSandbox()
	if err != nil {
		return err
	}
	defer done()
	try.Sandbox, try.Limits = box, limits
	tried, err := trial.Run(ctx, try)
	return a.tried(tried.Result, tried.Notes, err)
}

// tryOf reads what is to be tried.
func (a *app) tryOf(ctx context.Context, args []string, t trialCall) (try trial.Call, err error) {
	try.Hook, try.Job = t.asked(), t.job
	if len(args) == 3 {
		try.Tool = args[1]
	}
	if try.Arguments, err = a.value(args[len(args)-1]); err == nil && t.job == "" {
		try.Arguments, err = a.object(args[len(args)-1])
	}
	if err == nil {
		try.Seed, err = seedOf(ctx, t.seed)
	}
	if err == nil {
		try.Config, err = t.values()
	}
	if err == nil {
		try.Module, err = readModule(args[0])
	}
	return try, err
}

// callOnData makes a request to a module in a dry run of the server.
func (a *app) callOnData(ctx context.Context, args []string, t trialCall) error {
	try, err := a.tryOf(ctx, args, t)
	if err != nil {
		return err
	}
	report, err := checkModule(args[0], try.Module)
	if err != nil {
		return err
	}
	if try.Tool == "" && try.Hook == "" && len(report.Manifest.Tools) == 1 {
		try.Tool = report.Manifest.Tools[0].Name
	}
	answer, err := call(ctx, a, operator.TryFamily, operator.TrialRequest{Module: try.Module, Tool: try.Tool, Hook: try.Hook, Job: try.Job, Arguments: try.Arguments, Branch: t.branch, Namespace: t.namespace})
	return a.tried(answer.Result, answer.Notes, err)
}

// tried prints what became of a request.
func (a *app) tried(r *sandbox.Result, notes []string, err error) error {
	if err != nil {
		return a.unlessRefused(err)
	}
	for _, note := range notes {
		a.notef("note: %s\n", note)
	}
	return a.outcome(r)
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

--seed fills the space from a file of alcove export --memories, or of lines such as
{"key": "a", "value": "text"} for a memory, {"collection": "cards", "key": "a",
"value": 1} for a record and {"setting": "words", "value": 3}. With --hook, the
JSON is the request of the hook, such as {"entries": [{"key": "a", "value":
"text"}]} for store, {"query": "tea", "candidates": [{"score": 0.5}]} for rank and
{"texts": ["tea"]} for embed; with --job, it is the payload of the job. With
--on-data, the call is a dry run on the data of the server, without network access.

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
	if err != nil {
		return a.unlessRefused(err)
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

// unlessRefused is an error, or the outcome of a module that was not admitted.
func (a *app) unlessRefused(err error) error {
	var refused *sandbox.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	return a.outcome(&sandbox.Result{Class: refused.Class, Error: &abi.Error{Code: abi.CodeDenied, Message: refused.Error()}})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
