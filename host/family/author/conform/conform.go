// Package conform tests whether a packed family keeps its contract, whatever is asked of it.
//
// A family is called with generated arguments that its schemas allow, with much text, without its capabilities, with requests that are
// damaged or of another kind, while it is cancelled, and twice with the same request; its hooks and jobs run on memories of every form.
// It may refuse and fail with errors of its own. It must not trap, exceed a limit, answer in another form than its manifest says, or
// keep state.
package conform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// World is an empty space whose families run stepwise.
type World struct {
	Space    *memory.Space
	Families *family.Families
	Close    func() error
}

// Options configures a test. Open is required.
type Options struct {
	// Open opens a world whose guests are what watch returns for each.
	Open   func(ctx context.Context, watch func(catalogue.Guest) catalogue.Guest) (World, error)
	Seed   uint64 // of what is generated: equal seeds generate the same
	Inputs int    // generated for each tool; 0: 25
	Tool   string // only this one; empty: all tools, hooks and jobs
}

// Status is the outcome of a check.
type Status string

// The values of Status.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip" // Reason says why
)

// Check is one promise of the contract, checked for one part of the family.
type Check struct {
	Name     string    `json:"name"`
	Subject  string    `json:"subject"` // a tool, a hook or a job
	Status   Status    `json:"status"`
	Cases    int       `json:"cases"`
	Reason   string    `json:"reason,omitempty"`
	Problems []Problem `json:"problems,omitempty"`
}

// Problem is a case that broke the promise.
type Problem struct {
	Case    string `json:"case"`
	Message string `json:"message"`
}

// mostProblems are kept of a check: the first ones say what is wrong.
const mostProblems = 3

// Cost is what the calls of a tool with generated arguments used.
type Cost struct {
	Tool      string        `json:"tool"`
	Calls     int           `json:"calls"`
	Fuel      int64         `json:"fuel"`       // median
	MostFuel  int64         `json:"most_fuel"`  //
	CPU       time.Duration `json:"cpu_ns"`     // median
	Memory    int64         `json:"memory"`     // peak of all, in bytes
	HostCalls int64         `json:"host_calls"` // most of one call
}

// Report is what became of a test.
type Report struct {
	Family  string  `json:"family"`
	Version string  `json:"version"`
	Digest  string  `json:"digest"`
	Seed    uint64  `json:"seed"`
	Checks  []Check `json:"checks"`
	Costs   []Cost  `json:"costs"`
}

// Failed tells whether a check failed.
func (r *Report) Failed() bool {
	return slices.ContainsFunc(r.Checks, func(c Check) bool { return c.Status == Fail })
}

// test is a test that runs.
type test struct {
	Options
	module   []byte
	manifest *abi.Manifest
	report   *Report
	world    World
	guests   *recorder // of the world
	calls    int       // that were made
}

// Run tests a packed module. One that is not admitted is a *sandbox.Refusal.
func Run(ctx context.Context, module []byte, o Options) (_ *Report, err error) {
	checked, err := sandbox.Check(module, sandbox.Options{})
	if err != nil {
		return nil, err
	}
	m := checked.Manifest
	if o.Inputs == 0 {
		o.Inputs = 25
	}
	if o.Tool != "" && !slices.ContainsFunc(m.Tools, func(t abi.Tool) bool { return t.Name == o.Tool }) {
		return nil, fmt.Errorf("test family %s: it has no tool %s", m.Name, o.Tool)
	}
	t := &test{Options: o, module: module, manifest: m, report: &Report{Family: m.Name, Version: m.Version, Digest: checked.Digest, Seed: o.Seed}}
	err = errors.Join(t.within(ctx, Granted(m), t.whole), t.within(ctx, grants.Request{Family: m.Name}, t.powerless))
	return t.report, err
}

// Granted is everything that a manifest asks for, hooks included.
func Granted(m *abi.Manifest) grants.Request {
	hooks := map[abi.Hook]registry.On{}
	for hook, asked := range map[abi.Hook]bool{
		abi.HookStore: m.Hooks.Store != nil, abi.HookStored: m.Hooks.Stored != nil, abi.HookMerged: m.Hooks.Merged != nil, abi.HookSessionEnd: m.Hooks.SessionEnd != nil,
		abi.HookRank: m.Hooks.Rank != nil, abi.HookEmbed: m.Hooks.Embed != nil, abi.HookJob: len(m.Hooks.Jobs) > 0,
	} {
		if asked {
			hooks[hook] = registry.On{}
		}
	}
	if m.Hooks.Store != nil {
		hooks[abi.HookStore] = registry.On{OnFailure: m.Hooks.Store.OnFailure}
	}
	return grants.Request{Family: m.Name, All: true, Hooks: hooks}
}

// within does something in a world of its own, where the family has what it is granted.
func (t *test) within(ctx context.Context, grant grants.Request, do func(context.Context) error) (err error) {
	t.guests = &recorder{}
	t.world, err = t.Open(ctx, t.guests.watch)
	if err != nil {
		return fmt.Errorf("open a space to throw away: %w", err)
	}
	defer func() { err = errors.Join(err, t.world.Close()) }()
	if err := t.seed(ctx); err != nil {
		return err
	}
	if _, err := t.world.Families.Install(t.module); err != nil {
		return err
	}
	if _, err := t.world.Families.Grant(grant); err != nil {
		return err
	}
	if err := t.world.Families.Load(ctx, t.manifest.Name); err != nil {
		return err
	}
	if err := t.world.Families.Listen(ctx); err != nil {
		return err
	}
	return do(ctx)
}

// whole runs the checks of a family that has everything.
func (t *test) whole(ctx context.Context) error {
	for _, tool := range t.tools() {
		if err := t.answers(ctx, tool); err != nil {
			return err
		}
	}
	if t.Tool == "" {
		if err := t.hooks(ctx); err != nil {
			return err
		}
	}
	for _, kind := range t.guests.kinds() {
		t.damaged(ctx, kind)
		t.cancelled(ctx, kind)
		t.repeated(ctx, kind)
	}
	return nil
}

// powerless runs the checks of a family that was granted nothing.
func (t *test) powerless(ctx context.Context) error {
	for _, tool := range t.tools() {
		c := Check{Name: "without capabilities", Subject: tool.Name}
		if err := t.generate(&c, tool, min(t.Inputs, 10), func(arguments []byte) { t.call(ctx, &c, tool, arguments) }); err != nil {
			return err
		}
		t.done(c)
	}
	return nil
}

func (t *test) tools() []abi.Tool {
	if t.Tool == "" {
		return t.manifest.Tools
	}
	return slices.DeleteFunc(slices.Clone(t.manifest.Tools), func(tool abi.Tool) bool { return tool.Name != t.Tool })
}

// done adds a check to the report.
func (t *test) done(c Check) {
	switch {
	case len(c.Problems) > 0:
		c.Status = Fail
	case c.Cases == 0:
		c.Status, c.Reason = Skip, cmp.Or(c.Reason, "there is nothing to call it with")
	default:
		c.Status, c.Reason = Pass, ""
	}
	t.report.Checks = append(t.report.Checks, c)
}

// problem adds a case that broke the promise.
func (c *Check) problem(input, message string) {
	if len(c.Problems) < mostProblems {
		c.Problems = append(c.Problems, Problem{clipped(input), clipped(message)})
	}
}

// clipped keeps the beginning of a text.
func clipped(s string) string {
	const most = 2000 // a damaged request is to be read whole
	if len(s) <= most {
		return s
	}
	return s[:most] + fmt.Sprintf("… (%d bytes)", len(s))
}
