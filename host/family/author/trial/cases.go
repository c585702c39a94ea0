package trial

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/author/cases"
	"github.com/alcove-memory/alcove/host/family/author/conform"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/tool"
)

// mostListed bounds what a case may look at in a namespace: memories, or records of a collection.
const mostListed = 10_000

// Cases is a test of what a family answers.
type Cases struct {
	Sandbox *sandbox.Sandbox
	Module  []byte // packed
	Driver  store.Driver
}

// Run carries out a case in a space of its own, and returns what came of each step. A module that is not admitted is a
// *sandbox.Refusal.
func (c Cases) Run(ctx context.Context, one cases.Case) (got []cases.Got, err error) {
	report, err := sandbox.Check(c.Module, sandbox.Options{})
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "alcove-cases-*")
	if err != nil {
		return nil, fmt.Errorf("make a temporary space: %w", err)
	}
	w := &caseWorld{manifest: report.Manifest, branches: map[string]bool{}}
	w.closing.Later("the temporary directory", func() error { return os.RemoveAll(dir) })
	defer func() { err = errors.Join(err, w.closing.Close()) }()
	steps := one.Steps()
	w.set(cases.At(steps, 0))
	w.space, err = space.Open(ctx, space.Options{Dir: dir, Driver: c.Driver, Clock: w.read}, space.Environment{Sandbox: c.Sandbox, Watch: w.watch}, &w.closing)
	if err != nil {
		return nil, fmt.Errorf("open a space to throw away: %w", err)
	}
	if err := w.begin(ctx, c.Module, one); err != nil {
		return nil, err
	}
	for i, s := range steps {
		w.set(cases.At(steps, i))
		came, err := w.step(ctx, s)
		if err != nil {
			return got, err
		}
		got = append(got, came)
	}
	return got, nil
}

// caseWorld is the space of a case.
type caseWorld struct {
	manifest *abi.Manifest
	space    *space.Space
	closing  space.Closers
	branches map[string]bool // that were made

	mu     sync.Mutex
	now    time.Time
	hooked json.RawMessage // the last answer of a hook that is asked in JSON
	failed *abi.Error      // the last failure of a guest
}

func (w *caseWorld) read() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *caseWorld) set(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = now
}

// watch keeps what the guest answers.
func (w *caseWorld) watch(g catalogue.Guest) catalogue.Guest { return caseGuest{g, w} }

type caseGuest struct {
	catalogue.Guest
	world *caseWorld
}

// Call implements catalogue.Guest.
func (g caseGuest) Call(ctx context.Context, r sandbox.Request) (*sandbox.Result, error) {
	result, err := g.Guest.Call(ctx, r)
	w := g.world
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err != nil:
	case result.Class != abi.ClassOK:
		w.failed = result.Error
	case r.Kind == abi.KindHook:
		w.hooked = append(json.RawMessage{}, result.Output...)
	}
	return result, err
}

// taken is what the guest answered to a hook and how it failed since it was asked for last.
func (w *caseWorld) taken() (hooked json.RawMessage, failed *abi.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hooked, failed = w.hooked, w.failed
	w.hooked, w.failed = nil, nil
	return hooked, failed
}

// begin fills the space, and installs the family with all that it asks for.
func (w *caseWorld) begin(ctx context.Context, module []byte, one cases.Case) error {
	if err := Fill(ctx, w.space.Memory, w.manifest, one.Begin); err != nil {
		return err
	}
	for _, s := range one.Steps() {
		if err := w.fork(ctx, s.Branch); err != nil {
			return err
		}
	}
	families := w.space.Families
	if _, err := families.Install(module); err != nil {
		return err
	}
	if _, err := families.Grant(conform.Granted(w.manifest)); err != nil {
		return err
	}
	if len(one.Begin.Settings) > 0 {
		if _, err := families.Configure(ctx, w.manifest.Name, one.Begin.Settings); err != nil {
			return err
		}
	}
	if err := families.Load(ctx, w.manifest.Name); err != nil {
		return err
	}
	return families.Listen(ctx)
}

