package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/space/folder"
	"github.com/alcove-memory/alcove/sdk/client"
)

func (a *app) spaceCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "space", Short: "Manage the isolated memories of one server",
		Long: `A space is an isolated memory: a data directory with its own keys, families, settings and logs. A server serves the spaces of a folder
in addition to its own memory: the folder of alcove serve --spaces, or "spaces" in the data directory if it exists. It opens a space on
first use, and closes it when idle. Commands select a space with --space NAME; its HTTP address ends with /s/NAME/mcp.`,
	}
	c.AddCommand(a.spaceCreateCommand(), a.spaceListCommand(), a.spaceRenameCommand(), a.spaceDeleteCommand(), a.spaceRestoreCommand(), a.spaceMoveCommand())
	return c
}

// spaceFolder is the folder of spaces.
func (a *app) spaceFolder() (folder.Folder, error) {
	if err := a.here(); err != nil {
		return folder.Folder{}, err
	}
	path := a.spaces
	if path == "" {
		path = filepath.Join(a.data, "spaces")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return folder.Folder{}, fmt.Errorf("find the folder of spaces: %w", err)
	}
	if _, err := os.Stat(path); err == nil {
		if _, err := a.sharing.CheckDir(path); err != nil {
			return folder.Folder{}, err
		}
	}
	return folder.Folder{Path: path}, nil
}

// spaceDir is the data directory of the chosen space.
func (a *app) spaceDir() (string, error) {
	f, err := a.spaceFolder()
	if err != nil {
		return "", err
	}
	dir, err := f.Dir(a.space)
	if errors.Is(err, folder.ErrNone) {
		if known := a.askForSpace(f, a.space); known != nil {
			return "", known
		}
		dir, err = f.Dir(a.space)
	}
	return dir, spaceError(err)
}

// askForSpace has the server of all spaces make the directory of one that its database has. The error is that of a server which has none.
func (a *app) askForSpace(f folder.Folder, name string) error {
	server, found := a.serverOfSpaces(filepath.Join(f.Path, name))
	if !found {
		return nil
	}
	opened, err := spaceStarter(server, filepath.Join(f.Path, name))()
	if err == nil {
		err = <-opened
	}
	var refused *owner.Refusal
	if errors.As(err, &refused) {
		return &client.Error{Code: client.Code(refused.Code), Message: refused.Message, Retryable: refused.Retryable}
	}
	return err
}

// withSpaces carries out what a command asks of the folder of spaces.
func (a *app) withSpaces(do func(f folder.Folder) error) error {
	f, err := a.spaceFolder()
	if err != nil {
		return err
	}
	return spaceError(do(f))
}

// spaceError gives errors about names their codes.
func spaceError(err error) error {
	switch {
	case errors.Is(err, folder.ErrNone):
		return &client.Error{Code: client.NotFound, Message: err.Error()}
	case errors.Is(err, folder.ErrExists):
		return &client.Error{Code: client.Conflict, Message: err.Error()}
	}
	return err
}

func (a *app) spaceCreateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "create NAME", Short: "Create an empty space", Args: arguments(1, 1),
		Example: `  alcove space create work
  alcove --space work key create --agent ann --namespaces '*'
  alcove connect claude-code --space work`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withSpaces(func(f folder.Folder) error {
				dir, err := a.createSpace(c.Context(), f, args[0])
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(folder.Space{Name: args[0], Dir: dir})
				}
				return a.printf("created the space %s in %s\n  alcove --space %s key create --agent NAME --namespaces '*'    creates a key for it\n", args[0], dir, args[0])
			})
		},
	}
}

func (a *app) spaceListCommand() *cobra.Command {
	var deleted bool
	c := &cobra.Command{
		Use: "list", Short: "List the spaces", Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.withSpaces(func(f folder.Folder) error {
				if names, err := a.spacesOfDatabase(c.Context()); !deleted && (names != nil || err != nil) {
					return a.listSpaces(c.Context(), names, err)
				}
				read := f.List
				if deleted {
					read = f.Deleted
				}
				list, err := read()
				if err != nil {
					return err
				}
				if a.asJSON {
					return a.printJSON(list)
				}
				for _, s := range list {
					a.printf("%s  %.1f MB%s\n", s.Name, float64(s.Bytes)/1e6, stateOf(s))
				}
				return nil
			})
		},
	}
	c.Flags().BoolVar(&deleted, "deleted", false, "those that can be restored, the latest first")
	return c
}

