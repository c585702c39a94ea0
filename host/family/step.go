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
	err := f.jobs.Step(ctx)
	for _, x := range f.listeners() {
		for more := true; more; {
			var failed error
			more, failed = f.tellAll(ctx, x.name)
			err = errors.Join(err, failed)
		}
	}
	return err
}

// Listen has families whose stored hook is on be told of what is stored from now on.
func (f *Families) Listen(ctx context.Context) error {
	for _, x := range f.listeners() {
		if _, _, err := f.listensSince(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// JobsOn are the jobs of a family as a request on a stage sees them, for a caller in a namespace.
func (f *Families) JobsOn(stage *memory.Stage, name string, caller memory.Caller, namespace string) (ops.Jobs, error) {
	x, err := f.named(name)
	if err != nil {
		return nil, err
	}
	return jobsOf{f.newRequest(x, stage, caller, namespace, "")}, nil
}
