package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/daemon/service"
)

func (a *app) serviceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "service",
		Short: "Run the server as a service of this user",
		Long: `Run the server as a service of this user, with systemd on Linux or launchd on macOS. Each data directory
has its own service. The service does not inherit the environment of the shell: use flags.`,
	}
	c.AddCommand(
		&cobra.Command{
			Use: "install [-- FLAGS]", Short: "Start the service now and at each login; FLAGS are those of alcove serve",
			Example: "  alcove service install\n  alcove service install -- --listen 127.0.0.1:9743 --read-only",
			RunE:    func(c *cobra.Command, args []string) error { return a.installService(c.Context(), args) },
		},
		&cobra.Command{
			Use: "status", Short: "Show whether the service is installed and running", Args: noArguments,
			RunE: func(c *cobra.Command, _ []string) error { return a.serviceStatus(c.Context()) },
		},
		&cobra.Command{
			Use: "remove", Short: "Stop and remove the service; data stay", Args: noArguments,
			RunE: func(c *cobra.Command, _ []string) error { return a.removeService(c.Context()) },
		},
	)
	return c
}

// services is the service manager of this user, and the name of the data directory's service.
func (a *app) services() (m *service.Manager, name, dir string, err error) {
	if dir, err = a.dir(); err != nil {
		return nil, "", "", err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, "", "", fmt.Errorf("find the home directory, where services are described: %w", err)
	}
	config := a.env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = ""
	}
	m, err = service.New(service.Options{OS: runtime.GOOS, Home: home, Config: config, UID: os.Getuid()})
	return m, serviceName(dir), dir, err
}

// serviceName tells the services of a user's data directories apart.
func serviceName(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "alcove-" + hex.EncodeToString(sum[:4])
}

func (a *app) installService(ctx context.Context, flags []string) error {
	m, name, dir, err := a.services()
	if err != nil {
		return err
	}
	serve := a.serveCommand()
	if err := serve.ParseFlags(flags); err != nil || serve.Flags().NArg() > 0 {
		return &usageError{fmt.Errorf("%q are not flags of alcove serve: see alcove serve --help", flags)}
	}
	if on, _ := serve.Flags().GetBool("auto"); on {
		return &usageError{errors.New("--auto is for servers that clients start, not for services")}
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program, for the service to run: %w", err)
	}
	if _, err := a.ownDir(); err != nil { // the service would end with the same error
		return err
	}
	args := append([]string{"serve", "--data", dir}, flags...)
	if a.sharing.Group {
		args = append(args, "--shared-group")
	}
	if at, err := a.storeURL(); err != nil {
		return err
	} else if args = append(args, a.storeArguments()...); at != "" && a.store == "" && a.storeFile == "" {
		return &usageError{errors.New("a service does not have ALCOVE_STORE: put the URL into a file, and name it with --store-file")}
	}
	if a.cache != "" {
		cache, err := a.moduleCache()
		if err != nil {
			return err
		}
		args = append(args, "--cache", cmp.Or(cache.Dir, noCache))
	}
	busy := owner.CheckFree(dir)
	if err := m.Install(ctx, service.Service{Name: name, Program: program, Args: args}); err != nil {
		return err
	}
	if busy != nil {
		if err := a.notef("alcove: note: %s\n", "another server has the data directory: the service starts serving when that server ends"); err != nil {
			return err
		}
	}
	return a.serviceStatus(ctx)
}

func (a *app) serviceStatus(ctx context.Context) error {
	m, name, _, err := a.services()
	if err != nil {
		return err
	}
	status, err := m.Status(ctx, name)
	if err != nil {
		return asNotFound(err)
	}
	if a.asJSON {
		return a.printJSON(status)
	}
	state := status.State
	if status.PID != 0 {
		state += fmt.Sprintf(", process %d", status.PID)
	}
	if !status.Enabled {
		state += ", not started at login"
	}
	return a.printf("%s: %s\n%s\n", status.Name, state, status.File)
}

func (a *app) removeService(ctx context.Context) error {
	m, name, dir, err := a.services()
	if err != nil {
		return err
	}
	if err := m.Remove(ctx, name); err != nil {
		return asNotFound(err)
	}
	if a.asJSON {
		return a.printJSON(fields{"removed": name})
	}
	return a.printf("removed %s; the data stay in %s\n", name, dir)
}

func asNotFound(err error) error {
	if errors.Is(err, service.ErrNotInstalled) {
		return notFound("%v: alcove service install installs it", err)
	}
	return err
}
