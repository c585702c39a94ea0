// Package jobs keeps the queue of what families do when nobody waits for them, and runs it.
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

// records is the collection of jobs, and schedules that of when those with a schedule ran last.
var (
	records   = memory.Collection{Name: "_jobs", PerSpace: true, Internal: true}
	schedules = memory.Collection{Name: "_schedules", PerSpace: true, Internal: true}
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
	Digest  string          `json:"digest,omitempty"` // of the version that queued it; empty: the present one
	Name    string          `json:"job"`              // as its manifest has it; "store hook" for a hook that was put off
	Payload json.RawMessage `json:"payload,omitempty"`
	Agent   string          `json:"agent,omitempty"` // on whose behalf
	// Namespaces are those that its caller may read, and Writable those that they may write, of these; nil: all.
	Namespaces []string `json:"namespaces,omitzero"`
	Writable   []string `json:"writable,omitzero"`
	// Generation is that of its caller: see memory.Caller.
	Generation int             `json:"generation,omitempty"`
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
	Sent       []string        `json:"sent,omitempty"`     // what it did outside: a job that did something is not tried again

	bytes int64 // of a payload that is not here
}

// SetCaller notes on whose behalf the job runs.
func (job *Job) SetCaller(c memory.Caller) {
	job.Agent, job.Generation = c.Agent, c.Generation
	job.Namespaces = namespacesOr(c.Rights.Readable())
	job.Writable = namespacesOr(c.Rights.Writable())
}

// namespacesOr lists namespaces; nil: all.
func namespacesOr(list []string, all bool) []string {
	if all {
		return nil
	}
	return append([]string{}, list...)
}

// Caller is on whose behalf the job runs.
func (job Job) Caller() memory.Caller {
	read, write := job.Namespaces, job.Writable
	if read == nil {
		read = []string{memory.AllNamespaces}
	}
	if write == nil {
		write = read
	}
	return memory.Caller{Agent: job.Agent, Generation: job.Generation, Rights: memory.RightsTo(read, write)}
}

// size is how many bytes the job was queued with.
func (job Job) size() int64 { return max(job.bytes, int64(len(job.Payload))) }

// Light is the job without what it was queued with, and what it answered.
func (job Job) Light() Job {
	job.bytes, job.Payload, job.Result = job.size(), nil, nil
	return job
}

// Progress is how far a job has come.
type Progress struct {
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"` // 0: not known
	Message string  `json:"message,omitempty"`
}

// Bounds of jobs.
const (
	Attempts     = 5 // of a job, at most
	longestRetry = time.Hour
	Kept         = 7 * 24 * time.Hour // after their end
	mostEnded    = 1000               // jobs of a family that are remembered after their end
	tidyAfter    = 500                // ends of jobs, if not an hour before that
	PayloadLimit = 64 << 10           // bytes of what a job is queued with
	ResultLimit  = 64 << 10           // bytes of a job's result that are kept
	jobsPage     = 100                // jobs that are in memory at once with all that they carry
)

// Families are those whose jobs a queue runs.
type Families interface {
	// Usable is an error while a family cannot be asked; its jobs wait.
	Usable(family string) error
	// Quota is the largest backlog that a family may have; known is false for a family that is not there.
	Quota(family string) (most Backlog, known bool)
	// Schedules are the jobs that are to be queued again and again.
	Schedules() []Schedule
	// Do has a family do a job, and commits what that writes together with the job's end, which it notes in job.
	Do(ctx context.Context, job *Job) error
}

// Options are what a queue is made of. All are required.
type Options struct {
	Space     *memory.Access // with full rights: those of who queues a job bound the job, not the queue
	Namespace string         // where the records of jobs are
	Families  Families
	Clock     func() time.Time
	NewID     func(now time.Time) string // an id that sorts by time
	Retry     time.Duration              // from a first failure to the next attempt
	Logger    *slog.Logger
}

// Queue runs what is queued, one job of a family at a time. Its methods may be called concurrently.
type Queue struct {
	o    Options
	wake chan struct{}

	reading   sync.Mutex // held while the queue is read
	reserving sync.Mutex // held while room for jobs is looked for

	mu       sync.Mutex
	reserved map[string]Backlog // by family: jobs that are being committed
	fresh    []freshJob         // of the queue
	left     map[string]bool    // by id: jobs that left the queue since it was last read
	running  map[string]*Job    // by family
	progress map[string]Progress
	cancel   map[string]context.CancelFunc // by id
	queue    []Job                         // that wait, in their order, without payloads
	stale    bool                          // the queue has to be read again
	rest     map[string]time.Time          // by id: not before that, whatever the record says
	sooner   map[string]time.Time          // by id: then, because the clock was put back; see dueBy
	ended    int                           // since ended jobs were last forgotten
	tidied   time.Time                     // when that was
}

