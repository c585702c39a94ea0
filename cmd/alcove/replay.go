package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/bridge"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator/requestlog"
	"github.com/alcove-memory/alcove/sdk/client"
)

type replayFlags struct {
	since, ofAgent, ofTool string
	apply                  bool
}

// replayOutcome is the outcome of a call that was run again.
type replayOutcome struct {
	Time       time.Time `json:"time"` // of the logged call
	Agent      string    `json:"agent,omitempty"`
	Tool       string    `json:"tool"`
	Skipped    string    `json:"skipped,omitempty"` // why it was not run
	Was        string    `json:"was"`
	Is         string    `json:"is,omitempty"`
	Message    string    `json:"message,omitempty"` // of an error
	Difference string    `json:"difference,omitempty"`
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use: "replay [FILE]", Short: "Run logged calls again, and report differences",
		Long: `Run the calls in the request log of the data directory, or in a file of one, again in their order, and compare the outcomes. A server logs calls
with alcove serve --log-requests. The calls have the rights of the one who replays them: those of the key in ALCOVE_KEY, if it is set. They
are rehearsed and write nothing, unless --apply is given; then a call that was logged with a request id within the last day, and
is replayed by its own agent, writes nothing again, either. Calls whose arguments were withheld, dry runs and repetitions are skipped.`,
		Example: `  alcove replay --since 1h
  alcove replay --since 2026-11-01 --of-agent planner --apply
  alcove replay ~/copy/requests/20261101T120000.000000.jsonl --data ~/copy/data`,
		Args: arguments(0, 1),
		RunE: func(c *cobra.Command, args []string) error { return a.replay(c.Context(), f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.since, "since", "", "replay the calls of the data directory's log from then on, such as 30m, 2d, 2026-11-01 or an instant")
	flags.StringVar(&f.ofAgent, "of-agent", "", "only calls of this agent")
	flags.StringVar(&f.ofTool, "of-tool", "", "only calls of this tool")
	flags.BoolVar(&f.apply, "apply", false, "let the calls write")
	return a.scoped(c)
}

func (a *app) replay(ctx context.Context, f replayFlags, args []string) error {
	dir, err := a.ownDir()
	if err != nil {
		return err
	}
	entries, err := f.entries(dir, args)
	if err != nil {
		return err
	}
	dial, err := a.dialer(owner.Hello{Agent: a.scope.agent})
	if err != nil {
		return err
	}
	c, err := newSession(ctx, bridge.Connect(ctx, dial))
	if err != nil {
		return err
	}
	defer c.Close()
	var list []replayOutcome
	different, skipped := 0, 0
	seen := map[string]bool{}
	for _, e := range entries {
		r, err := f.run(ctx, c, e, seen)
		if err != nil {
			return err
		}
		if r.Difference != "" {
			different++
		}
		if r.Skipped != "" {
			skipped++
		}
		list = append(list, r)
		if !a.asJSON {
			a.printf("%s\n", r.line())
		}
	}
	if a.asJSON {
		return a.printJSON(fields{"calls": list, "different": different, "skipped": skipped, "applied": f.apply})
	}
	return a.notef("%s, %d skipped, %d with another outcome. %s\n", counted(len(list), "call"), skipped, different, map[bool]string{true: "They were applied.", false: "Nothing was written."}[f.apply])
}

// entries reads the calls to replay.
func (f replayFlags) entries(dir string, args []string) (list []requestlog.Entry, err error) {
	switch {
	case len(args) == 1 && f.since != "", len(args) == 0 && f.since == "":
		return nil, &usageError{errors.New("name a file of a request log, or --since for the log of the data directory")}
	case len(args) == 1:
		list, err = requestlog.Read(args[0])
	default:
		since, wrong := sinceOf(f.since, time.Now())
		if wrong != nil {
			return nil, &usageError{wrong}
		}
		list, err = requestlog.ReadSince(owner.RequestsPath(dir), since)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, notFound("no calls were logged in %s: start its server with alcove serve --log-requests", dir)
		}
	}
	return slices.DeleteFunc(list, func(e requestlog.Entry) bool {
		return f.ofAgent != "" && e.Agent != f.ofAgent || f.ofTool != "" && toolName(e.Tool) != toolName(f.ofTool)
	}), err
}

// sinceOf reads a span before now, a date or an instant.
func sinceOf(text string, now time.Time) (time.Time, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 {
			return now.Add(-time.Duration(n * 24 * float64(time.Hour))), nil
		}
	}
	if span, err := time.ParseDuration(text); err == nil && span >= 0 {
		return now.Add(-span), nil
	}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("--since %q: give a span such as 30m or 2d, a date, or an instant such as 2026-11-01T12:00:00Z", text)
}

// skips returns why a call is not run again; empty: it is. seen has the request ids of those before.
func skips(e requestlog.Entry, seen map[string]bool) string {
	id := e.Key + " " + e.Agent + " " + e.RequestID
	again := e.RequestID != "" && seen[id]
	seen[id] = true
	switch {
	case e.Withheld != "":
		return "its arguments are not in the log: " + e.Withheld
	case e.DryRun:
		return "it was a dry run"
	case again:
		return "it repeats an earlier call"
	}
	return ""
}

// run runs a call again.
func (f replayFlags) run(ctx context.Context, c *client.Session, e requestlog.Entry, seen map[string]bool) (replayOutcome, error) {
	r := replayOutcome{Time: e.Time, Agent: e.Agent, Tool: e.Tool, Was: e.Outcome, Skipped: skips(e, seen)}
	if r.Skipped != "" {
		return r, nil
	}
	operation := fields{"method": e.Tool, "params": e.Arguments, "options": fields{"dry_run": !f.apply, "branch": e.Branch, "namespace": e.Namespace}}
	if f.apply && e.RequestID != "" {
		operation["metadata"] = fields{"request_id": e.RequestID}
	}
	answer, err := c.Call(ctx, "memory_operation", operation)
	var failure *client.Error
	if err != nil && !errors.As(err, &failure) {
		return r, err // the server is gone
	}
	var read struct {
		Result json.RawMessage
		Error  *struct {
			Code    client.Code
			Message string
		}
	}
	if err := json.Unmarshal(answer.Structured, &read); err != nil && failure == nil {
		return r, fmt.Errorf("read the answer of %s: %w", e.Tool, err)
	}
	switch {
	case read.Error != nil:
		r.Is, r.Message = classOf(read.Error.Code), read.Error.Message
	case failure != nil:
		r.Is, r.Message = classOf(failure.Code), failure.Message
	default:
		r.Is = requestlog.Succeeded
	}
	switch {
	case r.Is != r.Was:
		r.Difference = "outcome"
	case r.Is == requestlog.Succeeded && e.Result != "" && requestlog.Digest(read.Result) != e.Result:
		r.Difference = "result"
	}
	return r, nil
}

func (r replayOutcome) line() string {
	said := "the same: " + r.Is
	switch {
	case r.Skipped != "":
		said = "skipped: " + r.Skipped
	case r.Difference == "outcome":
		said = fmt.Sprintf("was %s, is %s", r.Was, r.Is)
	case r.Difference == "result":
		said = "another result"
	}
	if r.Message != "" {
		said += ": " + r.Message
	}
	return fmt.Sprintf("%s  %s  %s  %s", r.Time.Format(time.RFC3339), cmp.Or(r.Agent, "-"), r.Tool, said)
}
