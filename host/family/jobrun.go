package family

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/memory/effect"
	"github.com/alcove-memory/alcove/host/memory/feed"
	"github.com/alcove-memory/alcove/registry"
)

// deferredStore is the name of jobs for deferred store hooks.
const deferredStore = "store hook"

// jobFamilies implements jobs.Families.
type jobFamilies struct{ *Families }

// Usable implements jobs.Families.
func (f jobFamilies) Usable(family string) error {
	_, err := f.catalogue.Named(family)
	return err
}

// Quota implements jobs.Families.
func (f jobFamilies) Quota(family string) (jobs.Backlog, bool) {
	x := f.catalogue.Known(family)
	if x == nil {
		return jobs.Backlog{}, false
	}
	g := f.catalogue.GrantOf(x)
	return jobs.Backlog{Jobs: grants.Quota(g, abi.QuotaJobs), JobBytes: grants.Quota(g, abi.QuotaJobBytes)}, true
}

// Raise implements jobs.Families.
func (f jobFamilies) Raise(family, quota string) string { return f.raiser(family).Raise(quota) }

// Parallel implements jobs.Families.
func (f jobFamilies) Parallel(family, job string) int {
	if m := f.catalogue.ManifestOf(family); m != nil {
		for _, j := range m.Hooks.Jobs {
			if j.Name == job {
				return min(max(j.Parallel, 1), abi.MostParallel)
			}
		}
	}
	return 1
}

// HasWrites implements jobs.Families.
func (f jobFamilies) HasWrites(ctx context.Context, job jobs.Job) (bool, error) {
	page, err := f.o.Space.As(job.Caller()).ReadFeed(ctx, feed.Query{Branch: job.Branch, After: job.FeedAfter, Limit: 1})
	return len(page.Notices) > 0 || page.Expired || page.Passed > mostPassed, err
}

// mostPassed is how many notices of others count as news: the watermark is to follow them.
const mostPassed = 5000

// Schedules implements jobs.Families: those of families whose job hook is on.
func (f jobFamilies) Schedules() (list []jobs.Schedule) {
	for _, x := range f.catalogue.On(abi.HookJob) {
		for _, job := range x.Manifest.Hooks.Jobs {
			if every, err := abi.Duration(job.Every); err == nil && every > 0 {
				list = append(list, jobs.Schedule{Family: x.Name, Job: job.Name, Every: every, Each: job.Each})
			}
		}
	}
	return list
}

// newID returns an id that sorts by time.
func (f *Families) newID(now time.Time) string {
	return fmt.Sprintf("%s-%s", now.UTC().Format("20060102150405.000"), f.o.Rand())
}

// Do implements jobs.Families. A job ends with the key of its caller.
func (f jobFamilies) Do(ctx context.Context, job *jobs.Job) error {
	if f.o.WhileKey == nil {
		return f.do(ctx, job)
	}
	held, stop := f.o.WhileKey(ctx, job.Key)
	defer stop()
	err := f.do(held, job)
	var why *memory.Error
	if err != nil && len(job.Sent) == 0 && ctx.Err() == nil && held.Err() != nil && errors.As(context.Cause(held), &why) {
		return why
	}
	return err
}

func (f jobFamilies) do(ctx context.Context, job *jobs.Job) error {
	j := f.jobs
	x, err := f.versionFor(*job)
	if err != nil {
		return err
	}
	m, release, err := f.catalogue.Acquire(ctx, x)
	if err != nil {
		return err
	}
	defer release()
	if err := f.mayDo(x, *job); err != nil {
		return err
	}
	if job.Key != "" && f.o.CheckKey != nil {
		if err := f.o.CheckKey(job.Key); err != nil {
			return err
		}
	}
	caller := job.Caller()
	caller.Call = job.ID
	stage, err := f.spaceFor(caller, x).Stage(ctx, job.Branch)
	if err != nil {
		return err
	}
	now, err := j.Find(ctx, stage, job.ID)
	if err != nil {
		return err
	}
	if now == nil || now.State != jobs.Queued {
		job.State = jobs.Cancelled // before it could begin
		return nil
	}
	job.Payload = now.Payload
	if job.Sent = now.Sent; len(job.Sent) > 0 {
		return jobs.BrokenOff(job.Sent)
	}
	effects := effect.New(j.NoteSent(stage, job.ID))
	ctx = effect.With(ctx, effects)
	w := f.newRequest(x, registry.Jobs, stage, caller, job.Namespace, job.ID)
	w.work = "job " + job.Name
	w.Progress = func(done, total float64, message string) {
		j.Progressed(job.ID, jobs.Progress{Done: done, Total: total, Message: message})
	}
	if err := w.gather(ctx); err != nil {
		return asMemory(err)
	}
	switch {
	case job.Name == sessionEnd:
		err = hooks.SessionEnd(ctx, guestRequest{w, m}, job.Payload)
	case job.Name == deferredStore:
		err = hooks.Deferred(ctx, guestRequest{w, m}, job.Payload)
		if errors.Is(err, hooks.ErrAbsent) && job.Attempts > 1 {
			err = nil // they were deleted: a store is over by the second attempt
		}
	default:
		job.Result, err = w.runJob(ctx, m, *job)
	}
	if job.Sent = effects.List(); err == nil {
		err = w.finishJob(ctx, job)
	}
	if job.Sent = effects.List(); err != nil && len(job.Sent) > 0 { // finishing may have called hooks, too
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("%s; nothing was stored: %v. It is not tried again, because that would send it again", strings.Join(job.Sent, "; "), err)}
	}
	return err
}

