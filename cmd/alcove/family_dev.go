package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/cmd/alcove/terminal"
	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/family/author/cases"
	"github.com/alcove-memory/alcove/host/family/author/develop"
	"github.com/alcove-memory/alcove/host/family/author/seed"
	"github.com/alcove-memory/alcove/host/family/author/trial"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/sdk/client"
)

type devFlags struct {
	hookFlags
	ask    cases.Case // of a hook, after each build; without a hook nothing is asked
	seed   string     // a file of memories
	onData bool
	from   operator.Selection // with onData
}

func (a *app) familyDevCommand() *cobra.Command {
	var f devFlags
	c := &cobra.Command{
		Use: "dev DIR [JSON]", Short: "Build a family on each change and serve it on temporary data", Args: arguments(1, 2),
		Long: `Build a family on each change of its sources, and serve it on temporary data with
every capability that its manifest requests. The first line of output is the
command for an MCP client; connected clients see new tools at once. Output, host
calls and costs are printed as they happen. A new module is interpreted for some
seconds, until it is compiled; costs from then are marked as interpreted. After a
failed build, the last module stays in use.

` + develop.ConfigFile + ` defines the build:

  {"build": ["sh", "build.sh"], "module": "raw.wasm",
   "manifest": "manifest.json", "watch": ["*.go"]}

  build     the command and its arguments, run in DIR with your permissions: use
            dev on sources that you trust; alcove is this program
  module    the file that the build writes
  manifest  the file of the manifest, which is watched
  watch     patterns of watched files, in every directory unless they contain a
            slash
  generated patterns of files that the build writes; their changes start no build

With --hook, each new module is also asked that hook with the request JSON, in a
dry run on the data, and its answer is printed as alcove family test prints it.

The data is in your cache directory, and is removed at the end; data of killed
commands is removed at the next start. It is empty, or begins with the memories
of --seed, or with a copy of the server's memories (--on-data). Grants, endpoints,
keys and records are not copied. --on-data is refused if the server is locked, and
the command if ALCOVE_LOCKED is set.`,
		Example: `  alcove family dev .
  alcove family dev tea --seed memories.jsonl
  alcove family dev tea --hook rank '{"query": "tea", "candidates": [{"score": 0.5}, {"score": 0.2}]}'
  alcove family dev tea --on-data --branch experiment`,
	}
	flags := c.Flags()
	flags.StringVar(&f.seed, "seed", "", seedUsage)
	flags.StringVar(&f.hook, "hook", "", "after each build, ask "+hookUsage)
	flags.BoolVar(&f.onData, "on-data", false, "copy the memories of the server of --data")
	flags.StringVar(&f.from.Branch, "branch", "", "branch to copy with --on-data (default: default)")
	flags.StringVar(&f.from.Namespace, "namespace", "", "namespace to copy with --on-data (default: all)")
	c.MarkFlagsMutuallyExclusive("seed", "on-data")
	c.RunE = func(c *cobra.Command, args []string) error {
		if a.env("ALCOVE_LOCKED") != "" {
			return &usageError{errors.New("ALCOVE_LOCKED is set: a locked installation runs no module that is not in alcove.lock; unset it to develop")}
		}
		if !f.onData && f.from != (operator.Selection{}) {
			return &usageError{errors.New("--branch and --namespace say what to copy: use them with --on-data")}
		}
		if err := f.checkRequest(args); err != nil {
			return err
		}
		if f.hook != "" {
			var err error
			if f.ask, err = a.question(c.Context(), f.hookFlags, args); err != nil {
				return err
			}
		}
		p, err := develop.Open(args[0])
		if err != nil {
			return &usageError{err}
		}
		if f.onData {
			if err := a.mayCopy(c.Context()); err != nil {
				return err
			}
		}
		return a.develop(c.Context(), p, f)
	}
	return c
}

