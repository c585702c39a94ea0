package family

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
)

// jobsOf implements ops.Jobs for a request's family.
type jobsOf struct{ *request }

// Enqueue implements ops.Jobs.
func (r jobsOf) Enqueue(ctx context.Context, q abi.JobEnqueueRequest) (string, error) {
	if !slices.ContainsFunc(r.family.Manifest.Hooks.Jobs, func(j abi.Job) bool { return j.Name == q.Job }) {
		return "", invalidf("the manifest declares no job %.64q", q.Job)
	}
	if len(q.Payload) > jobs.PayloadLimit {
		return "", invalidf("the payload has %d bytes: at most %d are allowed; keep what is larger in a collection", len(q.Payload), jobs.PayloadLimit)
	}
	queue, now := r.families.jobs, r.families.o.Clock()
	job := jobs.Job{ID: r.families.newID(now), Family: r.family.Name, Digest: r.family.Digest, Name: q.Job, Payload: q.Payload, Branch: r.Stage.Branch(),
		Namespace: r.Namespace, State: jobs.Queued, Due: now.Add(time.Duration(q.AfterS * float64(time.Second))), Created: now}
	if job.FeedAfter = q.FeedAfter; q.FeedAfter > 0 && !r.Powers.Has(abi.CanFeedRead) {
		return "", r.Powers.Check(abi.CanFeedRead, r.Namespace)
	}
	job.SetCaller(r.Caller)
	if err := queue.HasRoom(ctx, r.family.Name, append(slices.Clip(r.queued), job)...); err != nil {
		return "", err
	}
	if err := queue.Put(ctx, r.Stage, job); err != nil {
		return "", err
	}
	r.queued = append(r.queued, job.Light())
	return job.ID, nil
}

// job finds one of the family's own jobs, if its caller has some right to the job's namespace and queued it, itself or by its agents. The
// owner has all jobs.
func (r jobsOf) job(ctx context.Context, id string, may func(memory.Rights, string) bool) (*jobs.Job, error) {
	if id == "" {
		return nil, invalidf("give the id of the job")
	}
	job, err := r.families.jobs.Find(ctx, r.Stage, id)
	if err != nil {
		return nil, err
	}
	if job == nil || job.Family != r.family.Name || !r.Caller.IsOwner() && (job.Caller().AsMember() != r.Caller.AsMember() || !may(r.Caller.Rights, job.Namespace)) {
		return nil, &abi.Error{Code: abi.CodeNotFound, Message: "there is no such job of this family"}
	}
	return job, nil
}

// Status implements ops.Jobs.
func (r jobsOf) Status(ctx context.Context, id string) (out abi.JobStatusResponse, err error) {
	job, err := r.job(ctx, id, memory.Rights.MayRead)
	if err != nil {
		return out, err
	}
	r.families.jobs.Describe(job)
	out = abi.JobStatusResponse{ID: job.ID, Job: job.Name, State: string(job.State), Attempts: job.Attempts, Error: job.Error, Result: job.Result, Proposal: job.Proposal}
	if p := job.Progress; p != nil {
		out.Progress = &abi.Progress{Done: p.Done, Total: p.Total, Message: p.Message}
	}
	return out, nil
}

// Cancel implements ops.Jobs. A running job is stopped when the request is committed.
func (r jobsOf) Cancel(ctx context.Context, id string) (bool, error) {
	job, err := r.job(ctx, id, memory.Rights.MayWrite)
	if err != nil || job.State != jobs.Queued {
		return false, err
	}
	job.State, job.Ended = jobs.Cancelled, r.families.o.Clock()
	if err := r.families.jobs.Put(ctx, r.Stage, *job); err != nil {
		return false, err
	}
	r.After("stop the job", func(context.Context) error {
		r.families.jobs.Stop(job.ID)
		return nil
	})
	return true, nil
}

// invalidf returns the error for a guest's malformed request.
func invalidf(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeInvalidArgument, Message: fmt.Sprintf(format, args...)}
}