// fork makes a branch of what the space begins with, unless there is one.
func (w *caseWorld) fork(ctx context.Context, name string) error {
	if name == "" || w.branches[name] || name == memory.Default {
		return nil
	}
	w.branches[name] = true
	_, err := w.space.Memory.As(owner()).Fork(ctx, memory.Default, name, memory.AsOf{}, memory.Write{})
	return err
}

// step carries out a step, and then what it made due: stored hooks, and jobs.
func (w *caseWorld) step(ctx context.Context, s cases.Step) (got cases.Got, err error) {
	w.taken()
	got.Answer, err = w.ask(ctx, s)
	if err != nil {
		f := tool.FailureOf(err)
		if f.Code == memory.Internal && errors.Is(err, ctx.Err()) && ctx.Err() != nil {
			return got, err
		}
		got.Error = &cases.Error{Code: string(f.Code), Message: f.Message}
	}
	for range 2 { // what the hooks queue is due, too
		if err := w.space.Families.Step(ctx); err != nil {
			return got, err
		}
	}
	if _, failed := w.taken(); got.Error == nil && failed != nil {
		got.Answer, got.Error = nil, &cases.Error{Code: string(failed.Code), Message: failed.Message}
	}
	return got, w.readMemory(ctx, s, &got)
}

// caller is who asks.
func (w *caseWorld) caller(s cases.Step) memory.Caller {
	c := owner()
	if s.Caller == nil {
		return c
	}
	c.Agent = s.Caller.Agent
	if s.Caller.Read != nil || s.Caller.Write != nil {
		c.Rights = memory.RightsTo(s.Caller.Read, s.Caller.Write)
	}
	return c
}

// ask makes the request of a step.
func (w *caseWorld) ask(ctx context.Context, s cases.Step) (json.RawMessage, error) {
	at := memory.Location{Branch: s.Branch, Namespace: s.Namespace}
	switch {
	case s.Job != "":
		return w.job(ctx, s)
	case s.Hook != "" && !grants.Has(w.manifest.Hooks, s.Hook):
		return nil, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf("the manifest of family %s has no hook %s", w.manifest.Name, s.Hook)}
	case s.Hook == abi.HookStore, s.Hook == abi.HookStored:
		return w.store(ctx, s, at)
	case s.Hook != "":
		r, err := w.space.Families.TryHook(ctx, w.manifest.Name, family.Trial{Hook: s.Hook, Arguments: s.Request, Location: at, Caller: w.caller(s), Ended: func(*sandbox.Result) {}})
		return r.Output, err
	}
	a, err := w.space.Tools.Dispatch(ctx, tool.Request{Tool: s.Tool, Arguments: s.Arguments, Caller: w.caller(s), Branch: s.Branch, Namespace: s.Namespace})
	if err != nil {
		return nil, err
	}
	if a.Value != nil {
		return json.Marshal(a.Value)
	}
	return json.Marshal(a.Structured)
}

// store stores memories as a client does. The answer is that of the store hook; of stored there is none.
func (w *caseWorld) store(ctx context.Context, s cases.Step, at memory.Location) (json.RawMessage, error) {
	var request struct {
		Entries []abi.Entry `json:"entries"`
	}
	if err := json.Unmarshal(s.Request, &request); err != nil || len(request.Entries) == 0 {
		return nil, &memory.Error{Code: memory.InvalidArgument, Message: fmt.Sprintf(`read the request of hook %s, as {"entries": [{"key": "a", "value": "text"}]}`, s.Hook)}
	}
	items := make([]memory.Item, len(request.Entries))
	for i, e := range request.Entries {
		items[i] = memory.Item{Key: e.Key, Value: e.Value, Tags: e.Tags, Type: e.Type, Importance: e.Importance, Metadata: e.Metadata, State: memory.State(e.State), Supersedes: e.Supersedes, Links: e.Links}
	}
	caller := w.caller(s)
	if _, err := w.space.Memory.As(caller).Store(ctx, at, items, memory.Write{Agent: caller.Agent}); err != nil {
		return nil, err
	}
	hooked, failed := w.taken()
	switch {
	case failed != nil:
		return nil, failed
	case s.Hook == abi.HookStored || len(hooked) == 0:
		return json.RawMessage("null"), nil
	}
	return hooked, nil
}

