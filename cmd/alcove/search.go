package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) recallCommand() *cobra.Command {
	var asOf string
	c := &cobra.Command{
		Use:   "recall KEY",
		Short: "Print the memory under a key, now or at an earlier time",
		Example: `  alcove recall editor
  alcove recall editor --as-of "1h ago"
  alcove recall editor --as-of v17`,
		Args: arguments(1, 1),
	}
	c.Flags().StringVar(&asOf, "as-of", "", `a time, a date, "1h ago", yesterday, or v12`)
	c.RunE = func(c *cobra.Command, args []string) error {
		var m struct {
			Found bool
			Value json.RawMessage
		}
		printed, err := a.get(c.Context(), "memory_recall", fields{"key": args[0], "verbose": true}.set("as_of", asOf), &m)
		switch {
		case err != nil:
			return err
		case !m.Found:
			return notFound("there is no memory under the key %q here: alcove search finds memories by their content", args[0])
		case printed:
			return nil
		}
		return a.printf("%s\n", shown(m.Value))
	}
	return a.scoped(c)
}

func (a *app) searchCommand() *cobra.Command {
	var tags, types []string
	var asOf, since, until, mode, embedder string
	var k, offset int
	var explain bool
	c := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Search memories in plain words",
		Example: `  alcove search which editor does Ada like
  alcove search deadlines --tags work --k 3`,
		Args: arguments(1, -1),
	}
	flags := c.Flags()
	flags.IntVar(&k, "k", 10, "the number of results, at most 50")
	flags.IntVar(&offset, "offset", 0, "skip this many results")
	flags.StringSliceVar(&tags, "tags", nil, "only memories with all of these tags")
	flags.StringSliceVar(&types, "type", nil, "only memories of one of these types")
	flags.StringVar(&since, "since", "", "only memories created or changed since this time")
	flags.StringVar(&until, "until", "", "only memories created or changed before this time")
	flags.StringVar(&asOf, "as-of", "", "search the memory at this time")
	flags.StringVar(&mode, "mode", "", "the ranking: hybrid, lexical or semantic (default: hybrid if there is an embedder)")
	flags.StringVar(&embedder, "embedder", "", "the embedder to use, if there are several")
	flags.BoolVar(&explain, "explain", false, "explain each score (with --json)")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"query": strings.Join(args, " "), "k": k, "verbose": true}.list("tags", tags).list("type", types).list("agent", a.writers(c)).
			set("since", since).set("until", until).set("as_of", asOf).set("mode", mode).set("embedder", embedder)
		if a.scope.namespace != "" {
			f["namespace"] = a.scope.namespace
		}
		if offset > 0 {
			f["offset"] = offset
		}
		if explain {
			f["explain"] = true
		}
		var found struct {
			Results []struct {
				Namespace, Key, Snippet string
				Agent                   string
				Score                   float64
				Value                   json.RawMessage
			}
			Total int
		}
		if printed, err := a.get(c.Context(), "memory_search", f, &found); printed || err != nil {
			return err
		}
		if len(found.Results) == 0 {
			return a.notef("nothing found\n")
		}
		for i, r := range found.Results {
			a.printf("%2d  %s%s\n    %s\n", offset+i+1, a.bold(r.Key), a.dim(fmt.Sprintf("  %s  %.2f%s", r.Namespace, r.Score, by(r.Agent))), oneLine(r.Snippet, r.Value))
		}
		return nil
	}
	return a.filtersByAgent(a.scoped(c), "memories")
}

// filtersByAgent makes --agent say whose memories a command shows. In the environment, ALCOVE_AGENT says who asks.
func (a *app) filtersByAgent(c *cobra.Command, noun string) *cobra.Command {
	flag := c.Flags().Lookup("agent")
	flag.Usage, flag.DefValue = "only "+noun+" last written by this agent", ""
	return c
}

// writers are the agents whose memories are wanted; none: those of all.
func (a *app) writers(c *cobra.Command) []string {
	if !c.Flags().Changed("agent") {
		return nil
	}
	wanted := a.scope.agent
	a.scope.agent = a.env("ALCOVE_AGENT")
	return []string{wanted}
}

// by names the author of a memory, if it has one.
func by(agent string) string {
	if agent == "" {
		return ""
	}
	return "  " + agent
}
