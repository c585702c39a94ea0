package family

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/config"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/family/policy"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// hookFamilies implements hooks.Families.
type hookFamilies struct{ *Families }

// Storing implements hooks.Families.
func (f hookFamilies) Storing() (list []hooks.Store, err error) {
	asked, reads, gone := f.catalogue.Storing()
	for _, s := range asked {
		list = append(list, hooks.Store{Family: hookFamily{f.Families, s.Family}, OnFailure: s.OnFailure})
	}
	if gone != nil {
		return list, hooks.MissingFor(gone, func(collection string) bool {
			family, _, _ := strings.Cut(collection, "/")
			return len(policy.Common(reads, []string{family})) > 0 // it may redact, so that what is private waits for it, too
		})
	}
	return list, nil
}

// On implements hooks.Families.
func (f hookFamilies) On(h abi.Hook) (list []hooks.Family) {
	for _, x := range f.catalogue.On(h) {
		list = append(list, hookFamily{f.Families, x})
	}
	return list
}

// hookFamily implements hooks.Family.
type hookFamily struct {
	families *Families
	family   *catalogue.Family
}

func (h hookFamily) Name() string            { return h.family.Name }
func (h hookFamily) Manifest() *abi.Manifest { return h.family.Manifest }
func (h hookFamily) Breaker() *hooks.Breaker { return &h.family.Breaker }

// Rights implements hooks.Family: the namespaces of its grant to read memories, or else to write or propose them. A family
// without any such grant sees everything that its hooks cover.
func (h hookFamily) Rights() memory.Rights {
	g := h.families.catalogue.GrantOf(h.family)
	powers := h.families.catalogue.Powers(h.family, ops.OwnCaller(h.family.Name), "")
	switch {
	case grants.Holds(g, abi.CanMemoryRead):
		return memory.RightsTo(powers.Scope(abi.CanMemoryRead), nil)
	case grants.Holds(g, abi.CanMemoryWrite), grants.Holds(g, abi.CanMemoryPropose):
		return memory.RightsTo(append(powers.Scope(abi.CanMemoryWrite), powers.Scope(abi.CanMemoryPropose)...), nil)
	}
	return memory.FullRights().ReadOnly()
}

// ReadsRecords implements hooks.Family. What is private is shown to no family but one that redacts, which the operator approved for that:
// a secret must not stay in clear because it stands in a private message. A collection that no manifest declares is shown: a hook that may refuse
// is not passed because a family has a fault.
func (h hookFamily) ReadsRecords(collection string) bool {
	family, _, _ := strings.Cut(collection, "/")
	store, c := h.family.Manifest.Hooks.Store, h.families.catalogue.DeclarationOf(collection)
	return h.families.catalogue.Powers(h.family, ops.OwnCaller(h.family.Name), "").Allows(abi.CanRecordsRead, family) &&
		(store != nil && store.Redacts || c == nil || !c.Private)
}

// Generations implements hooks.Family: the operator's value, else the manifest's, else one.
func (h hookFamily) Generations(hook abi.Hook) int {
	said, _ := h.families.catalogue.Hook(h.family, hook)
	asked := 0
	if stored := h.family.Manifest.Hooks.Stored; hook == abi.HookStored && stored != nil {
		asked = stored.Generations
	}
	return cmp.Or(said.Generations, asked, 1)
}

// Setting implements hooks.Family.
func (h hookFamily) Setting(ctx context.Context, key string) (text string, err error) {
	values, err := h.values(ctx, config.For{Family: h.family.Name})
	if err != nil {
		return "", err
	}
	return text, json.Unmarshal(values[key], &text)
}

// values returns the family's settings as they apply. They are read once for each version of the space.
func (h hookFamily) values(ctx context.Context, where config.For) (map[string]json.RawMessage, error) {
	f, x := h.families, h.family
	s := f.settingsOf(x, nil)
	version, _, err := f.ownSpace(x).VersionAt(ctx, memory.Default, memory.AsOf{})
	if err != nil {
		return nil, err
	}
	if values, known := s.Known(version, where); known {
		return values, nil
	}
	if s.Stage, err = f.operatorStage(ctx, x); err != nil {
		return nil, err
	}
	return s.Learn(ctx, where)
}

// RankWhen implements hooks.Family.
func (h hookFamily) RankWhen() abi.When { return h.families.catalogue.RankWhen(h.family) }

// Differs implements hooks.Family.
func (h hookFamily) Differs(ctx context.Context, when abi.When, agent, namespace string) (bool, error) {
	values, err := h.values(ctx, config.For{Family: h.family.Name, Agent: agent, Namespace: namespace})
	if err != nil {
		return false, err
	}
	for _, s := range h.family.Manifest.Config {
		if when.Names(s.Key) && !config.Same(s.Default, values[s.Key]) {
			return true, nil
		}
	}
	return false, nil
}

