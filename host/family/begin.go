package family

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

func (f *Families) newRequest(x *catalogue.Family, during registry.Work, stage *memory.Stage, caller memory.Caller, namespace, requestID string) *request {
	r := &request{families: f, family: x, during: during, applies: namespace, offered: caller.Rights}
	if namespace == "" {
		namespace = memory.Default
	}
	caller = f.spaceFor(caller, x).Caller()
	r.Call = f.operations.Begin(ops.Request{
		Manifest: x.Manifest, Stage: stage, Caller: caller, Powers: f.catalogue.Powers(x, caller, during),
		Hooks: func() []abi.Hook { return f.catalogue.HooksOf(x) }, Namespace: namespace, RequestID: requestID,
		Quota: grants.RecordQuota(f.catalogue.GrantOf(x), f.raiser(x.Name)), Budget: f.budgetOf(x), Config: configOf{r}, Tools: toolsOf{r}, Jobs: jobsOf{r}, Served: r.served, CheckKey: f.o.CheckKey,
	})
	return r
}

// within returns the request for another family's tool in the same stage, as part of the same work.
func (r *request) within(t *catalogue.Tool) *request {
	inner := r.families.newRequest(t.Family, r.during, r.Stage, forTool(r.Caller, t), r.Namespace, r.RequestID)
	inner.DryRun, inner.Held, inner.offered = r.DryRun, r.Held, r.offered
	return inner
}
