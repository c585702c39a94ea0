package family

import (
	"context"
	"encoding/json"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// request is one request to a family: a call whose operations ops serves, and the handling of its outcome. Like the guest, it
// is not for concurrent use.
type request struct {
	*ops.Call
	families *Families
	family   *catalogue.Family

	during  registry.Work         // the part of the family's work that it belongs to
	applies string                // the namespace whose settings apply; empty: none's
	ended   func(*sandbox.Result) // nil: not reported
	notes   []string
	queued  []jobs.Job    // staged by the request
	changed bool          // it published or withdrew a tool
	offered memory.Rights // of the caller, whatever the tool declares
	work    string        // "tool NAME", "hook NAME" or "job NAME"
	called  audit.Entry   // of its last request to the guest; the zero Entry: none
}

func (f *Families) newRequest(x *catalogue.Family, during registry.Work, stage *memory.Stage, caller memory.Caller, namespace, requestID string) *request {
	r := &request{families: f, family: x, during: during, applies: namespace, offered: caller.Rights}
	if namespace == "" {
		namespace = memory.Default
	}
	caller = f.spaceFor(caller, x).Caller()
	r.Call = f.operations.Begin(ops.Request{
		Manifest: x.Manifest, Stage: stage, Caller: caller, Powers: f.catalogue.Powers(x, caller, during), Namespace: namespace, RequestID: requestID,
		Quota: grants.RecordQuota(f.catalogue.GrantOf(x)), Budget: f.budgetOf(x), Config: configOf{r}, Tools: toolsOf{r}, Jobs: jobsOf{r}, Served: r.served, CheckKey: f.o.CheckKey,
	})
	return r
}

// within returns the request for another family's tool in the same stage, as part of the same work.
func (r *request) within(t *catalogue.Tool) *request {
	inner := r.families.newRequest(t.Family, r.during, r.Stage, forTool(r.Caller, t), r.Namespace, r.RequestID)
	inner.DryRun, inner.Held, inner.offered = r.DryRun, r.Held, r.offered
	return inner
}

func (r *request) configJSON(ctx context.Context) (json.RawMessage, error) {
	c := configOf{r}
	return c.Settings().JSON(ctx, c.For())
}

// toolsOf implements ops.Tools for a request's family.
type toolsOf struct{ *request }

// List implements ops.Tools.
func (r toolsOf) List() []abi.ForeignTool {
	list := r.families.o.Callable.Core()
	for _, t := range r.families.catalogue.ToolsBeside(r.family, r.Caller.Rights) {
		list = append(list, abi.ForeignTool{Name: t.Name, Family: t.Family.Name, Description: t.Description, InputSchema: t.InputSchema})
	}
	return list
}

// Offered implements ops.Tools.
func (r toolsOf) Offered() []abi.ForeignTool { return r.families.o.Callable.Offered(r.offered) }

// Call implements ops.Tools: the tool's family has its own powers, bounded by its caller's.
func (r toolsOf) Call(ctx context.Context, name, spelling string, arguments json.RawMessage) (json.RawMessage, error) {
	p, err := r.families.o.Callable.Prepare(r.toolCall(spelling, arguments, r.Caller))
	r.logNotes(name, p.Notes)
	if err != nil {
		return nil, err
	}
	if p.Tool.Name != name { // which the family may call
		return nil, &abi.Error{Code: abi.CodeUnavailable, Retryable: true, Message: spelling + " has just become the name of another tool: try again"}
	}
	m, release, err := r.families.catalogue.Acquire(ctx, p.Tool.Family)
	if err != nil {
		return nil, err
	}
	defer release()
	inner, sent := r.within(p.Tool), effect.Of(ctx).Count()
	output, err := inner.callTool(ctx, m, p.Tool, p.Arguments)
	if err != nil {
		return nil, effect.Of(ctx).FailedSince(sent, err)
	}
	r.Adopt(inner.Call)
	r.queued = append(r.queued, inner.queued...)
	return output, nil
}
