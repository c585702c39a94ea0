package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/configfile"
	"github.com/alcove-memory/alcove/sdk/client"
)

// pendingError says that a server differs from its configuration file.
type pendingError struct {
	file    string
	changes int
	locked  bool // the server is, and some are of its lock file
}

func (e *pendingError) Error() string {
	if e.locked {
		return fmt.Sprintf("changes: %d; alcove lock apply %s makes those of alcove.lock while no server runs, alcove config apply then the others", e.changes, quoted(e.file))
	}
	if e.changes == 1 {
		return fmt.Sprintf("1 change: alcove config apply %s makes it", quoted(e.file))
	}
	return fmt.Sprintf("%d changes: alcove config apply %s makes them", e.changes, quoted(e.file))
}

func (a *app) configPlanCommand() *cobra.Command {
	return &cobra.Command{
		Use: "plan FILE", Short: "Show how the server differs from a configuration file", Args: arguments(1, 1),
		Long: `Show how the server differs from a configuration file, and change nothing. The exit code is 0 if nothing differs, and 10 if something
does. What the file does not mention is not compared, unless its section has prune: true.`,
		Example: "  alcove config plan alcove.yaml",
		RunE: func(c *cobra.Command, args []string) error {
			return a.asOperator(c.Context(), func(s operator.Server) error {
				changes, _, err := a.planFile(c.Context(), s, args[0])
				if err != nil {
					return err
				}
				if err := a.printPlan(changes); err != nil || len(changes) == 0 {
					return err
				}
				refused := refuseLocked(c.Context(), s, changes)
				if refused != nil {
					a.notef("alcove config apply would refuse this: %v\n", refused)
				}
				return &pendingError{args[0], len(changes), refused != nil}
			})
		},
	}
}

func (a *app) configApplyCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "apply FILE", Short: "Apply a configuration file to the server", Args: arguments(1, 1),
		Long: `Show how the server differs from a configuration file, ask, and change it: names before what refers to them, limits before the keys that they
bound, removals last. It stops at the first failure; the same command goes on from there. A second one changes nothing.
New keys are printed, once. With --json, each change is printed as soon as it is made.`,
		Example: "  alcove config apply alcove.yaml --yes",
		RunE: func(c *cobra.Command, args []string) error {
			return a.asOperator(c.Context(), func(s operator.Server) error { return a.applyFile(c.Context(), s, args[0], yes) })
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "change it without asking")
	return c
}

func (a *app) configExportCommand() *cobra.Command {
	var file string
	c := &cobra.Command{
		Use: "export", Short: "Print the server's configuration as a file that alcove config apply takes", Args: noArguments,
		Long: `Print what alcove config apply can change, as a file that it takes: without secrets, without the flags of alcove serve, and of settings those
of the system and of families.`,
		Example: "  alcove config export -o alcove.yaml",
		RunE: func(c *cobra.Command, _ []string) error {
			return a.asOperator(c.Context(), func(s operator.Server) error { return a.exportFile(c.Context(), s, file) })
		},
	}
	c.Flags().StringVarP(&file, "out", "o", "", "output file (default: standard output)")
	return c
}

func (a *app) exportFile(ctx context.Context, s operator.Server, file string) error {
	f, err := configfile.Of(ctx, s)
	if err != nil {
		return err
	}
	if a.asJSON && file == "" {
		return a.printJSON(f)
	}
	text, err := f.YAML()
	if err != nil {
		return err
	}
	return a.printedOr(file, terminal.Lines(strings.TrimSuffix(string(text), "\n")))
}

// readConfigFile reads a configuration file. Its section server has only flags of alcove serve.
func (a *app) readConfigFile(path string) (*configfile.File, string, error) {
	data, err := readFile(path, configfile.Limit+1) // more is refused by name
	if err != nil {
		return nil, "", err
	}
	f, err := configfile.Read(data, configfile.Resolver{Dir: filepath.Dir(path), Env: os.LookupEnv})
	if err == nil {
		err = a.checkServer(f)
	}
	if err != nil {
		return nil, "", &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return f, configfile.DigestOf(data), nil
}

// planFile compares the server with a file, whose digest it returns too.
func (a *app) planFile(ctx context.Context, s operator.Server, path string) (changes []configfile.Change, digest string, err error) {
	f, digest, err := a.readConfigFile(path)
	if err != nil {
		return nil, "", err
	}
	if changes, err = f.Plan(ctx, s); err != nil {
		return nil, "", fmt.Errorf("compare the server with %s: %w", path, err)
	}
	return changes, digest, nil
}

func (a *app) printPlan(changes []configfile.Change) error {
	if a.asJSON {
		return a.printJSON(changes)
	}
	if len(changes) == 0 {
		return a.notef("the server matches the file\n")
	}
	for _, c := range changes {
		if err := a.printf("%s\n", c); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) applyFile(ctx context.Context, s operator.Server, path string, yes bool) error {
	changes, digest, err := a.planFile(ctx, s, path)
	if err != nil {
		return err
	}
	if err := refuseLocked(ctx, s, changes); err != nil {
		return err
	}
	for _, c := range changes {
		a.notef("%s\n", c)
	}
	if len(changes) > 0 {
		if ok, err := a.agreed(yes); err != nil || !ok {
			return err
		}
	}
	for i, c := range changes {
		if err := a.makeChange(ctx, s, c); err != nil {
			return fmt.Errorf("%d of %d changes were made; %s: %w: fix this, then repeat the command", i, len(changes), c, err)
		}
	}
	if err := a.noteApplied(path, digest); err != nil {
		return err
	}
	if len(changes) == 0 {
		return a.notef("the server matches the file\n")
	}
	return a.notef("made %s\n", counted(len(changes), "change"))
}

// refuseLocked refuses changes of the lock file of a locked server before the first change.
func refuseLocked(ctx context.Context, s operator.Server, changes []configfile.Change) error {
	health, err := operator.Query(ctx, s, operator.GetHealth)
	if err != nil || !health.Locked {
		return err
	}
	for _, c := range changes {
		if c.OfLock {
			return &client.Error{Code: client.Denied, Message: fmt.Sprintf("nothing was changed: the server is locked, and only alcove lock apply changes alcove.lock: %s", c)}
		}
	}
	return nil
}

// madeChange is a change that was made, as JSON.
type madeChange struct {
	configfile.Change
	configfile.Made
}

func (a *app) makeChange(ctx context.Context, s operator.Server, c configfile.Change) error {
	made, err := c.Make(ctx, s)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(madeChange{c, made})
	}
	if made.Secret == "" {
		return nil
	}
	if err := a.printf("%s\n", made.Secret); err != nil {
		return err
	}
	return a.noteKey("The key", c.Name, made.Narrowed)
}
