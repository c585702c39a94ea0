package family

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/policy"
)

// jobRecords is the collection of jobs, and schedules that of when those with a schedule ran last.
var (
	jobRecords = memory.Collection{Name: "_jobs", PerSpace: true}
	schedules  = memory.Collection{Name: "_schedules", PerSpace: true}
)

// State is where a job is in its life.
type State string

// The states of a job.
const (
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Job is a piece of work that a family does when nobody waits for it.
type Job struct {
	ID      string          `json:"id"`
	Family  string          `json:"family"`
	Name    string          `json:"job"` // as its manifest has it; "store hook" for a hook that was put off
	Payload json.RawMessage `json:"payload,omitempty"`
	Agent   string          `json:"agent,omitempty"` // on whose behalf
	// Namespaces are those that whoever queued it may use; nil: all.
	Namespaces []string        `json:"namespaces,omitzero"`
	Branch     string          `json:"branch"`
	Namespace  string          `json:"namespace"`
	State      State           `json:"state"`
	Attempts   int             `json:"attempts"`
	Due        time.Time       `json:"due"` // not before this
	Created    time.Time       `json:"created"`
	Ended      time.Time       `json:"ended,omitzero"`
	Progress   *Progress       `json:"progress,omitempty"`
	Error      string          `json:"error,omitempty"` // of the last attempt
	Result     json.RawMessage `json:"result,omitempty"`
	Proposal   string          `json:"proposal,omitempty"` // the branch that has what it proposes
}

// Progress is how far a job has come.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"` // 0: not known
	Message string  `json:"message,omitempty"`
}

const (
	jobAttempts   = 5
	longestRetry  = time.Hour
	longestDelay  = 366 * 24 * time.Hour
	jobsKept      = 7 * 24 * time.Hour // after their end
	mostQueued    = 10_000             // jobs of all families that wait
	resultLimit   = 64 << 10           // bytes of a job's result that are kept
	deferredStore = "store hook"
)

// jobs runs what is queued, one job of a family at a time.
type jobs struct {
	families *Families
	wake     chan struct{}

	mu       sync.Mutex
	running  map[string]*Job // by family
	progress map[string]Progress
	cancel   map[string]context.CancelFunc // by id
	tidied   time.Time                     // when ended jobs were last forgotten
}

func newJobs(f *Families) *jobs {
	return &jobs{families: f, wake: make(chan struct{}, 1), running: map[string]*Job{}, progress: map[string]Progress{}, cancel: map[string]context.CancelFunc{}}
}

func (j *jobs) wakeUp() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// newID is an id that sorts by time.
func (f *Families) newID(now time.Time) string {
	return fmt.Sprintf("%s-%s", now.UTC().Format("20060102150405.000"), f.o.Rand())
}

// run runs jobs as they become due, until ctx ends. What ran when the server stopped is begun again.
func (j *jobs) run(ctx context.Context) {
	var working sync.WaitGroup
	defer working.Wait()
	for {
		next := j.begin(ctx, &working)
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-j.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// longestSleep is how often due jobs and schedules are looked for at least.
const longestSleep = 30 * time.Second

// begin starts what is due, and tells how long there is nothing else to do.
func (j *jobs) begin(ctx context.Context, working *sync.WaitGroup) time.Duration {
	now := j.families.o.Clock()
	waiting, err := j.waiting(ctx)
	if err != nil {
		if ctx.Err() == nil {
			j.families.o.Logger.Warn("the queue of jobs could not be read", "error", err)
		}
		return longestSleep
	}
	sleep := longestSleep
	for _, job := range append(waiting, j.scheduled(ctx, now)...) {
		if wait := job.Due.Sub(now); wait > 0 {
			sleep = min(sleep, wait)
			continue
		}
		j.start(ctx, job, working)
	}
	if now.Sub(j.tidied) > time.Hour {
		j.tidied = now
		if err := j.forget(ctx, now); err != nil && ctx.Err() == nil {
			j.families.o.Logger.Warn("ended jobs could not be forgotten", "error", err)
		}
	}
	return max(sleep, time.Millisecond)
}

// start runs a job, unless one of its family runs.
func (j *jobs) start(ctx context.Context, job Job, working *sync.WaitGroup) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running[job.Family] != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	j.running[job.Family], j.cancel[job.ID] = &job, cancel
	working.Go(func() {
		defer cancel()
		j.do(ctx, job)
		j.mu.Lock()
		delete(j.running, job.Family)
		delete(j.cancel, job.ID)
		delete(j.progress, job.ID)
		j.mu.Unlock()
		j.wakeUp()
	})
}

// all lists the jobs that are remembered, oldest first.
func (j *jobs) all(ctx context.Context) ([]Job, error) {
	stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
	if err != nil {
		return nil, err
	}
	var list []Job
	for after, first := "", true; first || after != ""; first = false {
		page, next, err := stage.ListRecords(ctx, jobRecords, systemNamespace, "", after, 0)
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			var job Job
			if err := json.Unmarshal(r.Value, &job); err != nil {
				return nil, fmt.Errorf("read job %s: %w", r.Key, err)
			}
			list = append(list, job)
		}
		after = next
	}
	return list, nil
}

