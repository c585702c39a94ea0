package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// browseFlags are the flags of commands that list memories or events.
type browseFlags struct {
	order, after, since, until, asOf, state string
	chain                                   string // a log of another space
	tags, types                             []string
	k                                       int
}

// add adds the flags. Their help calls an item of the list noun.
func (b *browseFlags) add(c *cobra.Command, noun, usual string) {
	flags := c.Flags()
	flags.IntVar(&b.k, "k", 20, "the number of results, at most 50")
	flags.StringVar(&b.order, "order", usual, "newest, oldest, updated, key, importance, accesses or accessed")
	flags.StringVar(&b.after, "after", "", afterUsage)
	flags.StringSliceVar(&b.types, "type", nil, "only "+noun+" of one of these types")
	flags.StringVar(&b.since, "since", "", "only "+noun+" created or changed since this time")
	flags.StringVar(&b.until, "until", "", "only "+noun+" created or changed before this time")
	flags.StringVar(&b.asOf, "as-of", "", "list the memories at this time")
}

// browseFlagNames returns the names of the flags that add adds.
func browseFlagNames() []string {
	return []string{"k", "order", "after", "type", "since", "until", "as-of"}
}

// list prints a page.
func (a *app) list(c *cobra.Command, b *browseFlags, events bool) error {
	f := fields{"order": b.order, "k": b.k, "verbose": true}.set("after", b.after).set("since", b.since).set("until", b.until).
		set("as_of", b.asOf).set("state", b.state).list("tags", b.tags).list("type", b.types).list("agent", a.writers(c))
	if events {
		f.set("chain", b.chain)["events"] = true
	}
	if a.scope.namespace != "" {
		f["namespace"] = a.scope.namespace
	}
	var found struct {
		Results []struct {
			Key, Event, Namespace string
			Sequence              uint64
			Timestamp             time.Time
			Created               string
			Agent                 string
			Value, Data           json.RawMessage
			Snippet               string
		}
		Total int
		Next  string
	}
	if printed, err := a.get(c.Context(), "memory_search", f, &found); printed || err != nil {
		return err
	}
	for _, r := range found.Results {
		name, value := r.Key, r.Value
		if events {
			name, value = fmt.Sprintf("#%d %s", r.Sequence, r.Event), r.Data
		}
		if value != nil {
			r.Snippet = "" // it has no more than the value
		}
		when := clock(r.Timestamp)
		if created, err := time.Parse(createdLayout, r.Created); err == nil && (b.order == "newest" || b.order == "oldest") {
			when = created.Local().Format(createdLayout) // which is what the list goes by
		}
		a.printf("%s  %s%s\n    %s\n", a.dim(when), a.bold(name), a.dim("  "+r.Namespace+by(r.Agent)), oneLine(r.Snippet, value))
	}
	if len(found.Results) == 0 {
		return a.notef("there is nothing to list\n")
	}
	if found.Next != "" {
		return a.notef("%d in all; the next page: --after %s\n", found.Total, found.Next)
	}
	return nil
}

// createdLayout is how answers give the moment at which a memory was first written, if it was written again since.
const createdLayout = "2006-01-02 15:04"

func (a *app) listMemoriesCommand() *cobra.Command {
	var b browseFlags
	c := &cobra.Command{
		Use:   "list",
		Short: "List memories: latest write first, or by key, importance or accesses",
		Example: `  alcove list
  alcove list --agent planner --since yesterday
  alcove list --order importance --tags work --k 5`,
		Args: noArguments,
	}
	b.add(c, "memories", "updated")
	c.Flags().StringSliceVar(&b.tags, "tags", nil, "only memories with all of these tags")
	c.Flags().StringVar(&b.state, "state", "", "active (default), archived, merged or pruned")
	c.RunE = func(c *cobra.Command, _ []string) error { return a.list(c, &b, false) }
	return a.filtersByAgent(a.scoped(c), "memories")
}