func stateOf(s folder.Space) string {
	switch {
	case !s.Deleted.IsZero():
		return "  deleted " + clock(s.Deleted)
	case s.Process != 0:
		return fmt.Sprintf("  open in process %d", s.Process)
	}
	return ""
}

func (a *app) spaceRenameCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rename NAME TO", Short: "Rename a space; its address changes, its keys stay", Args: arguments(2, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.withSpaces(func(f folder.Folder) error {
				names, err := a.spacesOfDatabase(c.Context())
				if err != nil {
					return err
				}
				return a.renameSpace(c.Context(), f, names, args[0], args[1])
			})
		},
	}
}

func (a *app) spaceDeleteCommand() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "delete NAME", Short: "Delete a space; alcove space restore undoes it, except in a database", Args: arguments(1, 1),
		Long: `Set a space aside, with its keys. Nobody can use it until alcove space restore brings it back. Its files are erased by removing the folder
that this command prints. A space in a database is erased at once, and cannot be restored: that takes --yes.`,
		RunE: func(c *cobra.Command, args []string) error {
			return a.withSpaces(func(f folder.Folder) error {
				names, err := a.spacesOfDatabase(c.Context())
				if err != nil {
					return err
				}
				if names != nil {
					return a.eraseSpace(c.Context(), f, names, args[0], yes)
				}
				if err := a.closeSpace(c.Context(), f, args[0]); err != nil {
					return err
				}
				aside, err := f.Delete(args[0], time.Now())
				if err != nil {
					return err
				}
				return a.printf("the files of the space %s are in %s\n", args[0], aside)
			})
		},
	}
	c.Flags().BoolVar(&yes, "yes", false, "confirm that the data of a space in a database is erased")
	return c
}

func (a *app) spaceRestoreCommand() *cobra.Command {
	var as string
	c := &cobra.Command{
		Use: "restore NAME", Short: "Restore the last deleted space of a name", Args: arguments(1, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.withSpaces(func(f folder.Folder) error {
				to := args[0]
				if as != "" {
					to = as
				}
				_, err := f.Restore(args[0], to)
				return err
			})
		},
	}
	c.Flags().StringVar(&as, "as", "", "another name for it")
	return c
}

// closeSpace has the process that serves a space close it.
func (a *app) closeSpace(ctx context.Context, f folder.Folder, name string) error {
	dir, err := f.Dir(name)
	if err != nil {
		return err
	}
	_, err = a.stop(ctx, dir)
	return err
}

// serverOfSpaces is the server that has the space with a data directory among its spaces.
func (a *app) serverOfSpaces(dir string) (r owner.Record, found bool) {
	parent := filepath.Dir(dir)
	if folder.CheckName(filepath.Base(dir)) != nil {
		return r, false
	}
	if _, err := a.sharing.CheckDir(parent); err != nil {
		return r, false
	}
	r, err := owner.ReadRecord(parent)
	var owned *owner.OwnedError
	return r, err == nil && errors.As(owner.CheckFree(parent), &owned) && owned.PID == r.PID
}

// spaceStarter has a server open the space with a data directory.
func spaceStarter(server owner.Record, dir string) func() (<-chan error, error) {
	return func() (<-chan error, error) {
		ctx, cancel := context.WithTimeout(context.Background(), stoppedWithin)
		defer cancel()
		conn, err := owner.Connect(ctx, server.Socket, owner.Hello{Space: filepath.Base(dir)})
		var refused *owner.Refusal
		if errors.As(err, &refused) && refused.Code == string(client.Denied) { // the space is open, and admits clients with keys
			err = nil
		} else if err == nil {
			err = conn.Close()
		}
		if err != nil {
			return nil, err
		}
		opened := make(chan error, 1)
		opened <- nil
		return opened, nil
	}
}

// stopSpace has a server close one of its spaces.
func stopSpace(ctx context.Context, dir string) error {
	c := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, dir) })
	defer c.Close()
	_, err := operator.Call(ctx, c, operator.CloseSpace, operator.None{})
	return err
}

// spacesToServe are the spaces that alcove serve has; nil: none.
func (a *app) spacesToServe(most int, idle time.Duration) (*host.SpacesOptions, error) {
	f, err := a.spaceFolder()
	if err != nil {
		return nil, err
	}
	if a.spaces == "" {
		if _, err := os.Stat(f.Path); err != nil {
			return nil, nil
		}
	}
	return &host.SpacesOptions{Dir: f.Path, Open: most, Idle: idle}, nil
}
