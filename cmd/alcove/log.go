package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func (a *app) logCommand() *cobra.Command {
	var b browseFlags
	var list, chains bool
	c := &cobra.Command{
		Use: "log EVENT DATA", Short: "Append an event to the immutable log: DATA is JSON or text; - reads standard input",
		Long: "Append an event to the immutable log: DATA is JSON or text; - reads standard input.\n\nWith --list, the command lists the events of the log instead.\n\nA sync also copies the logs of other spaces, which stay separate. --chains lists those of the namespace and verifies each chain; --chain lists the events of one.",
		Example: `  alcove log deployed '{"version": "1.4"}'
  alcove log --list --type deployed
  alcove log --chains
  alcove log --chain hub --agent laptop --since yesterday`,
		Args: func(c *cobra.Command, args []string) error {
			if list || chains || b.chain != "" {
				return noArguments(c, args)
			}
			return arguments(2, 2)(c, args)
		},
	}
	c.Flags().BoolVar(&list, "list", false, "list the events instead, newest first, filtered by the other flags")
	c.Flags().BoolVar(&chains, "chains", false, "list and verify the logs of other spaces instead")
	c.Flags().StringVar(&b.chain, "chain", "", "list the events of this log of another space: its id, or the name of its remote")
	c.MarkFlagsMutuallyExclusive("chains", "chain")
	c.MarkFlagsMutuallyExclusive("chains", "list")
	b.add(c, "events", "newest")
	c.RunE = func(c *cobra.Command, args []string) error {
		if chains {
			return a.listChains(c.Context())
		}
		if list || b.chain != "" {
			return a.list(c, &b, true)
		}
		for _, name := range browseFlagNames() {
			if c.Flags().Changed(name) {
				return &usageError{fmt.Errorf("--%s is for --list: give both, or neither", name)}
			}
		}
		data, err := a.stored(args[1])
		if err != nil {
			return err
		}
		var event struct {
			Sequence  uint64
			Timestamp time.Time
		}
		if printed, err := a.get(c.Context(), "memory_log", fields{"event": args[0], "data": data}, &event); printed || err != nil {
			return err
		}
		return a.printf("logged %s as #%d at %s\n", args[0], event.Sequence, clock(event.Timestamp))
	}
	return a.scoped(c)
}

// listChains prints the logs of other spaces.
func (a *app) listChains(ctx context.Context) error {
	f := fields{"events": true, "chain": "*"}
	if a.scope.namespace != "" {
		f["namespace"] = a.scope.namespace
	}
	var found struct {
		Results []struct {
			Chain, Remote, Fault string
			Agents               []string
			Events, Unchecked    int
			From, Until          time.Time
		}
	}
	if printed, err := a.get(ctx, "memory_search", f, &found); printed || err != nil {
		return err
	}
	for _, r := range found.Results {
		state := "whole"
		switch {
		case r.Fault != "":
			state = "BROKEN: " + r.Fault
		case r.Unchecked > 0:
			state = fmt.Sprintf("intact as far as it was checked: %d events were not checked", r.Unchecked)
		}
		a.printf("%s  %s%s\n    %s from %s to %s, %s\n", r.Chain, a.bold(r.Remote), a.dim(by(strings.Join(r.Agents, ", "))), counted(r.Events, "event"), clock(r.From), clock(r.Until), state)
	}
	return nil
}