// Keeps implements hooks.Family.
func (h hookFamily) Keeps(ctx context.Context, at memory.Location, collection string) (bool, error) {
	i := slices.IndexFunc(h.family.Manifest.Collections, func(c abi.Collection) bool { return c.Name == collection })
	if i < 0 {
		return false, nil
	}
	c, err := ops.CollectionOf(h.family.Manifest, h.family.Manifest.Collections[i])
	if err != nil {
		return false, err
	}
	stage, err := h.families.ownSpace(h.family).Stage(ctx, at.Branch)
	if err != nil {
		return false, err
	}
	list, _, err := stage.ListRecords(ctx, c, at.Namespace, "", "", 1)
	return len(list) > 0, err
}

// ReachesOutside implements hooks.Family.
func (h hookFamily) ReachesOutside() bool {
	g := h.families.catalogue.GrantOf(h.family)
	return grants.Holds(g, abi.CanHTTP) || grants.Holds(g, abi.CanLLM) || grants.Holds(g, abi.CanFileWrite)
}

// Loaded implements hooks.Family. A module that failed to load is not retried for a while.
func (h hookFamily) Loaded() (hooks.Guest, bool) {
	if m, release := h.families.catalogue.Running(h.family); m != nil {
		return guest{h, m, release}, true
	}
	h.families.catalogue.LoadForHooks(h.family)
	return nil, false
}

// Load implements hooks.Family.
func (h hookFamily) Load(ctx context.Context) (hooks.Guest, error) {
	m, release, err := h.families.catalogue.Acquire(ctx, h.family)
	if err != nil {
		return nil, err
	}
	return guest{h, m, release}, nil
}

// Defer implements hooks.Family.
func (h hookFamily) Defer(ctx context.Context, c memory.Caller, at memory.Location, payload json.RawMessage) error {
	f := h.families
	stage, err := f.ownSpace(h.family).Stage(ctx, at.Branch)
	if err != nil {
		return err
	}
	now := f.o.Clock()
	job := jobs.Job{ID: f.newID(now), Family: h.family.Name, Name: deferredStore, Payload: payload, Branch: at.Branch, Namespace: at.Namespace,
		State: jobs.Queued, Due: now.Add(f.o.Retry), Created: now}
	job.SetCaller(c)
	if err := f.jobs.Put(ctx, stage, job); err != nil {
		return err
	}
	_, err = f.jobs.Commit(ctx, stage, memory.Commit{}, []jobs.Job{job})
	return err
}

// guest is the loaded module of a family.
type guest struct {
	hookFamily
	module  catalogue.Guest
	release func()
}

// Release implements hooks.Guest.
func (g guest) Release() { g.release() }

// Begin implements hooks.Guest.
func (g guest) Begin(hook abi.Hook, stage *memory.Stage, c memory.Caller, namespace, requestID string) hooks.Request {
	w := g.families.newRequest(g.family, workOf(hook), stage, c, namespace, requestID)
	w.work = "hook " + string(hook)
	return guestRequest{w, g.module}
}

// workOf returns the part of a family's work that a hook belongs to.
func workOf(h abi.Hook) registry.Work {
	if h == abi.HookStored || h == abi.HookMerged || h == abi.HookSessionEnd {
		return registry.Jobs
	}
	return registry.Calls
}

// guestRequest is a request of a hook to a module.
type guestRequest struct {
	request *request
	module  catalogue.Guest
}

// Operations implements hooks.Request.
func (r guestRequest) Operations() *ops.Call { return r.request.Call }

// Config implements hooks.Request.
func (r guestRequest) Config(ctx context.Context) (json.RawMessage, error) {
	return r.request.configJSON(ctx)
}

// Ask implements hooks.Request.
func (r guestRequest) Ask(ctx context.Context, kind abi.Kind, payload []byte, cpu time.Duration) ([]byte, error) {
	limits := grants.Limits(r.request.families.catalogue.GrantOf(r.request.family))
	if cpu > 0 {
		limits = within(limits, r.request.family.Manifest.Limits, cpu)
	}
	if err := r.request.gather(ctx); err != nil {
		return nil, asMemory(err)
	}
	result, err := r.request.call(ctx, r.module, sandbox.Request{Kind: kind, Payload: payload, Limits: limits})
	if err != nil {
		return nil, asMemory(err)
	}
	answer := r.request.outcome
	if kind == abi.KindHook {
		answer = r.request.answer // the caller of a hook names its family
	}
	output, err := answer(result)
	if err != nil {
		return nil, hooks.Failed(err)
	}
	return output, nil
}

// within lowers a limit of processor time.
func within(limits abi.Limits, manifest abi.Limits, most time.Duration) abi.Limits {
	asked := manifest.CPUMS
	if limits.CPUMS > 0 && (asked == 0 || limits.CPUMS < asked) {
		asked = limits.CPUMS
	}
	if asked == 0 || asked > most.Milliseconds() {
		asked = most.Milliseconds()
	}
	limits.CPUMS = asked
	return limits
}

// Commit implements hooks.Request.
func (r guestRequest) Commit(ctx context.Context) error {
	var c memory.Commit
	r.request.propose(&c)
	if _, err := r.request.commitStage(ctx, c); err != nil {
		return err
	}
	r.request.FinishUnseen(ctx)
	return nil
}