// waiting lists the jobs that are to be run, in their order.
func (j *jobs) waiting(ctx context.Context) ([]Job, error) {
	list, err := j.all(ctx)
	list = slices.DeleteFunc(list, func(job Job) bool { return job.State != Queued })
	slices.SortStableFunc(list, func(a, b Job) int { return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.ID, b.ID)) })
	return list, err
}

// put stages what is known of a job.
func (j *jobs) put(ctx context.Context, stage *memory.Stage, job Job) error {
	value, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("queue a job: %w", err)
	}
	return stage.PutRecord(ctx, jobRecords, systemNamespace, job.ID, value, nil)
}

// do runs a job once, and notes what became of it: together with what it writes when it succeeds, and alone otherwise.
func (j *jobs) do(ctx context.Context, job Job) {
	f := j.families
	job.Attempts++
	err := j.attempt(ctx, &job)
	if ctx.Err() != nil && !j.isCancelled(ctx, job.ID) {
		return // the server stops: the job is still queued
	}
	if err == nil {
		return
	}
	f.o.Logger.Warn("a job failed", "family", job.Family, "job", job.Name, "id", job.ID, "attempt", job.Attempts, "error", err)
	job.Error = err.Error()
	var known *memory.Error
	final := errors.As(err, &known) && !known.Retryable && (known.Code == memory.Denied || known.Code == memory.InvalidArgument || known.Code == memory.NotFound)
	if job.Attempts >= jobAttempts || final {
		job.State, job.Ended = Failed, f.o.Clock()
	} else {
		job.Due = f.o.Clock().Add(backoff(f.o.Retry, job.Attempts))
	}
	if err := j.note(context.WithoutCancel(ctx), job); err != nil {
		f.o.Logger.Warn("what became of a job could not be noted", "id", job.ID, "error", err)
	}
}

// backoff is how long to wait after a number of failures.
func backoff(first time.Duration, failures int) time.Duration {
	wait := first
	for range failures - 1 {
		wait = min(4*wait, longestRetry)
	}
	return wait
}

