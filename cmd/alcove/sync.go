package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/operator"
)

// firstRemote is the name of the remote that a clone has.
const firstRemote = "origin"

func (a *app) remoteCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "remote", Short: "Manage the servers that this memory synchronises with",
		Long: `Manage the servers with which alcove pull, push and sync exchange memories. The key stays in its file and is read for each exchange.`,
	}
	c.AddCommand(a.remoteAddCommand(), a.remoteSetCommand(), a.remoteListCommand(), a.remoteRemoveCommand(), a.remoteStatusCommand())
	return c
}

// remoteFlags are flags of what is kept of a remote.
func remoteFlags(c *cobra.Command, r *operator.Remote) {
	c.Flags().StringSliceVar(&r.Never, "never", nil, "namespaces that never leave this machine, such as project/secret or private/*")
	strategyFlag(c, &r.Strategy, "newest")
	historyFlag(c, &r.History, "newest")
}

func historyFlag(c *cobra.Command, history *operator.RemoteHistory, usual string) {
	c.Flags().StringVar((*string)(history), "history", "", "which versions travel: newest, or all, with their times and authors (default: "+usual+")")
}

func strategyFlag(c *cobra.Command, strategy *operator.RemoteStrategy, usual string) {
	c.Flags().StringVar((*string)(strategy), "strategy", "", "how to resolve conflicts: newest, fields, source (the sender's side), target (the receiver's), strict (not at all) (default: "+usual+")")
}

func (a *app) remoteAddCommand() *cobra.Command {
	var r operator.Remote
	c := &cobra.Command{
		Use: "add NAME URL", Short: "Add a server to synchronise with", Args: arguments(2, 2),
		Example: `  alcove remote add hub https://memory.example:9742 --key-file ~/.config/alcove/hub.key
  alcove remote add hub https://memory.example:9742 --key-file hub.key --ca-file hub.pem --never project/secret`,
		RunE: func(c *cobra.Command, args []string) error {
			r.Name, r.URL = args[0], args[1]
			if err := a.remoteFiles(&r); err != nil {
				return err
			}
			if err := command(c.Context(), a, operator.AddRemote, r); err != nil {
				return err
			}
			return a.notef("alcove sync %s exchanges memories with it.\n", r.Name)
		},
	}
	remoteFlags(c, &r)
	return c
}

func (a *app) remoteSetCommand() *cobra.Command {
	r, history, strategy := operator.RemoteChange{}, operator.RemoteHistory(""), operator.RemoteStrategy("")
	c := &cobra.Command{
		Use: "set NAME", Short: "Change the settings of a server", Args: arguments(1, 1),
		Example: `  alcove remote set hub --history all`,
		RunE: func(c *cobra.Command, args []string) error {
			r.Name = args[0]
			if c.Flags().Changed("history") {
				r.History = &history
			}
			if c.Flags().Changed("strategy") {
				r.Strategy = &strategy
			}
			if r.History == nil && r.Strategy == nil {
				return &usageError{errors.New("say what to change: --history or --strategy")}
			}
			return command(c.Context(), a, operator.SetRemote, r)
		},
	}
	historyFlag(c, &history, "as it is")
	strategyFlag(c, &strategy, "as it is")
	return c
}

// remoteFiles sets the files of a remote, which the server reads later, from wherever it runs.
func (a *app) remoteFiles(r *operator.Remote) (err error) {
	if a.elsewhere.keyFile == "" && a.env("ALCOVE_KEY") != "" {
		return &usageError{errors.New("the key of a remote must be in a file, which is read for each exchange: name it with --key-file")}
	}
	for _, file := range []struct{ from, to *string }{{&a.elsewhere.keyFile, &r.KeyFile}, {&a.elsewhere.caFile, &r.CAFile}} {
		if *file.from == "" {
			continue
		}
		if *file.to, err = filepath.Abs(*file.from); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) remoteListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the servers to synchronise with", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := query(c.Context(), a, operator.ListRemotes)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(list)
			}
			for _, r := range list {
				a.printf("%s  %s%s%s\n", r.Name, r.URL, histories(r.History), withheld(r.Never))
			}
			return nil
		},
	}
}

// histories tells which versions travel, unless these are the newest alone.
func histories(history operator.RemoteHistory) string {
	if history == "" || history == "newest" {
		return ""
	}
	return "  history " + string(history)
}

func withheld(never []string) string {
	if len(never) == 0 {
		return ""
	}
	return "  never " + strings.Join(never, ",")
}

func (a *app) remoteRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a server; memories from it stay", Args: arguments(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return command(c.Context(), a, operator.RemoveRemote, operator.RemoteName{Name: args[0]})
		},
	}
}

func (a *app) remoteStatusCommand() *cobra.Command {
	var r operator.RemoteRequest
	c := &cobra.Command{
		Use: "status [NAME]", Short: "Show how this memory and a server differ", Args: arguments(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			r.Remote = strings.Join(args, "")
			s, err := call(c.Context(), a, operator.GetRemoteStatus, r)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(s)
			}
			return a.printRemoteStatus(s)
		},
	}
	exchangeFlags(c, &r)
	return c
}

func (a *app) printRemoteStatus(s operator.RemoteStatus) error {
	a.printf("%s  %s  branch %s%s%s\n", s.Name, s.URL, s.Branch, histories(s.History), withheld(s.Never))
	if s.Error != "" {
		return a.printf("  not reached: %s\n", s.Error)
	}
	more := ""
	if s.More {
		more = " or more"
	}
	a.printf("  to pull %d%s, to push %d%s\n", s.ToPull, more, s.ToPush, more)
	if s.Waiting {
		a.printf("  an exchange was interrupted: the next one continues it\n")
	}
	return nil
}

