package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/author/conform"
	"github.com/alcove-memory/alcove/host/family/author/trial"
)

func (a *app) familyTestCommand() *cobra.Command {
	var c trial.Conformance
	var f casesFlags
	var h hookFlags
	cmd := &cobra.Command{
		Use: "test M.wasm|FAMILY.js|DIR [JSON]", Short: "Test a family's contract or the cases of a file, or ask a hook", Args: arguments(1, 2),
		Long: `Test that a family conforms to its contract, in temporary spaces. The test calls
each tool with generated arguments, long text and no capabilities, runs hooks
and jobs on memories of every form, and sends each kind of request damaged,
canceled and repeated.

A family may refuse requests and return errors. It must not trap, exceed a limit,
keep state between requests, or return results that violate its manifest.

With --cases, the cases of a file are tested instead, each on data of its own. A
line is a case: a seed, the call of a tool, hook or job, and the expected outcome,
with patterns such as {"$is": "string"}:

  {"name": "it greets", "seed": [{"setting": "greeting", "value": "Hi"}],
   "tool": "tea_greet", "arguments": {"name": "Ada"},
   "expect": {"answer": {"greeting": {"$like": "^Hi"}}}}

With --hook, one hook is asked as a case asks it, and its answer is printed: of
rank the order of the candidates and their scores, of embed the count, width and
norms of the vectors. --seed-file fills the space before.

A file, a source or a project built before can be tested. The exit code
is 0 if all checks passed, 1 if a check failed, and 4 if the module was not
admitted. The same seed generates the same arguments.`,
		Example: `  alcove family test notes.wasm
  alcove family test notes.wasm --cases cases.jsonl
  alcove family test notes.wasm --hook rank '{"query": "tea", "candidates": [{"score": 0.5}, {"score": 0.2}]}'
  alcove family test notes.wasm --hook embed '{"texts": ["tea", "coffee"], "purpose": "query"}'
  alcove family test notes.wasm --tool add_note --inputs 500 --seed 7 --json`,
	}
	cmd.Flags().Uint64Var(&c.Seed, "seed", 1, "seed of the generator")
	cmd.Flags().IntVar(&c.Inputs, "inputs", 0, "number of generated arguments for each tool (default 25)")
	cmd.Flags().StringVar(&c.Tool, "tool", "", "test only this tool, without hooks and jobs")
	cmd.Flags().StringVar(&f.file, "cases", "", "file of cases, a JSON object in each line")
	cmd.Flags().BoolVar(&f.update, "update", false, "update the file of --cases with the actual results")
	h.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		const mostInputs = 100_000
		if c.Inputs < 0 || c.Inputs > mostInputs {
			return &usageError{fmt.Errorf("--inputs is %d: give a number from 1 to %d", c.Inputs, mostInputs)}
		}
		if err := h.check(cmd, args); err != nil {
			return err
		}
		if err := f.check(cmd); err != nil {
			return err
		}
		if h.hook != "" {
			return a.testHook(cmd.Context(), h, args)
		}
		list, err := f.read()
		if err != nil {
			return err
		}
		if c.Module, err = a.moduleOf(cmd.Context(), args[0]); err != nil {
			return err
		}
		box, done, err := a.openSandbox()
		if err != nil {
			return err
		}
		defer done()
		c.Sandbox = box
		if f.file != "" {
			return a.testCases(cmd.Context(), trial.Cases{Sandbox: box, Module: c.Module}, f, list)
		}
		report, err := trial.Test(cmd.Context(), c)
		if err != nil {
			return a.unlessRefused(err)
		}
		if err := a.printConformance(report); err != nil {
			return err
		}
		if report.Failed() {
			return &outcomeError{abi.OutcomeErrorResult, fmt.Errorf("family %s breaks its contract", report.Family)}
		}
		return nil
	}
	return cmd
}

func (a *app) printConformance(r *conform.Report) error {
	if a.asJSON {
		return a.printJSON(r)
	}
	for _, c := range r.Checks {
		switch c.Status {
		case conform.Skip:
			a.printf("skip  %s: %s (%s)\n", terminal.Line(c.Subject), c.Name, terminal.Line(c.Reason))
		default:
			a.printf("%s  %s: %s, %s\n", c.Status, terminal.Line(c.Subject), c.Name, counted(c.Cases, "case"))
		}
		for _, p := range c.Problems {
			a.printf("      %s\n      with %s\n", terminal.Line(p.Message), terminal.Line(p.Case))
		}
	}
	a.printf("\n%-32s %12s %12s %10s %10s %6s\n", "tool", "fuel", "most fuel", "cpu ms", "memory", "calls")
	for _, c := range r.Costs {
		if c.Calls > 0 {
			a.printf("%-32s %12d %12d %10.3f %9dK %6d\n", terminal.Line(c.Tool), c.Fuel, c.MostFuel, milliseconds(c.CPU), c.Memory>>10, c.HostCalls)
		}
	}
	return a.printf("\n%s %s, sha256 %s, seed %d\n", terminal.Line(r.Family), terminal.Line(r.Version), r.Digest, r.Seed)
}
