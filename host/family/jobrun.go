package family

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// attempt asks the family to do the job, and commits what that stages together with the job's end.
func (j *jobs) attempt(ctx context.Context, job *Job) error {
	f := j.families
	x, err := f.versionFor(*job)
	if err != nil {
		return err
	}
	m, release, err := f.acquire(ctx, x)
	if err != nil {
		return err
	}
	defer release()
	if err := f.mayDo(x, *job); err != nil {
		return err
	}
	stage, err := f.o.Space.Stage(ctx, job.Branch, agentOr(job.Agent, x))
	if err != nil {
		return err
	}
	now, err := find(ctx, stage, job.ID)
	if err != nil {
		return err
	}
	if now == nil || now.State != Queued {
		job.State = Cancelled // before it could begin
		return nil
	}
	job.Payload = now.Payload
	if job.Sent = now.Sent; len(job.Sent) > 0 {
		return brokenOff(job.Sent)
	}
	effects := memory.NewEffects(j.sentBefore(stage, job.ID))
	ctx = memory.WithEffects(ctx, effects)
	w := f.newRequest(x, stage, job.caller(), job.Namespace, job.ID)
	w.Progress = func(done, total float64, message string) { j.progressed(job.ID, Progress{done, total, message}) }
	if job.Name == deferredStore {
		err = w.deferred(ctx, m, job.Payload)
	} else {
		job.Result, err = w.runJob(ctx, m, *job)
	}
	if job.Sent = effects.List(); err == nil {
		err = j.finish(ctx, w, job)
	}
	if job.Sent = effects.List(); err != nil && len(job.Sent) > 0 { // its end may have asked hooks, too
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("%s; nothing was stored: %v. It is not tried again, because that would send it again", strings.Join(job.Sent, "; "), err)}
	}
	return err
}

// versionFor is the version of a family that does a job: the one that queued it, as long as that serves the store hook, or else
// the present one.
func (f *Families) versionFor(job Job) (*family, error) {
	x, err := f.named(job.Family)
	if g := f.guardNow(job.Family); g != nil && g.digest == job.Digest && (err != nil || x.digest != job.Digest) {
		return g, nil
	}
	return x, err
}

// mayDo is an error when an operator does not let a version of a family do a job.
func (f *Families) mayDo(x *family, job Job) error {
	switch {
	case f.mayRun(x, job.Name):
		return nil
	case job.Digest != "" && job.Digest != x.digest:
		return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("it was queued by the version with the SHA-256 %s, which another one replaced, and that one has no right to jobs: "+
			"an operator can grant it, with: alcove family grant %s job", job.Digest, x.name)}
	}
	return &memory.Error{Code: memory.Denied, Message: "the right to it was taken back since it was queued"}
}

// brokenOff is why a job that the server did not see to its end is not begun again.
func brokenOff(sent []string) error {
	return &memory.Error{Code: memory.Conflict, Message: "the server stopped while it ran: " + strings.Join(sent, "; ") +
		". Nothing else of it was kept, and it is not begun again: find out there what came of it, and queue another if it is still to be done"}
}

// sentBefore notes what a job does outside in its record, before it does it. A job that was cancelled meanwhile does nothing more.
func (j *jobs) sentBefore(stage *memory.Stage, id string) func(context.Context, []string) error {
	return func(ctx context.Context, sent []string) error {
		own, err := j.families.o.Space.Stage(ctx, memory.Default, "")
		if err != nil {
			return err
		}
		now, err := find(ctx, own, id)
		if err != nil {
			return err
		}
		if now == nil || now.State != Queued {
			return &memory.Error{Code: memory.Conflict, Message: "the job was cancelled: nothing more is sent"}
		}
		now.Sent = sent
		if err := j.put(ctx, own, *now); err != nil {
			return err
		}
		done, err := own.Commit(ctx, memory.Commit{})
		if err != nil {
			return err
		}
		stage.ExpectRecord(jobRecords, ops.SystemNamespace, id, done.Version)
		return nil
	}
}

// mayRun reports whether an operator lets a family do a job.
func (f *Families) mayRun(x *family, job string) bool {
	g := f.grantOf(x)
	if job == deferredStore {
		_, on := g.Hooks[abi.HookStore]
		return on
	}
	_, on := g.Hooks[abi.HookJob]
	return on || granted(g, abi.CanJob)
}

// finish commits what a job staged, and that it is done.
func (j *jobs) finish(ctx context.Context, w *request, job *Job) error {
	if now, err := find(ctx, w.Stage, job.ID); err != nil {
		return err
	} else if now != nil && now.State == Cancelled { // by itself
		job.State = Cancelled
		return nil
	}
	if len(job.Result) > resultLimit {
		job.Result = nil
	}
	done := *job
	done.State, done.Ended, done.Error, done.Payload = Done, j.families.o.Clock(), "", nil
	c := memory.Commit{Write: memory.Write{Agent: job.Agent}}
	if w.Proposes() {
		c.Proposal = w.proposalName()
		done.Proposal = c.Proposal
	}
	if err := j.put(ctx, w.Stage, done); err != nil {
		return err
	}
	if _, err := w.commitStage(ctx, c); err != nil {
		return err
	}
	*job = done
	w.FinishUnseen(ctx)
	return nil
}

// runJob asks the guest to do a job.
func (w *request) runJob(ctx context.Context, m module, job Job) (json.RawMessage, error) {
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookJob, Job: job.Name, Payload: job.Payload, Config: config, Context: w.Context()})
	if err != nil {
		return nil, fmt.Errorf("run job %s: %w", job.Name, err)
	}
	return w.ask(ctx, m, abi.KindHook, request)
}
