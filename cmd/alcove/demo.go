package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/guests"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/sdk/client"
)

type demoFlags struct {
	listen string
	once   bool
	keep   bool // the data directory, which --data names
}

func (a *app) demoCommand() *cobra.Command {
	var f demoFlags
	c := &cobra.Command{
		Use:   "demo",
		Short: "Show a session in a temporary directory, then keep serving it",
		Long: `Serve a temporary data directory, drive it through an MCP client that runs alcove mcp, print each call
with its answer and the lines that connect your own client, and keep serving until interrupted. With --data, that
directory is used and kept.`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			f.keep = c.Flags().Changed("data")
			return a.demo(c.Context(), f)
		},
	}
	c.Flags().StringVar(&f.listen, "listen", a.env("ALCOVE_LISTEN"), "the HTTP address (or ALCOVE_LISTEN; default: "+host.DefaultHTTP+", or a free port if that is taken)")
	c.Flags().BoolVar(&f.once, "once", false, "exit after the session")
	return c
}

func (a *app) demo(ctx context.Context, f demoFlags) (err error) {
	a.elsewhere = serverElsewhere{}
	if f.listen == "" {
		f.listen = freeAddress(host.DefaultHTTP)
	}
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
	h, err := host.Open(ctx, host.Options{Dir: dir, Sharing: a.sharing, Version: versionText(), Families: builtIn(), Release: a.release, Logger: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelWarn}))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return a.demoServed(ctx, f, h, dir)
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

// demoServed serves, shows the session meanwhile, and serves on.
func (a *app) demoServed(ctx context.Context, f demoFlags, h *host.Host, dir string) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	go func() {
		ended <- h.Serve(ctx, host.Listen{HTTP: f.listen, Started: func(r owner.Record) { started <- r }})
	}()
	select {
	case r := <-started:
		a.printf("%s  serving %s\n         on %s/mcp\n", a.bold("Alcove"), dir, r.URL())
	case err := <-ended:
		return err
	}
	if err := a.demoSession(ctx, dir); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	c, err := a.connection(ctx)
	if err != nil {
		return err
	}
	a.printf("\n%s\n\n", a.heading("Connect your own client to it"))
	if err := a.printRecipes(c, usualRecipes()); err != nil {
		return err
	}
	if f.once {
		stop()
		return <-ended
	}
	a.printf("%s\n", a.bold("Serving until you press Ctrl-C."))
	a.printf("These lines lead to this demo's directory. For a memory that stays: %s connect\n", quoted(c.program))
	return <-ended
}

func (a *app) heading(s string) terminal.Text { return a.out.Style(terminal.Heading, "── "+s) }