// mayCopy refuses to hand the data of a locked server to a module that its operator did not approve.
func (a *app) mayCopy(ctx context.Context) error {
	h, err := query(ctx, a, operator.GetHealth)
	if err != nil {
		return err
	}
	if h.Locked {
		return &client.Error{Code: client.Denied, Message: fmt.Sprintf("the server of %s is locked: its data is for the modules in alcove.lock alone; develop without --on-data, or with the --data of another server", a.data)}
	}
	return nil
}

// develop serves a project on throwaway data until ctx ends.
func (a *app) develop(ctx context.Context, p *develop.Project, f devFlags) (err error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return fmt.Errorf("find the directory for temporary data: %w", err)
	}
	id := sha256.Sum256([]byte(p.Dir))
	own, unlock, err := takeWorkDir(filepath.Join(base, "alcove", "dev"), hex.EncodeToString(id[:6]))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if f.onData {
		f.seed = filepath.Join(own, "memories.jsonl")
		err := durable.Write(f.seed, 0o600, func(w io.Writer) error { return receive(ctx, a, operator.ExportMemories, f.from, w) })
		if err != nil {
			return fmt.Errorf("copy the memories: %w", err)
		}
	}
	a.data = filepath.Join(own, "data")
	cache, err := a.moduleCache()
	if err != nil {
		return err
	}
	h, err := host.Open(ctx, host.Options{Dir: a.data, Version: versionText(), Families: builtIn(), Cache: cache, InterpretFirst: true, Logger: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: slog.LevelError}))})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return a.developServed(ctx, p, f, h)
}

// takeWorkDir makes an empty directory for a project's throwaway data, removes what killed commands left, and returns what removes it
// again.
func takeWorkDir(base, name string) (own string, remove func() error, err error) {
	if err := os.MkdirAll(base, 0o700); err != nil {
		return "", nil, fmt.Errorf("make a directory for temporary data: %w", err)
	}
	left, err := os.ReadDir(base)
	if err != nil {
		return "", nil, fmt.Errorf("find earlier temporary data: %w", err)
	}
	for _, d := range left {
		if lock, err := owner.AcquireLock(filepath.Join(base, d.Name())); err == nil {
			err = errors.Join(os.RemoveAll(filepath.Join(base, d.Name(), "work")), lock.Close())
			if err != nil {
				return "", nil, fmt.Errorf("remove earlier temporary data: %w", err)
			}
		}
	}
	lock, err := owner.AcquireLock(filepath.Join(base, name)) // which stays, empty: removing it would let two have it
	var owned *owner.OwnedError
	if errors.As(err, &owned) {
		return "", nil, fmt.Errorf("another alcove family dev serves this project: end it first: %w", err)
	}
	if err != nil {
		return "", nil, err
	}
	own = filepath.Join(base, name, "work")
	remove = func() error { return errors.Join(os.RemoveAll(own), lock.Close()) }
	if err := os.Mkdir(own, 0o700); err != nil {
		return "", nil, errors.Join(fmt.Errorf("make a directory for temporary data: %w", err), remove())
	}
	return own, remove, nil
}

// developServed serves, and builds meanwhile.
func (a *app) developServed(ctx context.Context, p *develop.Project, f devFlags, h *host.Host) error {
	ctx, stop := context.WithCancel(ctx)
	started, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		defer stop()
		ended <- h.Serve(ctx, host.Listen{Started: func(owner.Record) { close(started) }})
	}()
	select {
	case <-started:
	case err := <-ended:
		return err
	}
	err := a.developing(ctx, p, f, h)
	stop()
	return errors.Join(err, <-ended)
}

func (a *app) developing(ctx context.Context, p *develop.Project, f devFlags, h *host.Host) error {
	d := &development{app: a, server: h.Operator(), dir: p.Dir, ask: f.ask, unfollow: func() {}}
	d.store = func(ctx context.Context, m *abi.Manifest, s seed.Seed) error {
		return trial.Fill(ctx, h.Memory(), m, s)
	}
	if f.seed != "" {
		if err := a.importSeed(ctx, f.seed, &d.rest); err != nil {
			return fmt.Errorf("store the initial data: %w", err)
		}
	}
	defer func() { d.unfollow() }()
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	a.notef("building with %s; the first build may take a minute\n", terminal.Line(strings.Join(p.Config.Build, " ")))
	report := func(r develop.Report) {
		d.report(r)
		if r.Err == nil && d.ask.Hook != "" {
			d.asked(ctx)
		}
	}
	return develop.Loop{Server: d, Report: report, Around: a.building, Self: self}.Run(ctx, p.Dir)
}

