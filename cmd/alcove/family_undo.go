package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) familyUndoCommand() *cobra.Command {
	var r operator.UndoRequest
	since := ""
	c := &cobra.Command{
		Use: "undo [CALL]", Short: "Revert the writes of a family",
		Long: `Show the writes of one call, or of a family since a time. With --apply, revert
them on every branch: an entry whose current content is the family's gets its
earlier content back. Later changes by others are kept and listed, and so are
writes that cannot be reverted: log events, counters, external effects, and
commits older than the retained history.

alcove audit tail shows the ids of calls. An undo has an id, too, by which it can
be undone.`,
		Example: `  alcove family undo 01JD3M6T3Q
  alcove family undo --family notes --since 2h --apply`,
		Args: arguments(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.Call = args[0]
			}
			if (r.Call == "") == (since == "") || since != "" && r.Family == "" {
				return &usageError{errors.New("name a call, or --family and --since")}
			}
			if since != "" {
				var err error
				if r.Since, err = sinceOf(since, time.Now()); err != nil {
					return &usageError{err}
				}
			}
			done, err := call(c.Context(), a, operator.UndoFamily, r)
			if err != nil {
				return err
			}
			return a.printUndone(r, done)
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Family, "family", "", "name of the family")
	flags.StringVar(&since, "since", "", "start, as 30m, 2d, 2026-11-01 or an RFC 3339 time")
	flags.StringVar(&r.Branch, "branch", "", "branch (default: all)")
	flags.BoolVar(&r.Apply, "apply", false, "revert the writes")
	return c
}

func (a *app) printUndone(r operator.UndoRequest, done operator.Undone) error {
	if a.asJSON {
		return a.printJSON(done)
	}
	for _, e := range done.Reverted {
		to := fmt.Sprintf("as of v%d", e.To)
		if e.Deletes {
			to = "deleted"
		}
		a.printf("revert  %s, written at v%d: %s\n", reversed(e), e.Written, to)
	}
	for _, e := range done.Kept {
		a.printf("keep    %s, written at v%d: %s\n", reversed(e), e.Written, e.Why)
	}
	for _, left := range done.Left {
		a.printf("not reverted: %s\n", left)
	}
	a.printf("%s, %s to revert, %d kept, %d as they were before\n", counted(done.Commits, "commit"), counted(len(done.Reverted), "entry"), len(done.Kept), done.Already)
	switch {
	case done.Undo != "":
		return a.printf("reverted; alcove family undo %s undoes that\n", done.Undo)
	case !r.Apply && len(done.Reverted) > 0:
		return a.notef("Nothing was written: repeat it with --apply.\n")
	}
	return nil
}

func reversed(e operator.Reversal) string {
	return fmt.Sprintf("%s %s, namespace %s, branch %s", cmp.Or(e.Collection, "memory"), e.Key, e.Namespace, cmp.Or(e.Branch, "all"))
}