// New is a queue that runs nothing before Run.
func New(o Options) *Queue {
	return &Queue{o: o, wake: make(chan struct{}, 1), reserved: map[string]Backlog{}, running: map[string]*Job{}, progress: map[string]Progress{},
		cancel: map[string]context.CancelFunc{}, rest: map[string]time.Time{}, sooner: map[string]time.Time{}, stale: true}
}

// WakeUp has the queue read again: others changed it.
func (q *Queue) WakeUp() {
	q.mu.Lock()
	q.stale = true
	q.mu.Unlock()
	q.nudge()
}

// nudge has what is due looked for.
func (q *Queue) nudge() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run runs jobs as they become due, until ctx ends. What ran when the server stopped is begun again.
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

// longestSleep is how often due jobs and schedules are looked for at least.
const longestSleep = 30 * time.Second

// begin starts what is due, and tells how long there is nothing else to do.
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
		if wait := job.Due.Sub(now); wait > 0 {
			sleep = min(sleep, wait)
			continue
		}
		q.start(ctx, job, working)
	}
	q.tidy(ctx, now)
	return max(sleep, time.Millisecond)
}

// Step runs what is due, one job after the other, until nothing is. It does what Run does, without waiting for what is due later.
func (q *Queue) Step(ctx context.Context) error {
	for {
		now := q.o.Clock()
		q.scheduled(ctx, now)
		if err := q.refresh(ctx); err != nil {
			return err
		}
		due := slices.DeleteFunc(q.ready(now), func(job Job) bool { return job.Due.After(now) })
		if len(due) == 0 {
			return nil
		}
		var working sync.WaitGroup
		q.start(ctx, due[0], &working)
		working.Wait()
	}
}

// start runs a job, unless one of its family runs.
func (q *Queue) start(ctx context.Context, job Job, working *sync.WaitGroup) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running[job.Family] != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	q.running[job.Family], q.cancel[job.ID] = &job, cancel
	working.Go(func() {
		defer cancel()
		job := q.do(ctx, job)
		q.mu.Lock()
		q.noteOutcome(job)
		delete(q.running, job.Family)
		delete(q.cancel, job.ID)
		delete(q.progress, job.ID)
		q.mu.Unlock()
		q.nudge()
	})
}

// Put stages what is known of a job.
func (q *Queue) Put(ctx context.Context, stage *memory.Stage, job Job) error {
	value, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("queue a job: %w", err)
	}
	return stage.PutRecord(ctx, records, q.o.Namespace, job.ID, value, nil)
}

// do runs a job once, and notes what became of it: together with what it writes when it succeeds, and alone otherwise. It
// returns the job as it is then.
func (q *Queue) do(ctx context.Context, job Job) Job {
	job.Attempts++
	err := q.o.Families.Do(ctx, &job)
	if ctx.Err() != nil {
		if q.isCancelled(ctx, job.ID) {
			job.State = Cancelled
		}
		return job // otherwise the server stops: the job is still queued
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

// Backoff is how long to wait after a number of failures.
func Backoff(first time.Duration, failures int) time.Duration {
	wait := first
	for range failures - 1 {
		wait = min(4*wait, longestRetry)
	}
	return wait
}

// note writes what became of a job that is still as it was begun.
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

// Find reads a job; nil when there is none.
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

// Progressed notes how far a job that runs has come.
func (q *Queue) Progressed(id string, p Progress) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.progress[id] = p
}

// List lists the jobs that are remembered, oldest first, with how far those that run have come.
func (q *Queue) List(ctx context.Context) ([]Job, error) {
	list, _, err := q.all(ctx)
	for i := range list {
		q.Describe(&list[i])
	}
	return list, err
}

// Describe adds what is known of a job that runs.
func (q *Queue) Describe(job *Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if running := q.running[job.Family]; running != nil && running.ID == job.ID && job.State == Queued {
		job.State = Running
	}
	if p, ok := q.progress[job.ID]; ok {
		job.Progress = &p
	}
}

// NoteSent notes what a job does outside in its record, before it does it. A job that was cancelled meanwhile does nothing more.
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

// BrokenOff is why a job that the server did not see to its end is not begun again.
func BrokenOff(sent []string) error {
	return &memory.Error{Code: memory.Conflict, Message: "the server stopped while it ran: " + strings.Join(sent, "; ") +
		". Nothing else of it was kept, and it is not begun again: find out there what came of it, and queue another if it is still to be done"}
}
