// Package jobs keeps the queue of families' background work, and runs it.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// records is the collection of jobs, and schedules that of the last runs of scheduled jobs.
var (
	records   = memory.Collection{Name: "_jobs", PerSpace: true, Internal: true}
	schedules = memory.Collection{Name: "_schedules", PerSpace: true, Internal: true}
)

// State is a state in the life of a job.
type State string

// The states of a job.
const (
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
	// Scheduled is only listed: the next run of a job with a schedule, which is queued when it is due.
	Scheduled State = "scheduled"
)

// Job is a piece of a family's background work.
type Job struct {
	ID      string          `json:"id"`
	Family  string          `json:"family"`
	Digest  string          `json:"digest,omitempty"` // of the version that queued it; empty: the present one
	Name    string          `json:"job"`              // as in its manifest; "store hook" for a deferred hook
	Payload json.RawMessage `json:"payload,omitempty"`
	Agent   string          `json:"agent,omitempty"` // on whose behalf
	Key     string          `json:"key,omitempty"`   // the id of that caller's API key; empty: it had none
	// Principal is the agent whose memberships of scopes that caller has; empty: Agent.
	Principal string `json:"principal,omitempty"`
	// Namespaces are those its caller may read, and Writable those of them it may write; nil: all.
	Namespaces []string `json:"namespaces,omitzero"`
	Writable   []string `json:"writable,omitzero"`
	// Rights are those that its caller has beside those to namespaces; nil: all.
	Rights []memory.Right `json:"rights,omitzero"`
	// Generation is its caller's: see memory.Caller.
	Generation int       `json:"generation,omitempty"`
	Branch     string    `json:"branch"`
	Namespace  string    `json:"namespace"`
	State      State     `json:"state"`
	Attempts   int       `json:"attempts"`
	Due        time.Time `json:"due"` // earliest start
	// FeedAfter is a watermark: news behind it in the feed of Branch, as far as the caller may read it, start the job before it is due. 0:
	// nothing does.
	FeedAfter uint64          `json:"feed_after,omitempty"`
	Created   time.Time       `json:"created"`
	Ended     time.Time       `json:"ended,omitzero"`
	Progress  *Progress       `json:"progress,omitempty"`
	Error     string          `json:"error,omitempty"` // of the last attempt
	Result    json.RawMessage `json:"result,omitempty"`
	Proposal  string          `json:"proposal,omitempty"` // the branch with its proposed changes
	Sent      []string        `json:"sent,omitempty"`     // its effects outside: a job with any is not retried

	bytes int64 // of a payload that is not loaded
}

// SetCaller sets the caller on whose behalf the job runs.
func (job *Job) SetCaller(c memory.Caller) {
	job.Agent, job.Key, job.Principal, job.Generation = c.Agent, c.Key, c.Principal, c.Generation
	rights := c.Rights.Ceiling() // rights records apply as they are when the job runs
	job.Namespaces = listOr(rights.Readable())
	job.Writable = listOr(rights.Writable())
	job.Rights = listOr(rights.Further())
}

// listOr returns a list that is not nil; nil stands for all.
func listOr[T any](list []T, all bool) []T {
	if all {
		return nil
	}
	return append([]T{}, list...)
}

// Caller returns the caller on whose behalf the job runs.
func (job Job) Caller() memory.Caller {
	read, write := job.Namespaces, job.Writable
	if read == nil {
		read = []string{memory.AllNamespaces}
	}
	if write == nil {
		write = read
	}
	rights := memory.RightsTo(read, write)
	if job.Rights != nil {
		rights = rights.LimitedTo(job.Rights)
	}
	return memory.Caller{Agent: job.Agent, Key: job.Key, Principal: job.Principal, Generation: job.Generation, Rights: rights}
}

// size returns the bytes of the job's payload.
func (job Job) size() int64 { return max(job.bytes, int64(len(job.Payload))) }

