package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) familyLogsCommand() *cobra.Command {
	r := operator.FollowRequest{}
	c := &cobra.Command{
		Use: "logs NAME", Short: "Show the output and failures of a family since the server started", Args: arguments(1, 1),
		Example: `  alcove family logs notes
  alcove family logs notes -f`,
	}
	c.Flags().BoolVarP(&r.Follow, "follow", "f", false, "follow new lines until Ctrl-C")
	c.Flags().IntVarP(&r.Lines, "lines", "n", 100, "number of latest lines, at most 1000")
	c.RunE = func(c *cobra.Command, args []string) error {
		r.Family = args[0]
		return a.follow(c.Context(), r, func(e operator.FamilyEvent) error {
			if e.Kind == operator.EventEnded && e.Class == abi.ClassOK {
				return nil
			}
			return a.printEvent(e)
		})
	}
	return c
}

// errEnough ends the reading of a stream.
var errEnough = errors.New("enough was read")

func (a *app) familyTraceCommand() *cobra.Command {
	var most int
	c := &cobra.Command{
		Use: "trace NAME", Short: "Trace the host calls of a family", Args: arguments(1, 1),
		Long: `Trace the host calls of a family in subsequent requests: each call with request,
answer and time, the output of the family, and the cost of each request. Requests
and answers are truncated to 8 KiB. They contain memories: keep traces
confidential.`,
		Example: `  alcove family trace notes
  alcove family trace notes --requests 1 --json`,
	}
	c.Flags().IntVar(&most, "requests", 0, "end after this number of requests (default: on Ctrl-C)")
	c.RunE = func(c *cobra.Command, args []string) error {
		if most < 0 {
			return &usageError{errors.New("--requests is below 0: give a number of requests, or leave it out")}
		}
		seen := 0
		return a.follow(c.Context(), operator.FollowRequest{Family: args[0], Calls: true, Follow: true}, func(e operator.FamilyEvent) error {
			if err := a.printEvent(e); err != nil {
				return err
			}
			if e.Kind != operator.EventEnded {
				return nil
			}
			if seen++; seen == most {
				return errEnough
			}
			return nil
		})
	}
	return c
}

// follow reads the events of a family as they happen.
func (a *app) follow(ctx context.Context, r operator.FollowRequest, each func(operator.FamilyEvent) error) error {
	return a.events(ctx, func(ctx context.Context, w io.Writer) error {
		return receive(ctx, a, operator.FollowFamily, r, w)
	}, each)
}

// events reads the events that a stream writes. An error of each ends the stream; errEnough is a success.
func (a *app) events(ctx context.Context, stream func(context.Context, io.Writer) error, each func(operator.FamilyEvent) error) error {
	reading, stop := context.WithCancel(ctx)
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := stream(reading, in)
		in.CloseWithError(err)
		ended <- err
	}()
	var err error
	for lines := json.NewDecoder(out); err == nil; {
		var e operator.FamilyEvent
		if err = lines.Decode(&e); err == nil {
			err = each(e)
		}
		if err == nil && a.out.Closed() {
			err = errEnough
		}
	}
	stop() // it may be waiting for an event that never comes
	out.CloseWithError(err)
	if said := <-ended; errors.Is(err, io.EOF) {
		err = said
	}
	if errors.Is(err, errEnough) || ctx.Err() != nil {
		return nil
	}
	return err
}

// printEvent prints an event in a line, or in a few.
func (a *app) printEvent(e operator.FamilyEvent) error {
	if a.asJSON {
		return a.printLine(e)
	}
	at := e.At.Local().Format("15:04:05.000")
	switch e.Kind {
	case operator.EventCall:
		answer := e.Answer
		if e.Text != "" {
			answer = "failed: " + e.Text
		}
		return a.printf("%s  %s #%d  %s %s\n    -> %s (%.3f ms)\n", at, e.What, e.Request, e.Op, terminal.Indented(e.Sent), terminal.Indented(answer), e.TookMS)
	case operator.EventEnded:
		how := ""
		if e.Interpreted {
			how = " interpreted"
		}
		a.printf("%s  %s #%d  %s in %.3f ms%s, fuel %d, %d KiB of memory, %d host calls\n", at, e.What, e.Request, e.Class, e.TookMS, how, e.Fuel, e.Memory>>10, e.HostCalls)
		if e.Text != "" {
			a.printf("    %s\n", terminal.Indented(e.Text))
		}
		if e.Trace != "" {
			return a.printf("    %s\n", terminal.Indented(strings.TrimSpace(e.Trace)))
		}
		return nil
	case operator.EventNote:
		return a.printf("%s\n", terminal.Indented(e.Text))
	}
	return a.printf("%s  %s #%d  %s\n", at, e.What, e.Request, terminal.Indented(e.Text))
}

func (a *app) familyStatsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "stats [NAME]", Short: "Show calls, outcomes, time, fuel, memory and host calls of families", Args: arguments(0, 1),
		Example: `  alcove family stats
  alcove family stats notes --json`,
		RunE: func(c *cobra.Command, args []string) error {
			r := operator.FamilyName{Family: strings.Join(args, "")}
			list, err := call(c.Context(), a, operator.GetFamilyStats, r)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				return a.printf("no family was called since the server started\n")
			}
			for _, s := range list {
				a.printf("%s  %s\n", a.bold(s.Family), costText(s.Cost))
				for _, b := range s.Spent {
					a.printf("  spent %s\n", b)
				}
				for _, what := range slices.Sorted(maps.Keys(s.By)) {
					if r.Family != "" {
						a.printf("  %s: %s\n", what, costText(s.By[what]))
					}
				}
			}
			return nil
		},
	}
}

// costText is what requests cost, in one line.
func costText(c operator.FamilyCost) string {
	var classes []string
	for _, class := range slices.Sorted(maps.Keys(c.Classes)) {
		classes = append(classes, fmt.Sprintf("%s %d", class, c.Classes[class]))
	}
	if c.Requests == 0 {
		return "no requests"
	}
	how := ""
	if c.Interpreted > 0 {
		how = fmt.Sprintf(", %d of them interpreted", c.Interpreted)
	}
	return fmt.Sprintf("%d requests (%s)%s, %.3f ms each and %.3f at most, fuel %d each, %d KiB of memory at most, %.1f host calls each", c.Requests, strings.Join(classes, ", "), how,
		c.TimeMS/float64(c.Requests), c.SlowestMS, c.Fuel/c.Requests, c.Memory>>10, float64(c.HostCalls)/float64(c.Requests))
}
