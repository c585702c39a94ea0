package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

func (a *app) rootCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "root", Short: "Manage the directories that can be granted to families",
		Long: `Register directories in which families can read and write files. A family can use one once it is granted file.read or
file.write for its name. Symbolic links, devices, hard links and names that begin with a dot are refused.
Callers need rights to every namespace, or to the one of --namespace.`,
	}
	c.AddCommand(a.rootAddCommand(), a.rootListCommand(), a.rootRemoveCommand())
	return c
}

func (a *app) rootAddCommand() *cobra.Command {
	var r operator.Root
	c := &cobra.Command{
		Use: "add NAME DIR", Short: "Add a directory", Args: arguments(2, 2),
		Example: `  alcove root add vault ~/notes
  alcove family grant vault file.read=vault file.write=vault`,
	}
	flags := c.Flags()
	flags.BoolVar(&r.ReadOnly, "read-only", false, "read-only")
	flags.StringVar(&r.Namespace, "namespace", "", "the namespace that a caller needs a right to (default: every one)")
	flags.Int64Var(&r.MaxBytes, "max-bytes", 0, "the largest total size of its files (default: 1 GiB)")
	dryRun := dryRunFlag(c)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		if r.Dir, err = directory(args[1]); err != nil {
			return &usageError{err}
		}
		return a.setRoot(c.Context(), operator.RootRequest{Name: args[0], Root: &r}, *dryRun)
	}
	return c
}

// directory returns the absolute path of a directory, without symbolic links: what they lead to is named once, by the operator.
func directory(name string) (string, error) {
	path, err := filepath.Abs(name)
	if err != nil {
		return "", fmt.Errorf("find the directory: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no directory %s: make it with mkdir -p %s, then repeat the command", path, quoted(path))
	}
	if err != nil {
		return "", fmt.Errorf("find the directory: %w", err)
	}
	return real, nil
}

func (a *app) rootListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the directories", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListRoots)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, name := range slices.Sorted(maps.Keys(list)) {
				a.printf("%s  %s%s\n", name, list[name].Dir, described(list[name]))
			}
			return nil
		},
	}
}

func described(r operator.Root) (s string) {
	if r.ReadOnly {
		s += "  read-only"
	}
	if r.Namespace != "" {
		s += "  for " + r.Namespace
	}
	return s
}

func (a *app) rootRemoveCommand() *cobra.Command {
	c := &cobra.Command{Use: "remove NAME", Short: "Unregister a directory; its files stay", Args: arguments(1, 1)}
	dryRun := dryRunFlag(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		return a.setRoot(c.Context(), operator.RootRequest{Name: args[0]}, *dryRun)
	}
	return c
}

func (a *app) setRoot(ctx context.Context, r operator.RootRequest, dryRun bool) error {
	if err := a.announce(ctx, operator.LockProposal{Root: &r}); err != nil || dryRun {
		return err
	}
	return command(ctx, a, operator.SetRoot, r)
}
