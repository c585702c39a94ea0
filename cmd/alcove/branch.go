package main

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/sdk/client"
)

// branchTool is the tool behind all commands on branches.
const branchTool = "memory_branch"

func (a *app) branchCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "branch",
		Short: "Fork, compare and merge branches",
		Long: `Fork, compare and merge branches of the memory.

alcove branch switch sets the branch of later commands, and records it in cli.json of the data directory.
It does not affect MCP clients: their sessions begin on the branch default, or on the one of alcove mcp --branch.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error { return a.listBranches(c.Context()) },
	}
	c.AddCommand(a.listCommand(), a.createCommand(), a.forkCommand(), a.switchCommand(), a.diffCommand(), a.mergeCommand(), a.deleteCommand(), a.restoreBranchCommand())
	return c
}

func (a *app) listCommand() *cobra.Command {
	var deleted bool
	c := &cobra.Command{
		Use: "list", Short: "List the branches; * marks the current one", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if deleted {
				return a.listDeleted(c.Context())
			}
			return a.listBranches(c.Context())
		},
	}
	c.Flags().BoolVar(&deleted, "deleted", false, "list the deleted ones that can be restored")
	return c
}

// listDeleted prints the deleted branches, with the moments of their deletion.
func (a *app) listDeleted(ctx context.Context) error {
	var answer struct {
		Branches []struct {
			Name    string
			Deleted time.Time
		}
	}
	if printed, err := a.get(ctx, branchTool, fields{"action": "list", "deleted": true}, &answer); printed || err != nil {
		return err
	}
	for _, b := range answer.Branches {
		if err := a.printf("%s  %s\n", b.Name, a.dim("deleted "+clock(b.Deleted))); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) restoreBranchCommand() *cobra.Command {
	var as string
	c := &cobra.Command{Use: "restore NAME", Short: "Restore a deleted branch", Args: arguments(1, 1)}
	c.Flags().StringVar(&as, "as", "", "its new name (default: the one it had)")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"action": "restore", "name": args[0]}.set("as", as)
		return a.branchDone(c.Context(), f, "restored %s\n", cmp.Or(as, args[0]))
	}
	return c
}

func (a *app) listBranches(ctx context.Context) error {
	var answer struct {
		Branches []struct {
			Name, Parent string
			Created      time.Time
		}
	}
	if printed, err := a.get(ctx, branchTool, fields{"action": "list", "verbose": true}, &answer); printed || err != nil {
		return err
	}
	current, err := a.branch()
	if err != nil {
		return err
	}
	if current == "" {
		current = "default"
	}
	width := 0
	for _, b := range answer.Branches {
		width = max(width, len(b.Name))
	}
	for _, b := range answer.Branches {
		mark, from := " ", ""
		if b.Name == current {
			mark = "*"
		}
		if b.Parent != "" {
			from = "from " + b.Parent
		}
		if err := a.printf("%s %-*s  %s\n", mark, width, b.Name, a.dim(clock(b.Created)+"  "+from)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) createCommand() *cobra.Command {
	c := &cobra.Command{Use: "create NAME", Short: "Create an empty branch", Args: arguments(1, 1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.branchDone(c.Context(), fields{"action": "create", "name": args[0], "verbose": true}, "created %s, which is empty\n", args[0])
	}
	return c
}

func (a *app) forkCommand() *cobra.Command {
	var from, asOf string
	c := &cobra.Command{
		Use: "fork NAME", Short: "Fork a branch in constant time; its changes stay separate", Args: arguments(1, 1),
	}
	c.Flags().StringVar(&from, "from", "", "the branch to fork (default: the current one)")
	c.Flags().StringVar(&asOf, "as-of", "", "fork its state at this moment")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"action": "fork", "name": args[0], "verbose": true}.set("source", from).set("as_of", asOf)
		return a.branchDone(c.Context(), f, "forked %s: alcove branch switch %s\n", args[0], args[0])
	}
	return a.scoped(c)
}

func (a *app) switchCommand() *cobra.Command {
	c := &cobra.Command{Use: "switch NAME", Short: "Set the branch of later commands", Args: arguments(1, 1)}
	c.RunE = func(c *cobra.Command, args []string) error {
		file, err := a.settingsFile()
		if err != nil {
			return err
		}
		a.scope.branch = "default" // the one left behind may be gone
		var answer json.RawMessage
		printed, err := a.get(c.Context(), branchTool, fields{"action": "switch", "name": args[0]}, &answer)
		if err != nil {
			return err
		}
		if err := writeSettings(file, settings{Branch: args[0]}); err != nil || printed {
			return err
		}
		return a.printf("switched to %s\n", args[0])
	}
	return c
}

func (a *app) deleteCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{Use: "delete NAME", Short: "Delete a branch, unless it has unmerged changes; branch restore brings it back", Args: arguments(1, 1)}
	c.Flags().BoolVar(&force, "force", false, "also delete its unmerged changes")
	c.RunE = func(c *cobra.Command, args []string) error {
		file, err := a.settingsFile()
		if err != nil {
			return err
		}
		s, err := readSettings(file)
		if err != nil {
			return err
		}
		a.scope.branch = "default" // the session must not be on what it deletes
		f := fields{"action": "delete", "name": args[0]}
		if force {
			f["force"] = true
		}
		said := "deleted %s\n"
		if s.Branch == args[0] {
			said = "deleted %s, switched to default\n"
		}
		if err := a.branchDone(c.Context(), f, said, args[0]); err != nil || s.Branch != args[0] {
			return err
		}
		return writeSettings(file, settings{})
	}
	return c
}

// branchDone calls the tool and says, without --json, that it is done.
func (a *app) branchDone(ctx context.Context, f fields, format string, args ...any) error {
	if printed, err := a.get(ctx, branchTool, f, nil); printed || err != nil {
		return err
	}
	return a.printf(format, args...)
}

// difference is a key that two branches hold differently.
type difference struct {
	Namespace, Collection, Key, Clash string
	Change                            string // added, changed or removed
}

func (a *app) diffCommand() *cobra.Command {
	var after string
	c := &cobra.Command{Use: "diff OTHER", Short: "Show the differences between another branch and the current one", Args: arguments(1, 1)}
	c.Flags().StringVar(&after, "after", "", afterUsage)
	c.RunE = func(c *cobra.Command, args []string) error {
		var d struct {
			Summary, Next string
			Differences   []difference
		}
		f := fields{"action": "diff", "compare": args[0], "verbose": true}.set("after", after)
		if printed, err := a.get(c.Context(), branchTool, f, &d); printed || err != nil {
			return err
		}
		a.printDifferences(d.Differences)
		if err := a.printf("%s\n", d.Summary); err != nil {
			return err
		}
		return a.nextDifferences(d.Next)
	}
	return a.scoped(c)
}

const afterUsage = "continue the list: the last line of the previous page"

// nextDifferences says how a list goes on.
func (a *app) nextDifferences(next string) error {
	if next == "" {
		return nil
	}
	return a.notef("there is more; the next page: --after %s\n", next)
}

func (a *app) printDifferences(differences []difference) {
	for _, d := range differences {
		sign := "~"
		switch d.Change {
		case "added":
			sign = "+"
		case "removed", "deleted":
			sign = "-"
		}
		clash := ""
		if d.Clash != "" {
			clash = "  both sides changed it: " + d.Clash
		}
		place := d.Namespace
		if d.Collection != "" {
			place += "  " + d.Collection
		}
		a.printf("%s %s  %s%s\n", sign, a.bold(d.Key), a.dim(place), clash)
	}
}

func (a *app) mergeCommand() *cobra.Command {
	var into, strategy, after string
	var preview bool
	var seen uint64
	c := &cobra.Command{Use: "merge SOURCE", Short: "Merge the changes of another branch into the current one", Args: arguments(1, 1)}
	c.Flags().StringVar(&into, "into", "", "the branch to change (default: the current one)")
	c.Flags().StringVar(&strategy, "strategy", "", "how to resolve conflicts: strict, source, target, newest, fields (default strict: change nothing)")
	c.Flags().BoolVar(&preview, "preview", false, "show the result, change nothing")
	c.Flags().StringVar(&after, "after", "", "with --preview: "+afterUsage)
	c.Flags().Uint64Var(&seen, "seen", 0, "for a proposal of several calls: the seen of branch diff; merges nothing if calls added to it since")
	c.RunE = func(c *cobra.Command, args []string) error {
		f := fields{"action": "merge", "source": args[0], "verbose": true}.set("target", into).set("strategy", strategy).set("after", after)
		if preview {
			f["preview"] = true
		}
		if seen > 0 {
			f["seen"] = seen
		}
		var m struct {
			Summary, Next        string
			Unresolved           int
			Differences, Clashes []difference
		}
		printed, err := a.get(c.Context(), branchTool, f, &m)
		if err != nil {
			return err
		}
		if m.Unresolved > 0 && !preview {
			a.printDifferences(m.Clashes)
			return &client.Error{Code: client.Conflict, Message: m.Summary}
		}
		if printed {
			return nil
		}
		a.printDifferences(m.Differences)
		a.printDifferences(m.Clashes)
		if err := a.printf("%s\n", m.Summary); err != nil || !preview {
			return err
		}
		return a.nextDifferences(m.Next)
	}
	return a.scoped(c)
}
