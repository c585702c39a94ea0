package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/registry"
)

// postureFlags are the options of alcove posture set.
type postureFlags struct {
	yes, dryRun, shared bool
}

func (a *app) postureCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "posture", Short: "Show or set how independently the built-in families act", Args: noArguments,
		Long: `Show how independently the built-in families act in this data directory:

  personal  they act: their tools write directly, and the hooks and jobs that these need are on. The audit log records everything,
            and alcove family undo reverts it. The default of a new directory.
  careful   they propose changes on branches; their hooks and jobs are off until granted, except redaction's
  locked    careful, in a directory that alcove lock locked

alcove family grant and revoke override the posture of a family. A posture applies to built-in families only.`,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := query(c.Context(), a, operator.GetPosture)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(s)
			}
			return a.printPosture(s)
		},
	}
	c.AddCommand(a.postureSetCommand())
	return c
}

func (a *app) printPosture(s operator.PostureState) error {
	said := string(s.Posture)
	if s.Shared {
		said += ", also for others who use the server"
	}
	if err := a.printf("posture %s\n", said); err != nil {
		return err
	}
	if s.Why != "" {
		a.printf("  %s\n", s.Why)
	}
	for _, g := range s.Gives {
		if err := a.printf("  %-14s %s\n", g.Family, giftInWords(g, s.Posture)); err != nil {
			return err
		}
	}
	return nil
}

// giftInWords says what personal gives a family, and what of it holds.
func giftInWords(g operator.PostureGift, now operator.Posture) string {
	said := strings.Join(g.Gives, ", ")
	switch {
	case g.Decided && now == registry.LockedDown:
		return said + ": by what an operator granted alone"
	case g.Decided:
		return said + ": by an operator's grants only; alcove family grant " + g.Family + " --posture has it follow the posture"
	case len(g.Lacks) == 0:
		return said + ": on"
	case len(g.Denied) > 0:
		return said + ": denied by an operator: " + strings.Join(g.Denied, ", ")
	}
	return said + ": off"
}

func (a *app) postureSetCommand() *cobra.Command {
	var f postureFlags
	names := make([]string, 0, len(registry.Postures()))
	for _, p := range registry.Postures() {
		names = append(names, string(p))
	}
	c := &cobra.Command{
		Use: "set " + strings.Join(names, "|"), Short: "Choose the posture of the data directory", Args: arguments(1, 1),
		Long: `Choose the posture of the data directory. What changes is shown before: in alcove.lock, and for each family. No grant changes, so that
setting the former posture again undoes it; alcove unlock undoes locked. Personal is refused for a server with API keys, or
one that other machines can connect to, unless --shared says that it is meant.`,
		Example: "  alcove posture set careful\n  alcove posture set personal --dry-run",
		RunE: func(c *cobra.Command, args []string) error {
			p := operator.Posture(args[0])
			if !slices.Contains(registry.Postures(), p) {
				return &usageError{fmt.Errorf("unknown posture %.40q: use %s", args[0], strings.Join(names, ", "))}
			}
			return a.setPosture(c, p, f)
		},
	}
	flags := c.Flags()
	flags.BoolVar(&f.yes, "yes", false, "change it without asking")
	flags.BoolVar(&f.dryRun, "dry-run", false, "show what would change, and change nothing")
	flags.BoolVar(&f.shared, "shared", false, "personal also for a server that others use")
	return c
}

// setPosture shows what a posture would change, asks, and sets it.
func (a *app) setPosture(c *cobra.Command, p operator.Posture, f postureFlags) error {
	if p == registry.LockedDown {
		return a.lockBy(c, f)
	}
	r := operator.PostureRequest{Posture: p, Shared: f.shared}
	change, err := call(c.Context(), a, operator.ProposeChange, operator.LockProposal{Posture: &r})
	if err != nil {
		return err
	}
	before, err := query(c.Context(), a, operator.GetPosture)
	if err != nil {
		return err
	}
	if err := a.showPosture(change); err != nil || f.dryRun {
		return err
	}
	if ok, err := a.agreed(f.yes || len(change.Lines) == 0); err != nil || !ok {
		return err
	}
	change, err = call(c.Context(), a, operator.SetPosture, r)
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(change)
	}
	if err := a.printf("the posture is %s\n", p); err != nil || before.Posture == p {
		return err
	}
	return a.notef("alcove posture set %s undoes it\n", before.Posture)
}

// lockBy locks the data directory, which is the posture locked.
func (a *app) lockBy(c *cobra.Command, f postureFlags) error {
	if f.shared {
		return &usageError{errors.New("--shared is for the posture personal")}
	}
	lock := a.lockCommand()
	lock.SetContext(c.Context())
	if err := a.notef("use alcove lock: families then run as alcove.lock says, without what the posture personal gives, and only alcove unlock undoes it\n"); err != nil || f.dryRun {
		return err
	}
	if ok, err := a.agreed(f.yes); err != nil || !ok {
		return err
	}
	return lock.RunE(lock, nil)
}

// showPosture shows on standard error what a change of the posture does.
func (a *app) showPosture(c operator.LockChange) error {
	if err := a.showLines(c.Lines); err != nil || len(c.Families) == 0 {
		return err
	}
	a.notef("families change:\n")
	for _, line := range c.Families {
		a.notef("  %s\n", line)
	}
	return nil
}

// firstPosture is the posture of a directory that this server is the first of. It is careful if others are to use the server.
func (f serveFlags) firstPosture() (operator.Posture, error) {
	switch p := operator.Posture(f.posture); {
	case p == "" && (f.keysChosen && f.requireKeys || f.tlsCert != ""):
		return registry.Careful, nil
	case p == "":
		return registry.Personal, nil
	case p != registry.Personal && p != registry.Careful:
		return "", &usageError{fmt.Errorf("--posture %.40q: use %s or %s; --locked locks the directory", f.posture, registry.Personal, registry.Careful)}
	default:
		return p, nil
	}
}

// examinePosture says how much families do by themselves in a data directory.
func examinePosture(dir string) finding {
	l, err := registry.Read(dir)
	if err != nil {
		return finding{"posture", bad, err.Error()}
	}
	says := map[operator.Posture]string{
		registry.Personal:   "personal: built-in families act by themselves; alcove posture shows what each does",
		registry.Careful:    "careful: built-in families propose, and hooks and jobs are off unless they were granted; alcove posture set personal has them act",
		registry.LockedDown: "locked: families do what alcove.lock says, and nothing more",
	}[l.PostureInForce()]
	if l.Shared {
		says += "; also for others who use the server"
	}
	if _, err := os.Stat(owner.LockPath(dir)); errors.Is(err, fs.ErrNotExist) && l.Posture == "" && !l.Locked {
		says = "personal, which the first server sets; alcove serve --posture careful chooses otherwise"
	}
	return finding{"posture", fine, says}
}