// job queues a job and runs it. The answer is its result.
func (w *caseWorld) job(ctx context.Context, s cases.Step) (json.RawMessage, error) {
	caller := w.caller(s)
	stage, err := w.space.Memory.As(caller).Stage(ctx, s.Branch)
	if err != nil {
		return nil, err
	}
	queue, err := w.space.Families.JobsOn(stage, w.manifest.Name, caller, cmp.Or(s.Namespace, memory.Default))
	if err != nil {
		return nil, err
	}
	id, err := queue.Enqueue(ctx, abi.JobEnqueueRequest{Job: s.Job, Payload: s.Payload})
	if err != nil {
		return nil, err
	}
	if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
		return nil, err
	}
	if err := w.space.Families.Step(ctx); err != nil {
		return nil, err
	}
	if _, failed := w.taken(); failed != nil {
		return nil, failed
	}
	list, err := w.space.Families.Jobs(ctx)
	if err != nil {
		return nil, err
	}
	for _, j := range list {
		if j.ID == id && len(j.Result) > 0 {
			return j.Result, nil
		}
	}
	return json.RawMessage("null"), nil
}

// readMemory reads what a step expects of the memory.
func (w *caseWorld) readMemory(ctx context.Context, s cases.Step, got *cases.Got) (err error) {
	if s.Expect == nil || s.Expect.Memories == nil && s.Expect.Records == nil {
		return nil
	}
	stage, err := w.space.Memory.As(owner()).Stage(ctx, s.Branch)
	if err != nil {
		return err
	}
	namespace := cmp.Or(s.Namespace, memory.Default)
	if s.Expect.Memories != nil {
		if got.Memories, err = listedMemories(ctx, stage, namespace); err != nil {
			return err
		}
	}
	got.Records = map[string]json.RawMessage{}
	for name := range s.Expect.Records {
		c, err := collection(w.manifest, name)
		if err != nil {
			return err
		}
		if got.Records[name], err = listedRecords(ctx, stage, c, namespace); err != nil {
			return err
		}
	}
	return nil
}

// remembered is a memory as cases see it.
type remembered struct {
	Value      json.RawMessage            `json:"value"`
	Tags       []string                   `json:"tags,omitempty"`
	Type       string                     `json:"type,omitempty"`
	Importance *float64                   `json:"importance,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	State      memory.State               `json:"state,omitempty"`
	Supersedes []string                   `json:"supersedes,omitempty"`
	Links      []string                   `json:"links,omitempty"`
	ExpiresAt  string                     `json:"expires_at,omitempty"`
}

func listedMemories(ctx context.Context, stage *memory.Stage, namespace string) (json.RawMessage, error) {
	all, after := map[string]remembered{}, ""
	for {
		list, next, err := stage.List(ctx, namespace, "", after, mostAtOnce)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			r := remembered{Value: m.Value, Tags: m.Tags, Type: m.Type, Importance: m.Importance, Metadata: m.Metadata, State: m.State, Supersedes: m.Supersedes, Links: m.Links}
			if r.State == memory.Active {
				r.State = ""
			}
			if !m.ExpiresAt.IsZero() {
				r.ExpiresAt = memory.FormatTime(m.ExpiresAt)
			}
			all[m.Key] = r
		}
		if after = next; after == "" {
			return json.Marshal(all)
		}
		if len(all) > mostListed {
			return nil, fmt.Errorf("namespace %s has more than %d memories: expect memories of a smaller one", namespace, mostListed)
		}
	}
}

func listedRecords(ctx context.Context, stage *memory.Stage, c memory.Collection, namespace string) (json.RawMessage, error) {
	all, after := map[string]json.RawMessage{}, ""
	for {
		list, next, err := stage.ListRecords(ctx, c, namespace, "", after, mostAtOnce)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			all[r.Key] = r.Value
		}
		if after = next; after == "" {
			return json.Marshal(all)
		}
		if len(all) > mostListed {
			return nil, fmt.Errorf("collection %s has more than %d records: expect those of a smaller one", c.Name, mostListed)
		}
	}
}
