package family

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/sandbox"
)

// request is one request to a family: a call whose operations ops serves, and what is left to do with its outcome. It is for one
// goroutine at a time, as the guest is.
type request struct {
	*ops.Call
	families *Families
	family   *family

	ended  func(*sandbox.Result) // nil: nobody asks
	notes  []string
	queued []jobs.Job // that were staged
}

func (f *Families) newRequest(x *family, stage *memory.Stage, caller memory.Caller, namespace, requestID string) *request {
	if namespace == "" {
		namespace = memory.Default
	}
	caller.Family = x.name
	r := &request{families: f, family: x}
	r.Call = f.operations.Begin(ops.Request{
		Manifest: x.manifest, Stage: stage, Caller: caller, Powers: f.powersOf(x, caller), Namespace: namespace, RequestID: requestID,
		Quota: recordQuota(f.grantOf(x)), Config: configOf{r}, Tools: toolsOf{r}, Jobs: jobsOf{r},
	})
	return r
}

// within is the request for another family's tool inside of the same stage.
func (r *request) within(x *family, t *abi.Tool) *request {
	inner := r.families.newRequest(x, r.Stage, forTool(r.Caller, t), r.Namespace, r.RequestID)
	inner.DryRun = r.DryRun
	return inner
}

func (r *request) configJSON(ctx context.Context) (json.RawMessage, error) {
	config, err := r.family.config(ctx, r.Stage)
	if err != nil {
		return nil, err
	}
	return json.Marshal(config)
}

// configOf is the configuration of a request's family.
type configOf struct{ *request }

// Config implements ops.Config.
func (c configOf) Config(ctx context.Context) (map[string]json.RawMessage, error) {
	return c.family.config(ctx, c.Stage)
}

// Configure implements ops.Config.
func (c configOf) Configure(ctx context.Context, values map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	return c.family.configure(ctx, c.Stage, values)
}

// toolsOf are the tools that a request's family may call, and publishes.
type toolsOf struct{ *request }

// List implements ops.Tools.
func (r toolsOf) List() (list []abi.ForeignTool) {
	f := r.families
	if c := f.callableTools(); c != nil {
		list = c.Core()
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, name := range slices.Sorted(maps.Keys(f.tools)) {
		x := f.tools[name]
		if x == r.family {
			continue
		}
		for _, t := range f.toolsOf(x) {
			if t.Name == name {
				list = append(list, abi.ForeignTool{Name: t.Name, Family: x.name, Description: t.Description, InputSchema: t.InputSchema})
			}
		}
	}
	return list
}

// Call implements ops.Tools: the tool's family has its own powers, within those of the caller.
func (r toolsOf) Call(ctx context.Context, tool, spelling string, arguments json.RawMessage) (json.RawMessage, error) {
	x, t, err := r.families.tool(tool)
	if err != nil {
		return nil, err
	}
	if r.Caller.Rights.WritesNothing() && !onlyReads(t) {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: tool + " may write, and the caller may only read"}
	}
	p, err := r.prepare(spelling, arguments)
	if err != nil {
		return nil, err
	}
	if err := x.checkArguments(t, p); err != nil {
		return nil, err
	}
	m, release, err := r.families.acquire(ctx, x)
	if err != nil {
		return nil, err
	}
	defer release()
	inner, sent := r.within(x, t), memory.EffectsOf(ctx).Count()
	output, err := inner.callTool(ctx, m, t, p.Arguments)
	if err != nil {
		return nil, memory.EffectsOf(ctx).FailedSince(sent, err)
	}
	r.Adopt(inner.Call)
	r.queued = append(r.queued, inner.queued...)
	return output, nil
}
