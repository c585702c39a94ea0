package family

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// Step does what is due of what families do by themselves, and waits for it: it runs jobs, and tells families of what was stored.
func (f *Families) Step(ctx context.Context) error {
	f.jobs.WakeUp() // what JobsOn queued is news
	return errors.Join(f.jobs.Step(ctx), f.hooks.Step(ctx))
}

// Listen has families be told of what is stored from now on.
func (f *Families) Listen(ctx context.Context) error { return f.hooks.Listen(ctx) }

// behindHooks does what hooks leave to be done when nobody waits: at once where everything is done step by step.
func (f *Families) behindHooks(do func()) (begun bool) {
	if f.o.Stepwise {
		do()
		return true
	}
	return f.behind(do)
}

// JobsOn are the jobs of a family as a request on a stage sees them, for a caller in a namespace.
func (f *Families) JobsOn(stage *memory.Stage, name string, caller memory.Caller, namespace string) (ops.Jobs, error) {
	x, err := f.named(name)
	if err != nil {
		return nil, err
	}
	return jobsOf{f.newRequest(x, stage, caller, namespace, "")}, nil
}