// note writes what became of a job that is still as it was begun.
func (j *jobs) note(ctx context.Context, job Job) error {
	stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
	if err != nil {
		return err
	}
	if now, err := find(ctx, stage, job.ID); err != nil || now != nil && now.State != Queued {
		return err // it was cancelled meanwhile
	}
	if err := j.put(ctx, stage, job); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

// find reads a job; nil when there is none.
func find(ctx context.Context, stage *memory.Stage, id string) (*Job, error) {
	found, err := stage.Records(ctx, jobRecords, systemNamespace, []string{id})
	if err != nil || found[0] == nil {
		return nil, err
	}
	var job Job
	if err := json.Unmarshal(found[0].Value, &job); err != nil {
		return nil, fmt.Errorf("read job %s: %w", id, err)
	}
	return &job, nil
}

func (j *jobs) isCancelled(ctx context.Context, id string) bool {
	stage, err := j.families.o.Space.Stage(context.WithoutCancel(ctx), memory.Default, "")
	if err != nil {
		return false
	}
	job, err := find(context.WithoutCancel(ctx), stage, id)
	return err == nil && job != nil && job.State == Cancelled
}

// attempt asks the family to do the job, and commits what that stages together with the job's end.
func (j *jobs) attempt(ctx context.Context, job *Job) error {
	f := j.families
	x, err := f.named(job.Family)
	if err != nil {
		return err
	}
	m, release, err := f.take(ctx, x)
	if err != nil {
		return err
	}
	defer release()
	stage, err := f.o.Space.Stage(ctx, job.Branch, agentOr(job.Agent, x))
	if err != nil {
		return err
	}
	w := f.newWork(x, stage, policy.Caller{Agent: job.Agent, Namespaces: job.Namespaces}, job.Namespace, job.ID)
	w.progress = func(done, total float64, message string) { j.progressed(job.ID, Progress{done, total, message}) }
	if job.Name == deferredStore {
		err = w.deferred(ctx, m, job.Payload)
	} else {
		job.Result, err = w.runJob(ctx, m, *job)
	}
	if err != nil {
		return err
	}
	return j.finish(ctx, w, job)
}

func (j *jobs) progressed(id string, p Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress[id] = p
}

// finish commits what a job staged, and that it is done.
func (j *jobs) finish(ctx context.Context, w *work, job *Job) error {
	if now, err := find(ctx, w.stage, job.ID); err != nil || now != nil && now.State == Cancelled {
		return err
	}
	if len(job.Result) > resultLimit {
		job.Result = nil
	}
	job.State, job.Ended, job.Error = Done, j.families.o.Clock(), ""
	c := memory.Commit{Write: memory.Write{Agent: job.Agent}}
	if w.proposes && w.stage.ChangesMemories() {
		c.Proposal = w.proposalName()
		job.Proposal = c.Proposal
	}
	if err := j.put(ctx, w.stage, *job); err != nil {
		return err
	}
	if _, err := w.stage.Commit(ctx, c); err != nil {
		return err
	}
	for _, note := range w.afterwards(ctx) {
		j.families.o.Logger.Warn("a job did not do all it wanted", "id", job.ID, "note", note)
	}
	return nil
}

// runJob asks the guest to do a job.
func (w *work) runJob(ctx context.Context, m module, job Job) (json.RawMessage, error) {
	config, err := w.configJSON(ctx)
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(abi.HookRequest{Hook: abi.HookJob, Job: job.Name, Payload: job.Payload, Config: config, Context: w.context()})
	if err != nil {
		return nil, fmt.Errorf("run job %s: %w", job.Name, err)
	}
	return w.ask(ctx, m, abi.KindHook, request)
}

// scheduled makes jobs of those with a schedule that are due.
func (j *jobs) scheduled(ctx context.Context, now time.Time) []Job {
	var due []Job
	for _, s := range j.families.schedules() {
		job, err := j.schedule(ctx, s, now)
		if err != nil && ctx.Err() == nil {
			j.families.o.Logger.Warn("a scheduled job could not be queued", "family", s.family.name, "job", s.job.Name, "error", err)
		}
		if job != nil {
			due = append(due, *job)
		}
	}
	return due
}

type schedule struct {
	family *family
	job    abi.Job
	every  time.Duration
}

// schedules are the jobs with a schedule of families whose job hook is on.
func (f *Families) schedules() []schedule {
	f.mu.RLock()
	defer f.mu.RUnlock()
	var list []schedule
	for _, x := range f.known {
		if x.fault != "" || x.digest == "" {
			continue
		}
		if _, on := grantIn(f.lock, x).Hooks[abi.HookJob]; !on {
			continue
		}
		for _, job := range x.manifest.Hooks.Jobs {
			if every, err := abi.Duration(job.Every); err == nil && every > 0 {
				list = append(list, schedule{x, job, every})
			}
		}
	}
	return list
}

// schedule queues a job whose time has come; the first time is one interval after its hook was turned on.
func (j *jobs) schedule(ctx context.Context, s schedule, now time.Time) (*Job, error) {
	stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
	if err != nil {
		return nil, err
	}
	key := s.family.name + "/" + s.job.Name
	found, err := stage.Records(ctx, schedules, systemNamespace, []string{key})
	if err != nil {
		return nil, err
	}
	last := now
	if found[0] != nil {
		if err := json.Unmarshal(found[0].Value, &last); err != nil {
			return nil, fmt.Errorf("read when %s ran: %w", key, err)
		}
		if now.Sub(last) < s.every {
			return nil, nil
		}
	}
	value, err := json.Marshal(now.UTC())
	if err != nil {
		return nil, err
	}
	if err := stage.PutRecord(ctx, schedules, systemNamespace, key, value, nil); err != nil {
		return nil, err
	}
	var job *Job
	if found[0] != nil {
		job = &Job{ID: j.families.newID(now), Family: s.family.name, Name: s.job.Name, Branch: memory.Default, Namespace: memory.Default,
			State: Queued, Due: now, Created: now}
		if err := j.put(ctx, stage, *job); err != nil {
			return nil, err
		}
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return job, err
}

// forget drops jobs that ended long ago.
func (j *jobs) forget(ctx context.Context, now time.Time) error {
	list, err := j.all(ctx)
	if err != nil {
		return err
	}
	var old []string
	for _, job := range list {
		if !job.Ended.IsZero() && now.Sub(job.Ended) > jobsKept {
			old = append(old, job.ID)
		}
	}
	for part := range slices.Chunk(old, 500) {
		stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
		if err != nil {
			return err
		}
		if _, err := stage.DeleteRecords(ctx, jobRecords, systemNamespace, part); err != nil {
			return err
		}
		if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
			return err
		}
	}
	return nil
}

// Jobs lists the jobs that are remembered, oldest first, with how far those that run have come.
func (f *Families) Jobs(ctx context.Context) ([]Job, error) {
	list, err := f.jobs.all(ctx)
	for i := range list {
		f.jobs.describe(&list[i])
	}
	return list, err
}

// describe adds what is known of a job that runs.
func (j *jobs) describe(job *Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if running := j.running[job.Family]; running != nil && running.ID == job.ID && job.State == Queued {
		job.State = Running
	}
	if p, ok := j.progress[job.ID]; ok {
		job.Progress = &p
	}
}
