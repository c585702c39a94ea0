package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
)

type demoFlags struct {
	listen string
	serve  bool
	keep   bool // the data directory, which --data names
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show a session in a temporary directory, including a killed server",
		Long: `Store the memory of a small project through an MCP client that runs alcove mcp, ask five questions in other words, fork, merge, rewind, load a
family, kill the server, and check that every acknowledged write survived. The demo takes a few seconds, works offline, and leaves nothing behind. With --data, it uses and keeps that directory, which must be new or empty.

With --json, the results are one object. The exit status is 1 if an acknowledged write is lost.`,
		Example: `  alcove demo
  alcove demo --serve`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			f.keep = c.Flags().Changed("data")
			return a.demo(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.listen, "listen", a.env("ALCOVE_LISTEN"), "with --serve, the HTTP address (or ALCOVE_LISTEN; default: "+host.DefaultHTTP+", or a free port if that is taken)")
	c.Flags().BoolVar(&f.serve, "serve", false, "afterwards, print how to connect a client, and serve the directory until interrupted")
	return c
}

func (a *app) demo(ctx context.Context, f demoFlags) (err error) {
	a.elsewhere = serverElsewhere{}
	if !f.keep {
		if a.data, err = os.MkdirTemp("", "alcove-demo-"); err != nil {
			return fmt.Errorf("make a temporary data directory: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(a.data)) }()
	}
	dir, err := a.dir()
	if err != nil {
		return err
	}
	if _, err := a.sharing.CheckDir(dir); err != nil {
		return err
	}
	if err := checkEmpty(dir); err != nil {
		return err
	}
	if err := a.demonstrate(ctx, dir); err != nil || !f.serve {
		return err
	}
	return a.demoServed(ctx, f, dir)
}

// checkEmpty keeps the demo, which kills the server of its directory, away from somebody's memory.
func checkEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("look into the demo's directory: %w", err)
	}
	if len(entries) > 0 {
		return &usageError{fmt.Errorf("--data %s is not empty: the demo stores memories of its own and kills the server, so name a new directory", dir)}
	}
	return nil
}

// demonstrate shows the session, and leaves no server running.
func (a *app) demonstrate(ctx context.Context, dir string) (err error) {
	began := time.Now()
	d, err := a.newDemonstration(ctx, dir)
	if err != nil {
		return err
	}
	defer func() {
		_, stopped := a.stop(context.WithoutCancel(ctx), dir)
		err = errors.Join(err, stopped)
	}()
	if err := d.end(d.run(ctx)); err != nil {
		return err
	}
	d.report.Seconds = time.Since(began).Round(time.Millisecond).Seconds()
	if err := d.conclude(); err != nil {
		return err
	}
	return d.report.loss()
}

// freeAddress is an address, or the same with a free port if another program has it.
func freeAddress(address string) string {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "127.0.0.1:0"
	}
	l.Close()
	return address
}

// demoServed serves the directory until it is interrupted.
func (a *app) demoServed(ctx context.Context, f demoFlags, dir string) (err error) {
	if f.listen == "" {
		f.listen = freeAddress(host.DefaultHTTP)
	}
	h, err := host.Open(ctx, host.Options{Dir: dir, Sharing: a.sharing, Version: versionText(), Families: builtIn(), Release: a.release, Logger: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	ctx, end := context.WithCancel(ctx)
	defer end()
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, host.Listen{HTTP: f.listen, Started: func(r owner.Record) { started <- r }})
	}()
	select {
	case r := <-started:
		if err := a.demoRecipes(ctx, r); err != nil {
			end()
			return errors.Join(err, <-ended)
		}
	case err := <-ended:
		return err
	}
	return <-ended
}

// demoRecipes prints how a client connects to the demo's directory.
func (a *app) demoRecipes(ctx context.Context, r owner.Record) error {
	c, err := a.connection(ctx)
	if err != nil {
		return err
	}
	a.printf("\n%s\n\n", a.heading("Connect your own client to the demo's directory, at "+r.URL()+"/mcp"))
	if err := a.printRecipes(c, usualRecipes()); err != nil {
		return err
	}
	a.printf("To keep a memory: %s setup\n", quoted(c.program))
	return a.printf("%s\n", a.bold("Serving until you press Ctrl-C."))
}

func (a *app) heading(s string) terminal.Text { return a.out.Style(terminal.Heading, "── "+s) }
