package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/author/trial"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
)

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
	flags.StringVar(&t.seed, "seed", "", "file of initial memories: JSON lines, or from alcove export --memories")
	flags.StringArrayVar(&t.config, "config", nil, "configuration, as KEY=JSON; repeatable")
	flags.StringVar(&t.hook, "hook", "", "call a hook instead of a tool: store, stored, merged or session_end")
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
		return &usageError{errors.New("--bare goes with a tool and --limit alone")}
	case t.hook != "" && t.job != "":
		return &usageError{errors.New("use --hook or --job, not both")}
	case (t.hook != "" || t.job != "") && len(args) == 3:
		return &usageError{errors.New("with --hook or --job, give the module and the JSON alone")}
	case t.onData && (t.seed != "" || len(t.config) > 0):
		return &usageError{errors.New("--on-data changes nothing: leave --seed and --config out")}
	case !t.onData && (t.branch != "" || t.namespace != ""):
		return &usageError{errors.New("--branch and --namespace go with --on-data: an empty space has the default ones")}
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

// seeds are the memories that a space begins with.
func (t *trialCall) seeds(ctx context.Context) (list []operator.Memory, err error) {
	if t.seed == "" {
		return nil, nil
	}
	size := 0
	err = readSeed(ctx, t.seed, mostSeed, func(m operator.Memory) error {
		if size += len(m.Key) + len(m.Value); size > mostSeed {
			return &usageError{fmt.Errorf("read %s: its memories are larger than %d bytes: give fewer", t.seed, mostSeed)}
		}
		list = append(list, m)
		return nil
	})
	return list, err
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
		return fmt.Errorf("make a space to throw away: %w", err)
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
		try.Seed, err = t.seeds(ctx)
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
	answer, err := answeredBy(ctx, a, operator.Operator.TryFamily, operator.TrialRequest{Module: try.Module, Tool: try.Tool, Hook: try.Hook, Job: try.Job, Arguments: try.Arguments, Branch: t.branch, Namespace: t.namespace})
	return a.tried(answer.Result, answer.Notes, err)
}

// tried prints what became of a request.
func (a *app) tried(r *sandbox.Result, notes []string, err error) error {
	var refused *sandbox.Refusal
	if errors.As(err, &refused) {
		return a.outcome(&sandbox.Result{Class: refused.Class, Error: &abi.Error{Code: abi.CodeDenied, Message: refused.Error()}})
	}
	if err != nil {
		return err
	}
	for _, note := range notes {
		a.notef("note: %s\n", note)
	}
	return a.outcome(r)
}
