package family

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

type jobEnqueueRequest struct {
	Job     string          `json:"job"`
	Payload json.RawMessage `json:"payload"`
	AfterS  float64         `json:"after_s"`
}

func jobEnqueue(w *work, ctx context.Context, r jobEnqueueRequest) (any, error) {
	if err := w.powers.Check(abi.CanJob, ""); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(w.family.manifest.Hooks.Jobs, func(j abi.Job) bool { return j.Name == r.Job }) {
		return nil, invalid("the manifest declares no job %.64q", r.Job)
	}
	delay := time.Duration(r.AfterS * float64(time.Second))
	if !(r.AfterS >= 0) || r.AfterS > longestDelay.Seconds() {
		return nil, invalid("after_s is %v: it goes from 0 to %d", r.AfterS, int(longestDelay.Seconds()))
	}
	if len(r.Payload) > payloadLimit {
		return nil, invalid("the payload has %d bytes: at most %d are allowed; keep what is larger in a collection", len(r.Payload), payloadLimit)
	}
	now := w.families.o.Clock()
	job := Job{ID: w.families.newID(now), Family: w.family.name, Name: r.Job, Payload: r.Payload, Agent: w.caller.Agent, Namespaces: w.caller.Namespaces, Branch: w.stage.Branch(),
		Namespace: w.namespace, State: Queued, Due: now.Add(delay), Created: now}
	if err := w.families.jobs.hasRoom(ctx, w.family, append(slices.Clip(w.queued), job)...); err != nil {
		return nil, err
	}
	if err := w.families.jobs.put(ctx, w.stage, job); err != nil {
		return nil, err
	}
	w.queued = append(w.queued, job.light())
	return map[string]any{"id": job.ID}, nil
}

type jobRequest struct {
	ID string `json:"id"`
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

func jobStatus(w *work, ctx context.Context, r jobRequest) (any, error) {
	job, err := w.job(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	w.families.jobs.describe(job)
	return struct {
		ID       string          `json:"id"`
		Job      string          `json:"job"`
		State    State           `json:"state"`
		Attempts int             `json:"attempts"`
		Progress *Progress       `json:"progress,omitempty"`
		Error    string          `json:"error,omitempty"`
		Result   json.RawMessage `json:"result,omitempty"`
		Proposal string          `json:"proposal,omitempty"`
	}{job.ID, job.Name, job.State, job.Attempts, job.Progress, job.Error, job.Result, job.Proposal}, nil
}

func jobCancel(w *work, ctx context.Context, r jobRequest) (any, error) {
	job, err := w.job(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	if job.State != Queued {
		return map[string]any{"cancelled": false}, nil
	}
	job.State, job.Ended = Cancelled, w.families.o.Clock()
	if err := w.families.jobs.put(ctx, w.stage, *job); err != nil {
		return nil, err
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
	return map[string]any{"cancelled": true}, nil
}