// Light returns the job without payload and result.
func (job Job) Light() Job {
	job.bytes, job.Payload, job.Result = job.size(), nil, nil
	return job
}

// Progress is the progress of a job.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"` // 0: unknown
	Message string  `json:"message,omitempty"`
}

// Bounds of jobs.
const (
	Attempts     = 5 // of a job, at most
	longestRetry = time.Hour
	Kept         = 7 * 24 * time.Hour // after their end
	mostEnded    = 1000               // ended jobs of a family that are remembered
	tidyAfter    = 500                // ends of jobs, or an hour, whichever is first
	PayloadLimit = 64 << 10           // bytes of a job's payload
	ResultLimit  = 64 << 10           // bytes of a job's result that are kept
	jobsPage     = 100                // complete jobs in memory at once
)

// Families provides the families whose jobs a queue runs.
type Families interface {
	// Usable returns an error while a family cannot be called; its jobs wait.
	Usable(family string) error
	// Quota returns the largest backlog of a family; known is false for an unknown family.
	Quota(family string) (most Backlog, known bool)
	// Raise says how an operator raises a quota of a family.
	Raise(family, quota string) string
	// Parallel returns how many runs of a job may go on at once: at least one.
	Parallel(family, job string) int
	// HasWrites reports whether the feed that a job waits for has news for its caller.
	HasWrites(ctx context.Context, job Job) (bool, error)
	// Schedules returns the jobs to be queued at intervals.
	Schedules() []Schedule
	// Do has a family run a job, and commits its writes together with the job's end, which it records in job.
	Do(ctx context.Context, job *Job) error
}

// Options configures a queue. All fields are required.
type Options struct {
	Space     *memory.Access // with full rights: a job is bounded by those of its caller
	Namespace string         // of the records of jobs
	Families  Families
	Clock     func() time.Time
	NewID     func(now time.Time) string // an id that sorts by time
	Retry     time.Duration              // from the first failure to the next attempt
	Logger    *slog.Logger
}

// Queue runs queued jobs: of a family one at a time, or several of one that may run in parallel. Its methods may be called concurrently.
type Queue struct {
	o    Options
	wake chan struct{}

	reading   sync.Mutex // held while the queue is read
	reserving sync.Mutex // held while room for jobs is reserved

	mu       sync.Mutex
	reserved map[string]Backlog // by family: jobs being committed
	fresh    []freshJob         // of the queue
	left     map[string]bool    // by id: jobs that left the queue since it was last read
	running  map[string][]*Job  // by family
	progress map[string]Progress
	cancel   map[string]context.CancelFunc // by id
	queue    []Job                         // waiting jobs, in their order, without payloads
	stale    bool                          // the queue must be read again
	rest     map[string]time.Time          // by id: not before that, whatever the record says
	sooner   map[string]time.Time          // by id: then, because the clock was put back; see dueBy
	ended    int                           // since ended jobs were last forgotten
	tidied   time.Time                     // when that was
}

// New returns a queue, which runs nothing before Run.
func New(o Options) *Queue {
	return &Queue{o: o, wake: make(chan struct{}, 1), reserved: map[string]Backlog{}, running: map[string][]*Job{}, progress: map[string]Progress{},
		cancel: map[string]context.CancelFunc{}, rest: map[string]time.Time{}, sooner: map[string]time.Time{}, stale: true}
}

// WakeUp has the queue read again after a change by others.
func (q *Queue) WakeUp() {
	q.mu.Lock()
	q.stale = true
	q.mu.Unlock()
	q.signal()
}