// demoSession shows the steps through a client of its own.
func (a *app) demoSession(ctx context.Context, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	conn, err := runStdio(ctx, a.err, program, "mcp", "--data", dir, "--agent", "demo")
	if err != nil {
		return err
	}
	c, err := newSession(ctx, conn)
	if err != nil {
		return fmt.Errorf("introduce the demo's client to alcove mcp: %w", err)
	}
	defer c.Close()
	_, tools, err := c.Tools(ctx)
	if err != nil {
		return fmt.Errorf("list the tools: %w", err)
	}
	server := c.Server()
	a.printf("         an MCP client runs alcove mcp: %s %s, %d tools\n", server.Name, server.Version, len(tools))
	d := demonstration{app: a, client: c}
	steps := demoSteps()
	if guests.Embedded() {
		steps = append(steps, familySteps()...)
	}
	for _, s := range steps {
		if err := d.show(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// step is one call of the demonstration.
type step struct {
	heading string // above the call; empty: none
	tool    string
	args    []arg
	mark    bool // the moment behind this call is what "moment" stands for later
}

type arg struct {
	name  string
	value any
}

// moment stands for the time of the step that was marked.
type moment struct{}

func demoSteps() []step {
	store := func(key, value string, more ...arg) []arg {
		return append([]arg{{"key", key}, {"value", value}}, more...)
	}
	branch := func(action string, more ...arg) []arg { return append([]arg{{"action", action}}, more...) }
	return []step{
		{"Remember a few things", "memory_store", store("ada/editor", "Ada writes everything in Vim and dislikes the mouse", arg{"tags", []string{"preference"}}), false},
		{"", "memory_store", store("deploy/day", "We deploy on Tuesdays, never on a Friday afternoon", arg{"tags", []string{"rule"}}), false},
		{"", "memory_store", store("deploy/owner", "Grace approves each release before it goes out"), true},
		{"Ask in plain words", "memory_search", []arg{{"query", "who has to sign off a release?"}, {"k", 2}}, false},
		{"", "memory_search", []arg{{"query", "what does Ada use to write code?"}, {"k", 1}}, false},
		{"Try an idea on a branch: a fork takes no time, whatever the size", "memory_branch", branch("fork", arg{"name", "idea"}), false},
		{"", "memory_store", store("deploy/day", "We deploy every day before noon", arg{"branch", "idea"}), false},
		{"", "memory_store", store("deploy/canary", "One machine first, the others an hour later", arg{"branch", "idea"}), false},
		{"", "memory_recall", []arg{{"key", "deploy/day"}}, false},
		{"Compare, preview, merge", "memory_branch", branch("diff", arg{"compare", "idea"}), false},
		{"", "memory_branch", branch("merge", arg{"source", "idea"}, arg{"preview", true}), false},
		{"", "memory_branch", branch("merge", arg{"source", "idea"}), false},
		{"", "memory_recall", []arg{{"key", "deploy/day"}}, false},
		{"Go back in time", "memory_recall", []arg{{"key", "deploy/day"}, {"as_of", moment{}}}, false},
		{"", "memory_history", []arg{{"key", "deploy/day"}}, false},
		{"Keep a log that nobody can change", "memory_log", []arg{{"event", "merged"}, {"data", map[string]string{"branch": "idea", "by": "demo"}}}, false},
		{"", "memory_status", nil, false},
	}
}

// familySteps need the families that this program may carry.
func familySteps() []step {
	return []step{
		{"Bring in more tools when they are needed: each family runs in a sandbox of its own", "memory_load_family", []arg{{"intent", "give my memories tags"}}, false},
		{"", "memory_suggest_tags", []arg{{"text", "Grace Hopper decided on 2026-03-02 that releases go out from the Lisbon office"}}, false},
	}
}

// demonstration shows steps.
type demonstration struct {
	app    *app
	client *client.Session
	moment string // RFC 3339
}

func (d *demonstration) show(ctx context.Context, s step) error {
	if s.heading != "" {
		d.app.printf("\n%s\n", d.app.heading(s.heading))
	}
	arguments, shown := map[string]any{}, []any{d.app.out.Style(terminal.Yellow, s.tool)}
	for _, x := range s.args {
		if x.value == (any)(moment{}) {
			x.value = d.moment
		}
		raw, err := json.Marshal(x.value)
		if err != nil {
			return fmt.Errorf("show the arguments of %s: %w", s.tool, err)
		}
		arguments[x.name] = x.value
		shown = append(shown, d.app.dim(x.name), string(raw))
	}
	d.app.printf("\n  %s"+strings.Repeat("  %s %s", len(s.args))+"\n", shown...)
	answer, err := d.client.Call(ctx, s.tool, arguments)
	if err != nil {
		return fmt.Errorf("call %s: %w", s.tool, err)
	}
	if s.mark {
		if err := d.remember(answer); err != nil {
			return err
		}
	}
	for i, line := range answerLines([]byte(answer.Text)) {
		arrow := terminal.Line(" ")
		if i == 0 {
			arrow = d.app.out.Style(terminal.Green, "→")
		}
		d.app.printf("  %s  %s\n", arrow, line)
	}
	return nil
}

// remember notes the moment of an answer.
func (d *demonstration) remember(answer client.ToolResult) error {
	var receipt struct{ Timestamp string }
	if err := json.Unmarshal(answer.Structured, &receipt); err != nil || receipt.Timestamp == "" {
		return fmt.Errorf("read the time of an answer: %s has none", answer.Structured)
	}
	d.moment = receipt.Timestamp
	return nil
}

// child is a connection to a running program by its standard input and output.
type child struct {
	io.Reader
	io.WriteCloser
	end func() error
}

// runStdio starts a program that ends when its input does.
func runStdio(ctx context.Context, log io.Writer, program string, args ...string) (*child, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = log
	in, errIn := cmd.StdinPipe()
	out, errOut := cmd.StdoutPipe()
	if err := errors.Join(errIn, errOut, cmd.Start()); err != nil {
		return nil, fmt.Errorf("run %s: %w", program, err)
	}
	return &child{out, in, sync.OnceValue(func() error { return errors.Join(in.Close(), cmd.Wait()) })}, nil
}

// Close closes the program's input, and waits for its end. A session may close a connection twice at once, which cmd.Wait
// does not survive.
func (c *child) Close() error { return c.end() }