// exchangeFlags are flags of what is exchanged.
func exchangeFlags(c *cobra.Command, r *operator.RemoteRequest) {
	flags := c.Flags()
	flags.StringVar(&r.Branch, "branch", "", "the branch of both sides (default: default)")
	flags.StringSliceVar(&r.Namespaces, "namespace", nil, "only these namespaces, such as notes or team/*")
	flags.StringSliceVar(&r.Never, "never", nil, "exclude these namespaces, in addition to those of the remote")
	strategyFlag(c, &r.Strategy, "that of the remote, or newest")
	historyFlag(c, &r.History, "that of the remote, or newest")
}

func (a *app) pullCommand() *cobra.Command {
	return a.exchangeCommand("pull", "Fetch changes from a server", operator.RemoteRequest{Pull: true}, false)
}

func (a *app) pushCommand() *cobra.Command {
	return a.exchangeCommand("push", "Send changes to a server", operator.RemoteRequest{Push: true}, false)
}

func (a *app) syncCommand() *cobra.Command {
	return a.exchangeCommand("sync", "Exchange changes with a server in both directions", operator.RemoteRequest{Pull: true, Push: true}, true)
}

func (a *app) exchangeCommand(name, short string, r operator.RemoteRequest, watches bool) *cobra.Command {
	var watch bool
	c := &cobra.Command{
		Use: name + " [REMOTE]", Short: short, Args: arguments(0, 1),
		Long: short + `. Each side sends only what the other lacks, compressed; an interrupted exchange resumes. REMOTE is optional
if there is one remote.`,
		RunE: func(c *cobra.Command, args []string) error {
			r.Remote = strings.Join(args, "")
			if watch {
				return a.watchRemote(c.Context(), r)
			}
			return callAndPrint(c.Context(), a, operator.SyncRemote, r, a.printDone)
		},
	}
	exchangeFlags(c, &r)
	if watches {
		c.Flags().BoolVar(&watch, "watch", false, "keep running: exchange whenever either side has changes, until Ctrl-C")
	}
	return c
}

// watchRemote prints what each exchange of a watch did.
func (a *app) watchRemote(ctx context.Context, r operator.RemoteRequest) error {
	in, out := io.Pipe()
	go func() { out.CloseWithError(receive(ctx, a, operator.WatchRemote, r, out)) }()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var done operator.RemoteDone
		if err := json.Unmarshal(lines.Bytes(), &done); err != nil {
			return err
		}
		if err := a.printDone(done); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return lines.Err()
}

// conflictsShown is how many conflicts a command names.
const conflictsShown = 20

func (a *app) printDone(done operator.RemoteDone) error {
	if a.asJSON {
		return a.printJSON(done)
	}
	if done.Error != "" {
		return a.notef("alcove: %s\n", done.Error)
	}
	for _, one := range []struct {
		what   string
		result *operator.RemoteResult
	}{{"pulled", done.Pulled}, {"pushed", done.Pushed}} {
		if one.result == nil {
			continue
		}
		if err := a.printf("%s %s%s%s\n", one.what, counted(one.result.Taken, "memory"), versionsBehind(one.result.Past), inConflict(len(one.result.Conflicts))); err != nil {
			return err
		}
		switch n := one.result.Records; n {
		case 0:
		case 1:
			a.printf("  and 1 record of families\n")
		default:
			a.printf("  and %d records of families\n", n)
		}
		if one.result.NewestOnly {
			a.notef("alcove: the server exchanges only the newest versions: update it to exchange histories\n")
		}
		if one.result.Left > 0 {
			a.notef("alcove: %d older versions were left out: a hook of the receiver refuses or changes them, or a memory has more than 10,000\n", one.result.Left)
		}
		for i, conflict := range one.result.Conflicts {
			if i == conflictsShown {
				return a.printf("  and %d more\n", len(one.result.Conflicts)-i)
			}
			a.printf("  %s#%s  kept %s\n", conflict.Namespace, conflict.Key, conflict.Kept)
		}
	}
	return nil
}

func versionsBehind(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d older versions", n)
}

func inConflict(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(", %d changed on both sides", n)
}

func (a *app) cloneCommand() *cobra.Command {
	var r operator.Remote
	var branch string
	c := &cobra.Command{
		Use: "clone URL", Short: "Copy the memory of a server to this machine, and add the server as remote " + firstRemote, Args: arguments(1, 1),
		Example: `  alcove clone https://memory.example:9742 --key-file hub.key
  alcove clone https://memory.example:9742 --key-file hub.key --data ~/work-memory`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.mustBeNew(); err != nil {
				return err
			}
			r.Name, r.URL = firstRemote, args[0]
			if err := a.remoteFiles(&r); err != nil {
				return err
			}
			if err := command(c.Context(), a, operator.AddRemote, r); err != nil {
				return err
			}
			done, err := call(c.Context(), a, operator.SyncRemote, operator.RemoteRequest{Remote: firstRemote, Branch: branch, Pull: true})
			if err != nil {
				return fmt.Errorf("%w: alcove pull continues", err)
			}
			return a.printDone(done)
		},
	}
	remoteFlags(c, &r)
	c.Flags().StringVar(&branch, "branch", "", "the branch to bring (default: default)")
	return c
}

// mustBeNew refuses a data directory with something in it.
func (a *app) mustBeNew() error {
	dir, err := a.dir()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return &usageError{fmt.Errorf("%s is not empty: name another directory with --data, or add the server to this memory with alcove remote add", dir)}
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
