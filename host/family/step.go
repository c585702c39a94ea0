package family

import (
	"context"
	"errors"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Step runs what is due of the families' background work, and waits for it: jobs, and hooks for what was stored.
func (f *Families) Step(ctx context.Context) error {
	f.jobs.WakeUp() // JobsOn may have queued some
	return errors.Join(f.jobs.Step(ctx), f.hooks.Step(ctx))
}

// Listen passes everything stored from now on to the families' hooks.
func (f *Families) Listen(ctx context.Context) error { return f.hooks.Listen(ctx) }

// behindHooks runs the background work of hooks: at once if everything runs stepwise.
func (f *Families) behindHooks(do func()) (begun bool) {
	if f.o.Stepwise {
		do()
		return true
	}
	return f.catalogue.Behind(do)
}

// JobsOn returns the jobs of a family for a request on a stage, by a caller in a namespace.
func (f *Families) JobsOn(stage *memory.Stage, name string, caller memory.Caller, namespace string) (ops.Jobs, error) {
	x, err := f.catalogue.Named(name)
	if err != nil {
		return nil, err
	}
	return jobsOf{f.newRequest(x, registry.Calls, stage, caller, namespace, "")}, nil
}
