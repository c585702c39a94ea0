package family

import (
	"context"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

func jobEnqueue(w *work, ctx context.Context, r abi.JobEnqueueRequest) (out abi.JobEnqueueResponse, err error) {
	if err := w.powers.Check(abi.CanJob, ""); err != nil {
		return out, err
	}
	if !slices.ContainsFunc(w.family.manifest.Hooks.Jobs, func(j abi.Job) bool { return j.Name == r.Job }) {
		return out, invalid("the manifest declares no job %.64q", r.Job)
	}
	delay := time.Duration(r.AfterS * float64(time.Second))
	if len(r.Payload) > payloadLimit {
		return out, invalid("the payload has %d bytes: at most %d are allowed; keep what is larger in a collection", len(r.Payload), payloadLimit)
	}
	now := w.families.o.Clock()
	job := Job{ID: w.families.newID(now), Family: w.family.name, Name: r.Job, Payload: r.Payload, Branch: w.stage.Branch(),
		Namespace: w.namespace, State: Queued, Due: now.Add(delay), Created: now}
	job.queuedFor(w.caller)
	if err := w.families.jobs.hasRoom(ctx, w.family, append(slices.Clip(w.queued), job)...); err != nil {
		return out, err
	}
	if err := w.families.jobs.put(ctx, w.stage, job); err != nil {
		return out, err
	}
	w.queued = append(w.queued, job.light())
	return abi.JobEnqueueResponse{ID: job.ID}, nil
}

// job finds one of the family's own.
func (w *work) job(ctx context.Context, id string) (*Job, error) {
	if id == "" {
		return nil, invalid("give the id of the job")
	}
	job, err := find(ctx, w.stage, id)
	if err != nil {
		return nil, err
	}
	if job == nil || job.Family != w.family.name {
		return nil, &abi.Error{Code: abi.CodeNotFound, Message: "there is no such job of this family"}
	}
	return job, nil
}

func jobStatus(w *work, ctx context.Context, r abi.JobStatusRequest) (out abi.JobStatusResponse, err error) {
	job, err := w.job(ctx, r.ID)
	if err != nil {
		return out, err
	}
	w.families.jobs.describe(job)
	out = abi.JobStatusResponse{ID: job.ID, Job: job.Name, State: string(job.State), Attempts: job.Attempts, Error: job.Error, Result: job.Result, Proposal: job.Proposal}
	if p := job.Progress; p != nil {
		out.Progress = &abi.Progress{Done: p.Done, Total: p.Total, Message: p.Message}
	}
	return out, nil
}

func jobCancel(w *work, ctx context.Context, r abi.JobCancelRequest) (out abi.JobCancelResponse, err error) {
	job, err := w.job(ctx, r.ID)
	if err != nil {
		return out, err
	}
	if job.State != Queued {
		return out, nil
	}
	job.State, job.Ended = Cancelled, w.families.o.Clock()
	if err := w.families.jobs.put(ctx, w.stage, *job); err != nil {
		return out, err
	}
	w.after("stop the job", func(context.Context) error {
		w.families.jobs.mu.Lock()
		defer w.families.jobs.mu.Unlock()
		if cancel := w.families.jobs.cancel[job.ID]; cancel != nil {
			cancel() // it leaves the queue when it has ended
			return nil
		}
		w.families.jobs.remove(job.ID)
		return nil
	})
	return abi.JobCancelResponse{Cancelled: true}, nil
}