// building runs a build, and tells how long it takes.
func (a *app) building(command []string, build func()) {
	a.stopWorking()
	w := a.err.Building("building: " + strings.Join(command, " "))
	defer w.Stop()
	build()
}

func (a *app) importSeed(ctx context.Context, path string, rest *seed.Seed) error {
	done, err := a.storeMemories(ctx, importOptions{}, func(add func(operator.Memory) error) error { return readSeed(ctx, path, mostSeed, rest, add) })
	if err != nil {
		return err
	}
	return a.notef("%d initial memories\n", done.Stored)
}

// development is a family that is served while its author changes it. It implements develop.Server.
type development struct {
	app      *app
	server   operator.Server
	rest     seed.Seed // records and settings that the first family that is served begins with
	store    func(context.Context, *abi.Manifest, seed.Seed) error
	dir      string
	ask      cases.Case // of a hook, or of none
	family   string     // that is served; empty: none
	digest   string
	module   []byte
	unfollow func()
}

// Swap implements develop.Server.
func (d *development) Swap(ctx context.Context, module, manifest []byte) error {
	packed, err := sandbox.PackStubbed(module, manifest)
	if err != nil {
		return fmt.Errorf("pack the module: %w", err)
	}
	report := packed.Report
	if err := checkNames(report); err != nil {
		return err
	}
	for _, s := range packed.Stubs {
		d.app.notef("note: %s\n", s.Text())
	}
	name, was := report.Manifest.Name, d.family
	installation := operator.Installation{Module: packed.Module, Source: "family dev"}
	if name == was {
		_, err = operator.Call(ctx, d.server, operator.UpdateFamily, operator.UpdateRequest{Family: name, Installation: installation})
	} else {
		_, err = operator.Call(ctx, d.server, operator.InstallFamily, operator.InstallRequest(installation))
	}
	if err != nil {
		return err
	}
	d.family, d.digest, d.module = name, report.Digest, packed.Module
	hooks := map[abi.Hook]operator.HookOn{}
	for _, h := range hooksOf(report.Manifest.Hooks) {
		hooks[h] = operator.HookOn{}
	}
	if _, err := operator.Call(ctx, d.server, operator.GrantFamily, operator.GrantRequest{Family: name, Digest: report.Digest, All: true, Hooks: hooks}); err != nil {
		return fmt.Errorf("grant its requests: %w", err)
	}
	if err := d.fill(ctx, report.Manifest); err != nil {
		return err
	}
	if name == was {
		return nil
	}
	if len(hooks) > 0 {
		d.app.notef("note: here all its requests are granted and its hooks are on; elsewhere an operator turns on each hook with --hook\n")
	}
	d.follow(ctx, name)
	if was != "" {
		_, err = operator.Call(ctx, d.server, operator.RemoveFamily, operator.FamilyName{Family: was})
	}
	return errors.Join(err, d.app.connectTo(name))
}

// fill gives a family the records and settings that it begins with, once.
func (d *development) fill(ctx context.Context, m *abi.Manifest) error {
	if err := d.store(ctx, m, d.rest); err != nil {
		return err
	}
	if len(d.rest.Settings) > 0 {
		if _, err := operator.Call(ctx, d.server, operator.ConfigureFamily, operator.ConfigureRequest{Family: m.Name, Values: d.rest.Settings}); err != nil {
			return fmt.Errorf("apply the initial settings of the family: %w", err)
		}
	}
	d.rest = seed.Seed{}
	return nil
}

