package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

// dryRunFlag adds the flag by which a command only shows what it would change in the lock file.
func dryRunFlag(c *cobra.Command) *bool {
	c.Flags().Bool("diff", false, "show the change of alcove.lock before it is made")
	return c.Flags().Bool("dry-run", false, "show the change of alcove.lock, and change nothing")
}

// announce says on standard error what a change would do to the lock file: how much, or with --diff and --dry-run the difference.
func (a *app) announce(ctx context.Context, p operator.LockProposal) error {
	c, err := call(ctx, a, operator.ProposeChange, p)
	if err != nil {
		return err
	}
	a.noteUnusable(c.Unusable)
	if len(c.Lines) > 0 && !a.inFull {
		return a.notef("alcove.lock changes: %d lines; --diff shows them\n", changedLines(c.Lines))
	}
	return a.showLines(c.Lines)
}

// noteUnusable names the families that a change of the lock file ends.
func (a *app) noteUnusable(list []string) {
	for _, why := range list {
		a.notef("note: family %s\n", why)
	}
}

// changedLines counts the lines of a difference that are added or removed.
func changedLines(difference []string) (n int) {
	for _, line := range difference {
		if strings.HasPrefix(line, "+") || strings.HasPrefix(line, "-") {
			n++
		}
	}
	return n
}
