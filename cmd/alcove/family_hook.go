package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/family/author/cases"
	"github.com/alcove-memory/alcove/host/family/author/trial"
)

// hookFlags ask a hook as a case of a file does.
type hookFlags struct {
	hook, seed string
}

// hookUsage says what --hook does.
const hookUsage = "this hook with the request JSON: store, stored, merged, session_end, rank or embed"

func (f *hookFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.hook, "hook", "", "ask "+hookUsage)
	c.Flags().StringVar(&f.seed, "seed-file", "", "with --hook: "+seedUsage)
}

// check refuses flags and arguments that do not go together.
func (f *hookFlags) check(c *cobra.Command, args []string) error {
	switch {
	case f.hook == "" && f.seed != "":
		return &usageError{errors.New("--seed-file goes with --hook: each case of --cases has its own seed")}
	case f.hook == "":
		return f.checkRequest(args)
	}
	for _, name := range []string{"cases", "update", "seed", "inputs", "tool"} {
		if c.Flags().Changed(name) {
			return &usageError{fmt.Errorf("--hook asks one hook with one request: leave --%s out", name)}
		}
	}
	return nil
}

// checkRequest refuses a request of no hook.
func (f *hookFlags) checkRequest(args []string) error {
	if f.hook == "" && len(args) > 1 {
		return &usageError{errors.New("the JSON is the request of a hook: name the hook with --hook")}
	}
	return nil
}

// question is the case that asks the hook.
func (a *app) question(ctx context.Context, f hookFlags, args []string) (one cases.Case, err error) {
	var request json.RawMessage
	if len(args) > 1 {
		if request, err = a.object(args[1]); err != nil {
			return one, err
		}
	}
	begin, err := seedOf(ctx, f.seed)
	if err != nil {
		return one, err
	}
	if one, err = cases.OfHook(abi.Hook(f.hook), request, begin); err != nil {
		return one, &usageError{err}
	}
	return one, nil
}

// testHook asks a hook of a module, a source or a project, and prints its answer.
func (a *app) testHook(ctx context.Context, f hookFlags, args []string) error {
	one, err := a.question(ctx, f, args)
	if err != nil {
		return err
	}
	module, err := a.moduleOf(ctx, args[0])
	if err != nil {
		return err
	}
	box, done, err := a.openSandbox()
	if err != nil {
		return err
	}
	defer done()
	got, err := trial.Cases{Sandbox: box, Module: module}.Run(ctx, one)
	if err != nil {
		return a.unlessRefused(err)
	}
	if e := got[0].Error; e != nil {
		return &outcomeError{abi.OutcomeErrorResult, fmt.Errorf("hook %s: %s: %s", one.Hook, e.Code, e.Message)}
	}
	h, err := answerOf(one.Hook, got[0].Answer)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(h)
	}
	return a.printHookAnswer(h, one.Request)
}

// hookAnswer is what a hook answered, with what its author looks at first.
type hookAnswer struct {
	Hook   abi.Hook        `json:"hook"`
	Answer json.RawMessage `json:"answer"`
	Order  []int           `json:"order,omitempty"` // of rank: the candidates by their numbers, from 1 on, the best first
	Count  *int            `json:"count,omitempty"` // of embed: vectors
	Width  *int            `json:"width,omitempty"` // of each
	Norms  []float64       `json:"norms,omitempty"` // their lengths

	scores []float32
}

func answerOf(hook abi.Hook, answer json.RawMessage) (h hookAnswer, err error) {
	h = hookAnswer{Hook: hook, Answer: answer}
	switch hook {
	case abi.HookRank:
		err = json.Unmarshal(answer, &h.scores)
		h.Order = orderOf(h.scores)
	case abi.HookEmbed:
		var vectors [][]float32
		err = json.Unmarshal(answer, &vectors)
		h.measure(vectors)
	}
	if err != nil {
		return h, fmt.Errorf("read the answer of hook %s: %w", hook, err)
	}
	return h, nil
}

// orderOf are the numbers of candidates, from 1 on, the best first. Equal ones stay in their order, as in a search.
func orderOf(scores []float32) []int {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i + 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b-1], scores[a-1]) })
	return order
}

func (h *hookAnswer) measure(vectors [][]float32) {
	count, width := len(vectors), 0
	for _, v := range vectors {
		sum := 0.0
		for _, x := range v {
			sum += float64(x) * float64(x)
		}
		width, h.Norms = len(v), append(h.Norms, math.Sqrt(sum))
	}
	h.Count, h.Width = &count, &width
}

// printHookAnswer prints what a hook answered to a request.
func (a *app) printHookAnswer(h hookAnswer, request json.RawMessage) error {
	switch h.Hook {
	case abi.HookRank:
		return a.printOrder(h, request)
	case abi.HookEmbed:
		return a.printVectors(h, request)
	}
	return a.printf("%s\n", shown(h.Answer))
}

// shownOfText is how much of a text or candidate a line of an answer shows, in bytes.
const shownOfText = 60

func (a *app) printOrder(h hookAnswer, request json.RawMessage) error {
	var asked struct {
		Candidates []json.RawMessage `json:"candidates"`
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return fmt.Errorf("read the candidates: %w", err)
	}
	a.printf("%5s  %9s  %12s\n", "place", "candidate", "score")
	for i, n := range h.Order {
		a.printf("%5d  %9d  %12.6g  %s\n", i+1, n, h.scores[n-1], terminal.Line(beginning(string(asked.Candidates[n-1]), shownOfText)))
	}
	return nil
}

func (a *app) printVectors(h hookAnswer, request json.RawMessage) error {
	var asked struct {
		Texts []string `json:"texts"`
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		return fmt.Errorf("read the texts: %w", err)
	}
	a.printf("%d vectors of %d numbers\n%5s  %12s\n", *h.Count, *h.Width, "text", "norm")
	for i, norm := range h.Norms {
		a.printf("%5d  %12.6g  %s\n", i+1, norm, terminal.Line(beginning(asked.Texts[i], shownOfText)))
	}
	return nil
}