// signal makes the queue look for due jobs.
func (q *Queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run runs jobs as they become due, until ctx ends. Jobs interrupted by a stop of the server are started again.
func (q *Queue) Run(ctx context.Context) {
	var working sync.WaitGroup
	defer working.Wait()
	for {
		next := q.begin(ctx, &working)
		timer := time.NewTimer(next)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-q.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// longestSleep is the longest interval between looks for due jobs and schedules.
const longestSleep = 30 * time.Second

// begin starts due jobs, and returns the time until the next.
func (q *Queue) begin(ctx context.Context, working *sync.WaitGroup) time.Duration {
	now := q.o.Clock()
	q.scheduled(ctx, now)
	if err := q.refresh(ctx); err != nil {
		if ctx.Err() == nil {
			q.o.Logger.Warn("the queue of jobs could not be read", "error", err)
		}
		return q.o.Retry
	}
	sleep := longestSleep
	for _, job := range q.ready(now) {
		if wait := job.Due.Sub(now); wait > 0 && !q.hasWrites(ctx, job) {
			sleep = min(sleep, wait)
			continue
		}
		q.start(ctx, job, working)
	}
	q.tidy(ctx, now)
	return max(sleep, time.Millisecond)
}

// Step runs due jobs, one after the other, until none is left. Unlike Run, it does not wait for later ones.
func (q *Queue) Step(ctx context.Context) error {
	for {
		now := q.o.Clock()
		q.scheduled(ctx, now)
		if err := q.refresh(ctx); err != nil {
			return err
		}
		due := slices.DeleteFunc(q.ready(now), func(job Job) bool { return job.Due.After(now) && !q.hasWrites(ctx, job) })
		if len(due) == 0 {
			return nil
		}
		var working sync.WaitGroup
		q.start(ctx, due[0], &working)
		working.Wait()
	}
}

// mayStart reports whether the running jobs of its family let a job start. The caller holds mu.
func (q *Queue) mayStart(job Job) bool {
	running := q.running[job.Family]
	if len(running) == 0 {
		return true
	}
	another := slices.ContainsFunc(running, func(r *Job) bool { return r.Name != job.Name || r.ID == job.ID })
	return !another && len(running) < q.o.Families.Parallel(job.Family, job.Name)
}

// start runs a job, unless others of its family are running.
func (q *Queue) start(ctx context.Context, job Job, working *sync.WaitGroup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.mayStart(job) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	q.running[job.Family], q.cancel[job.ID] = append(q.running[job.Family], &job), cancel
	working.Go(func() {
		defer cancel()
		job := q.do(ctx, job)
		q.mu.Lock()
		q.noteOutcome(job)
		q.running[job.Family] = slices.DeleteFunc(q.running[job.Family], func(r *Job) bool { return r.ID == job.ID })
		delete(q.cancel, job.ID)
		delete(q.progress, job.ID)
		q.mu.Unlock()
		q.signal()
	})
}

// Put stages the record of a job.
func (q *Queue) Put(ctx context.Context, stage *memory.Stage, job Job) error {
	value, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("queue a job: %w", err)
	}
	return stage.PutRecord(ctx, records, q.o.Namespace, job.ID, value, nil)
}

// do runs a job once, and writes its outcome: together with its writes on success, and alone otherwise. It
// returns the job in its new state.
func (q *Queue) do(ctx context.Context, job Job) Job {
	job.Attempts++
	err := q.o.Families.Do(ctx, &job)
	if ctx.Err() != nil {
		if q.isCancelled(ctx, job.ID) {
			job.State = Cancelled
		}
		return job // the server stops: the job is still queued
	}
	if err == nil {
		return job
	}
	q.o.Logger.Warn("a job failed", "family", job.Family, "job", job.Name, "id", job.ID, "attempt", job.Attempts, "error", err)
	job.Error = err.Error()
	var known *memory.Error
	final := errors.As(err, &known) && !known.Retryable && (known.Code == memory.Denied || known.Code == memory.InvalidArgument || known.Code == memory.NotFound)
	final = final || len(job.Sent) > 0
	if job.Attempts >= Attempts || final {
		job.State, job.Ended = Failed, q.o.Clock()
	} else {
		job.Due = q.o.Clock().Add(Backoff(q.o.Retry, job.Attempts))
	}
	if err := q.note(context.WithoutCancel(ctx), &job); err != nil {
		q.o.Logger.Warn("what became of a job could not be noted", "id", job.ID, "error", err)
	}
	return job
}

// Backoff returns the delay after a number of failures.
func Backoff(first time.Duration, failures int) time.Duration {
	wait := first
	for range failures - 1 {
		wait = min(4*wait, longestRetry)
	}
	return wait
}

// note writes the outcome of a job, unless its record changed since it began.
func (q *Queue) note(ctx context.Context, job *Job) error {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	now, err := q.Find(ctx, stage, job.ID)
	if err != nil {
		return err
	}
	if now == nil || now.State != Queued {
		job.State = Cancelled // meanwhile
		return nil
	}
	job.Payload = now.Payload
	if err := q.Put(ctx, stage, *job); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

// Find reads a job; nil: none.
func (q *Queue) Find(ctx context.Context, stage *memory.Stage, id string) (*Job, error) {
	found, err := stage.Records(ctx, records, q.o.Namespace, []string{id})
	if err != nil || found[0] == nil {
		return nil, err
	}
	var job Job
	if err := json.Unmarshal(found[0].Value, &job); err != nil {
		return nil, fmt.Errorf("read job %s: %w", id, err)
	}
	return &job, nil
}

func (q *Queue) isCancelled(ctx context.Context, id string) bool {
	stage, err := q.o.Space.Stage(context.WithoutCancel(ctx), memory.Default)
	if err != nil {
		return false
	}
	job, err := q.Find(context.WithoutCancel(ctx), stage, id)
	return err == nil && job != nil && job.State == Cancelled
}

// Progressed records the progress of a running job.
func (q *Queue) Progressed(id string, p Progress) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.progress[id] = p
}

// List lists the remembered jobs, oldest first, with the progress of running ones.
func (q *Queue) List(ctx context.Context) ([]Job, error) {
	list, _, err := q.all(ctx)
	for i := range list {
		q.Describe(&list[i])
	}
	return list, err
}

// Describe adds the progress of a running job. A job runs until everything that belongs to its end is done: its commit is on the disk an
// instant before other requests find the branch of its proposal, or what it has done after the commit.
func (q *Queue) Describe(job *Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	running := slices.ContainsFunc(q.running[job.Family], func(r *Job) bool { return r.ID == job.ID })
	if running && (job.State == Queued || job.State == Done) {
		job.State, job.Ended, job.Result, job.Proposal = Running, time.Time{}, nil, ""
	}
	if p, ok := q.progress[job.ID]; ok {
		job.Progress = &p
	}
}

// NoteSent writes a job's effects outside to its record before they happen. A job cancelled meanwhile has no further ones.
func (q *Queue) NoteSent(stage *memory.Stage, id string) func(context.Context, []string) error {
	return func(ctx context.Context, sent []string) error {
		own, err := q.o.Space.Stage(ctx, memory.Default)
		if err != nil {
			return err
		}
		now, err := q.Find(ctx, own, id)
		if err != nil {
			return err
		}
		if now == nil || now.State != Queued {
			return &memory.Error{Code: memory.Conflict, Message: "the job was cancelled: nothing more is sent"}
		}
		now.Sent = sent
		if err := q.Put(ctx, own, *now); err != nil {
			return err
		}
		done, err := own.Commit(ctx, memory.Commit{})
		if err != nil {
			return err
		}
		stage.ExpectRecord(records, q.o.Namespace, id, done.Version)
		return nil
	}
}

// BrokenOff returns why a job interrupted by a stop of the server is not started again.
func BrokenOff(sent []string) error {
	return &memory.Error{Code: memory.Conflict, Message: "the server stopped while it ran: " + strings.Join(sent, "; ") +
		". Nothing else of it was kept, and it is not repeated: check there whether it took effect, and queue another job if needed"}
}
