package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
)

func (a *app) historyCommand() *cobra.Command {
	var limit int
	var asOf string
	c := &cobra.Command{
		Use: "history [KEY]", Short: "List the versions of a memory, newest first; without KEY, show the age of the oldest version", Args: arguments(0, 1),
	}
	c.Flags().IntVar(&limit, "limit", 0, "the number of versions")
	c.Flags().StringVar(&asOf, "as-of", "", "only versions up to this time")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"verbose": true}.set("as_of", asOf)
		if limit > 0 {
			f["limit"] = limit
		}
		if len(args) == 1 {
			f["key"] = args[0]
		}
		var h struct {
			Versions, Elsewhere []historyRow
			Branch              string
			Oldest, Latest      *time.Time
		}
		if printed, err := a.get(c.Context(), "memory_history", f, &h); printed || err != nil {
			return err
		}
		if len(args) == 0 {
			return a.printExtent(h.Branch, h.Oldest, h.Latest)
		}
		rows := append(h.Versions, h.Elsewhere...)
		if len(h.Elsewhere) > 0 { // clocks of several machines order them; what is true now stays first
			slices.SortStableFunc(rows[min(1, len(h.Versions)):], func(a, b historyRow) int { return b.written().Compare(a.written()) })
		}
		for _, v := range rows {
			a.printHistoryRow(v)
		}
		if len(rows) == 0 {
			return notFound("there is no memory under the key %q here", args[0])
		}
		return nil
	}
	return a.scoped(c)
}

// historyRow is a version in a history.
type historyRow struct {
	Version   uint64 // 0: as_of does not show it
	Timestamp time.Time
	Origin    *struct {
		Space     string
		Version   uint64
		Timestamp time.Time
	}
	Deleted bool
	Purged  string
	Agent   string
	Value   json.RawMessage
}

// written is when a version was written, wherever that was.
func (r historyRow) written() time.Time {
	if r.Origin != nil {
		return r.Origin.Timestamp
	}
	return r.Timestamp
}

func (a *app) printHistoryRow(r historyRow) {
	what, version, from := terminal.Line(oneLine("", r.Value)), "-", ""
	switch {
	case r.Deleted:
		what = a.dim("(forgotten)")
	case r.Purged != "" && r.Version == 0:
		what = a.dim("(purged)")
	}
	if r.Version > 0 {
		version = fmt.Sprintf("v%d", r.Version)
	}
	if r.Origin != nil {
		from = fmt.Sprintf(" from %s v%d", terminal.Line(r.Origin.Space[:min(len(r.Origin.Space), 8)]), r.Origin.Version)
	}
	a.printf("%-6s %s%s%s  %s\n", version, a.dim(clock(r.written())), a.dim(by(r.Agent)), a.dim(from), what)
}

func (a *app) printExtent(branch string, oldest, latest *time.Time) error {
	if oldest == nil || latest == nil || oldest.IsZero() {
		return a.printf("branch %s is empty\n", branch)
	}
	return a.printf("branch %s: from %s to %s\n", branch, clock(*oldest), clock(*latest))
}