// versionFor returns the version of a family that runs a job: the one that queued it, while it serves the store hook, else
// the present one.
func (f *Families) versionFor(job jobs.Job) (*catalogue.Family, error) {
	x, err := f.catalogue.Named(job.Family)
	if g := f.catalogue.Guard(job.Family); g != nil && g.Digest == job.Digest && (err != nil || x.Digest != job.Digest) {
		return g, nil
	}
	return x, err
}

// mayDo returns an error if the operator does not let a version of a family run a job.
func (f *Families) mayDo(x *catalogue.Family, job jobs.Job) error {
	switch {
	case f.mayRun(x, job.Name):
		return nil
	case job.Digest != "" && job.Digest != x.Digest:
		return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("it was queued by the version with the SHA-256 %s, which another one replaced, and that one has no right to jobs: %s",
			job.Digest, f.catalogue.Advice().Grant("grant it", x.Name, string(abi.CanJob)))}
	}
	return &memory.Error{Code: memory.Denied, Message: "the right to it was revoked since it was queued"}
}

// mayRun reports whether an operator lets a family run a job.
func (f *Families) mayRun(x *catalogue.Family, job string) bool {
	g := f.catalogue.GrantOf(x)
	if job == deferredStore {
		_, on := g.Hooks[abi.HookStore]
		return on
	}
	if job == sessionEnd {
		_, on := g.Hooks[abi.HookSessionEnd]
		return on
	}
	_, on := g.Hooks[abi.HookJob]
	return on || grants.Holds(g, abi.CanJob)
}

// finishJob commits what a job staged, together with its completion.
func (w *request) finishJob(ctx context.Context, job *jobs.Job) error {
	j := w.families.jobs
	if now, err := j.Find(ctx, w.Stage, job.ID); err != nil {
		return err
	} else if now != nil && now.State == jobs.Cancelled { // by itself
		job.State = jobs.Cancelled
		return nil
	}
	if job.Result = w.Keepable(job.Result); len(job.Result) > jobs.ResultLimit {
		job.Result = nil
	}
	done := *job
	done.State, done.Ended, done.Error, done.Payload = jobs.Done, w.families.o.Clock(), "", nil
	c := memory.Commit{Named: true}
	w.propose(&c)
	done.Proposal = c.Proposal
	if err := j.Put(ctx, w.Stage, done); err != nil {
		return err
	}
	if _, err := w.commitStage(ctx, c); err != nil {
		return err
	}
	*job = done
	w.FinishUnseen(ctx)
	return nil
}

// runJob asks the guest to run a job.
func (w *request) runJob(ctx context.Context, m catalogue.Guest, job jobs.Job) (json.RawMessage, error) {
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

// Jobs lists the remembered jobs, oldest first, with the progress of running ones.
func (f *Families) Jobs(ctx context.Context) ([]jobs.Job, error) { return f.jobs.List(ctx) }

// NextJobs lists the next runs of jobs with a schedule.
func (f *Families) NextJobs(ctx context.Context) ([]jobs.Job, error) {
	return f.jobs.Next(ctx, f.o.Clock())
}

// RunJob runs a job with a schedule now.
func (f *Families) RunJob(ctx context.Context, family, job string) error {
	x, err := f.catalogue.Named(family)
	if err != nil {
		return err
	}
	var scheduled []string
	for _, j := range x.Manifest.Hooks.Jobs {
		if j.Every != "" {
			scheduled = append(scheduled, j.Name)
		}
	}
	if !slices.Contains(scheduled, job) {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("family %s has no job %.64q with a schedule: those that have one: %s", family, job, cmp.Or(strings.Join(scheduled, ", "), "none"))}
	}
	if _, on := f.catalogue.Hook(x, abi.HookJob); !on {
		return &memory.Error{Code: memory.Denied, Message: fmt.Sprintf("family %s runs no jobs: %s", family, f.catalogue.Advice().Grant("let it", family, "--hook", "job"))}
	}
	return f.jobs.RunNow(ctx, family, job, f.o.Clock())
}

// RetryJob queues a job again that failed or was cancelled.
func (f *Families) RetryJob(ctx context.Context, id string) error {
	return f.jobs.Retry(ctx, id, f.o.Clock())
}

// CancelJob cancels a job that waits or runs.
func (f *Families) CancelJob(ctx context.Context, id string) error {
	return f.jobs.Cancel(ctx, id, f.o.Clock())
}