// connectTo prints the line that connects a client.
func (a *app) connectTo(family string) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if a.asJSON {
		return a.printLine(devEvent{Event: "serving", Family: family, Data: a.data, Connect: []string{program, "mcp", "--data", a.data, "--families", family}})
	}
	return a.printf("connect a client:  %s mcp --data %s --families %s\n", quoted(program), quoted(a.data), family)
}

// follow prints what a family does, until another one is followed.
func (d *development) follow(ctx context.Context, family string) {
	d.unfollow()
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	d.unfollow = func() { stop(); <-ended }
	go func() {
		defer close(ended)
		err := d.app.events(ctx, func(ctx context.Context, w io.Writer) error {
			return operator.Receive(ctx, d.server, operator.FollowFamily, operator.FollowRequest{Family: family, Calls: true, Follow: true}, w)
		}, d.app.printEvent)
		if err != nil {
			d.app.notef("note: calls of family %s are no longer shown: %v\n", family, err)
		}
	}()
}

// devEvent is a line of JSON about a build, or where clients connect.
type devEvent struct {
	Event   string   `json:"event"` // serving, built, failed or asked
	Family  string   `json:"family,omitempty"`
	Data    string   `json:"data,omitempty"`
	Connect []string `json:"connect,omitempty"`
	Digest  string   `json:"digest,omitempty"`
	BuildMS float64  `json:"build_ms,omitempty"`
	SwapMS  float64  `json:"swap_ms,omitempty"`
	Error   string   `json:"error,omitempty"`
	Output  string   `json:"output,omitempty"` // of the build

	Asked *hookAnswer `json:"asked,omitempty"` // what the hook of --hook answered
}

// report prints what became of a build.
func (d *development) report(r develop.Report) {
	e := devEvent{Event: "built", Family: d.family, Digest: d.digest, BuildMS: milliseconds(r.Build), SwapMS: milliseconds(r.Swap)}
	var build *develop.BuildError
	if r.Err != nil {
		e.Event, e.Error = "failed", r.Err.Error()
	}
	if errors.As(r.Err, &build) {
		e.Output = build.Output
	}
	a := d.app
	switch at := time.Now().Format("15:04:05.000"); {
	case a.asJSON:
		a.printLine(e)
	case r.Err == nil:
		a.printf("%s  built %s in %.0f ms, served after another %.0f ms, sha256 %s\n", at, e.Family, e.BuildMS, e.SwapMS, e.Digest)
	default:
		a.printf("%s%s  failed: %s\n", terminal.Lines(e.Output), at, terminal.Indented(e.Error))
		if d.family == "" && build != nil && build.Needs != "" && !strings.Contains(e.Error, build.Needs) { // it may be the compiler that is wrong
			a.printf("    needed: %s\n", terminal.Line(build.Needs))
		}
		if d.family != "" {
			a.printf("    sha256 %s of %s is still served\n", d.digest, d.family)
		}
	}
}

// asked asks the hook of the module that is served now, and prints its answer.
func (d *development) asked(ctx context.Context) {
	a, hook := d.app, d.ask.Hook
	answer, err := operator.Call(ctx, d.server, operator.TryFamily, operator.TrialRequest{Module: d.module, Hook: hook, Arguments: d.ask.Request})
	if err == nil && answer.Result.Error != nil {
		err = answer.Result.Error
	}
	var h hookAnswer
	if err == nil {
		h, err = answerOf(hook, answer.Result.Output)
	}
	switch {
	case a.asJSON && err != nil:
		a.printLine(devEvent{Event: "asked", Family: d.family, Digest: d.digest, Error: err.Error()})
	case a.asJSON:
		a.printLine(devEvent{Event: "asked", Family: d.family, Digest: d.digest, Asked: &h})
	case err != nil:
		a.printf("    hook %s failed: %s\n", hook, terminal.Indented(err.Error()))
	default:
		a.printHookAnswer(h, d.ask.Request)
	}
}

// printLine prints a value as one line of JSON.
func (a *app) printLine(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return a.printf("%s\n", terminal.JSON(string(line)))
}
