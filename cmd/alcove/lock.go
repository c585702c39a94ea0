package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store/datadir"
	"github.com/alcove-memory/alcove/registry"
)

func (a *app) lockCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "lock", Short: "Lock the data directory: only families in alcove.lock run, and grants are frozen", Args: noArguments,
		Long: `Lock the data directory. Its servers then run only the modules whose digests are in alcove.lock, and refuse new grants. This applies
to a running server immediately, and until alcove unlock.`,
		RunE: func(c *cobra.Command, _ []string) error {
			done, err := a.lockNow(c.Context())
			if err != nil {
				return err
			}
			return a.printLock(done, "the data directory is locked")
		},
	}
	c.AddCommand(a.lockApplyCommand())
	return c
}

// lockNow locks the data directory, by its server if it has one.
func (a *app) lockNow(ctx context.Context) (datadir.LockChange, error) {
	if a.elsewhere.admin != "" {
		return a.lockServed(ctx)
	}
	dir, err := a.ownDir()
	if err != nil {
		return datadir.LockChange{}, err
	}
	done, err := a.lockable(dir).SetLocked(true)
	if owned := (*owner.OwnedError)(nil); errors.As(err, &owned) {
		return a.lockServed(ctx)
	}
	return done, err
}

// lockServed locks a data directory that a server has open.
func (a *app) lockServed(ctx context.Context) (datadir.LockChange, error) {
	done, err := query(ctx, a, operator.LockDirectory)
	a.noteUnusable(done.Unusable)
	return datadir.LockChange{Lines: done.Lines, Locked: true}, err
}

func (a *app) unlockCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unlock", Short: "Unlock the data directory while no server has it open", Args: noArguments,
		Long: `Unlock the data directory, and record that in the audit log. Stop its server first. A server that is started with --locked, or with
ALCOVE_LOCKED, locks it again.`,
		RunE: func(*cobra.Command, []string) error {
			dir, err := a.ownDir()
			if err != nil {
				return err
			}
			done, err := a.lockable(dir).SetLocked(false)
			if err != nil {
				return stopFirst(err)
			}
			return a.printLock(done, "the data directory is not locked")
		},
	}
}

// lockable is a data directory whose lock file this user changes.
func (a *app) lockable(dir string) datadir.Directory { return a.byPerson(space.Directory(dir)) }

// byPerson has the audit log of a directory name the user of this program.
func (a *app) byPerson(d datadir.Directory) datadir.Directory {
	d.Person, d.Reason = operator.UserOf(os.Getuid()).String(), a.why
	return d
}

// stopFirst adds to the error of a directory that is served what to do.
func stopFirst(err error) error {
	var owned *owner.OwnedError
	if errors.As(err, &owned) {
		return fmt.Errorf("process %d serves the data directory %s: stop it with alcove stop, and repeat the command", owned.PID, owned.Dir)
	}
	return err
}

func (a *app) lockApplyCommand() *cobra.Command {
	var o datadir.ApplyOptions
	c := &cobra.Command{
		Use: "apply FILE", Short: "Apply a reviewed lock file, configuration file or bundle, with its modules", Args: arguments(1, 1),
		Long: `Take a reviewed lock file in place of alcove.lock, without unlocking the data directory. No server may have it open. Each module that the
file names is verified by digest, manifest and signatures, as a server does; the difference is shown, and recorded in the audit log before
it takes effect. A locked directory stays locked, whatever the file says.

Of a configuration file (.yaml), the sections trust, endpoints, roots and families make the lock file: modules of --modules that the grants name
are installed in it, or replace the installed version. The other sections are for alcove config apply, which a locked server takes.

A bundle of alcove family bundle adds the grant of its family, with its module.`,
		Example: `  alcove lock apply reviewed.lock --modules reviewed --dry-run
  alcove lock apply alcove.yaml --modules modules
  alcove lock apply reviewed.lock --modules reviewed`,
	}
	flags := c.Flags()
	flags.StringVar(&o.Modules, "modules", "", "a folder of modules (.wasm), and of their signatures (.wasm.sig), that the file names beside those of the data directory")
	flags.BoolVar(&o.DryRun, "dry-run", false, "verify and show the difference, and change nothing")
	c.RunE = func(c *cobra.Command, args []string) error {
		dir, err := a.ownDir()
		if err != nil {
			return err
		}
		data, end, err := a.lockToApply(c.Context(), dir, args[0], &o)
		defer end()
		if err != nil {
			return err
		}
		o.Clock = time.Now
		done, err := a.lockable(dir).ApplyLock(data, o)
		if err != nil {
			return stopFirst(err)
		}
		said := "alcove.lock is the reviewed file"
		if o.DryRun {
			said = "nothing was changed"
		}
		return a.printLock(done, said)
	}
	return c
}

// lockToApply returns the lock file of a path: a lock file itself, a bundle with one, or a configuration that describes one. done removes
// what was unpacked.
func (a *app) lockToApply(ctx context.Context, dir, path string, o *datadir.ApplyOptions) (lock []byte, done func(), err error) {
	done = func() {}
	switch {
	case isConfigFile(path):
		lock, err = a.lockOfConfig(ctx, dir, path, o.Modules)
	case filepath.Ext(path) == bundleSuffix:
		var folder string
		lock, folder, err = lockOfBundle(dir, path)
		if o.Modules = folder; folder != "" {
			done = func() { _ = os.RemoveAll(folder) } // of files that only this user can read
		}
	default:
		lock, err = readFile(path, registry.FileLimit+1) // more is refused by name
	}
	return lock, done, err
}

func (a *app) printLock(c datadir.LockChange, said string) error {
	if a.asJSON {
		return a.printJSON(c)
	}
	if err := a.showLines(c.Lines); err != nil {
		return err
	}
	if n := len(c.Modules); n > 0 {
		said = fmt.Sprintf("verified %s; %s", counted(n, "module"), said)
	}
	return a.printf("%s\n", said)
}

// showLines shows on standard error how a lock file changes.
func (a *app) showLines(lines []string) error {
	if len(lines) == 0 {
		return a.notef("alcove.lock stays as it is\n")
	}
	a.notef("alcove.lock changes:\n")
	for _, line := range lines {
		a.notef("%s\n", line)
	}
	return nil
}
