package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
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
	Digest  string          `json:"digest,omitempty"` // of the version that queued it; empty: the present one
	Name    string          `json:"job"`              // as its manifest has it; "store hook" for a hook that was put off
	Payload json.RawMessage `json:"payload,omitempty"`
	Agent   string          `json:"agent,omitempty"` // on whose behalf
	// Namespaces are those that its caller may read, and Writable those that they may write, of these; nil: all.
	Namespaces []string        `json:"namespaces,omitzero"`
	Writable   []string        `json:"writable,omitzero"`
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

// queuedFor notes on whose behalf the job runs.
func (job *Job) queuedFor(c memory.Caller) {
	job.Agent = c.Agent
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

// caller is on whose behalf the job runs.
func (job Job) caller() memory.Caller {
	read, write := job.Namespaces, job.Writable
	if read == nil {
		read = []string{memory.AllNamespaces}
	}
	if write == nil {
		write = read
	}
	return memory.Caller{Agent: job.Agent, Rights: memory.RightsTo(read, write)}
}

// size is how many bytes the job was queued with.
func (job Job) size() int64 { return max(job.bytes, int64(len(job.Payload))) }

// light is the job without what it was queued with, and what it answered.
func (job Job) light() Job {
	job.bytes, job.Payload, job.Result = job.size(), nil, nil
	return job
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
	jobsKept      = 7 * 24 * time.Hour // after their end
	mostEnded     = 1000               // jobs of a family that are remembered after their end
	tidyAfter     = 500                // ends of jobs, if not an hour before that
	payloadLimit  = 64 << 10           // bytes of what a job is queued with
	resultLimit   = 64 << 10           // bytes of a job's result that are kept
	jobsPage      = 100                // jobs that are in memory at once with all that they carry
	deferredStore = "store hook"
)

// jobs runs what is queued, one job of a family at a time.
type jobs struct {
	families *Families
	wake     chan struct{}

	reading   sync.Mutex // held while the queue is read
	reserving sync.Mutex // held while room for jobs is looked for

	mu       sync.Mutex
	reserved map[string]JobUse // by family: jobs that are being committed
	fresh    []freshJob        // of the queue
	left     map[string]bool   // by id: jobs that left the queue since it was last read
	running  map[string]*Job   // by family
	progress map[string]Progress
	cancel   map[string]context.CancelFunc // by id
	queue    []Job                         // that wait, in their order, without payloads
	stale    bool                          // the queue has to be read again
	rest     map[string]time.Time          // by id: not before that, whatever the record says
	sooner   map[string]time.Time          // by id: then, because the clock was put back; see dueBy
	ended    int                           // since ended jobs were last forgotten
	tidied   time.Time                     // when that was
}

func newJobs(f *Families) *jobs {
	return &jobs{families: f, wake: make(chan struct{}, 1), reserved: map[string]JobUse{}, running: map[string]*Job{}, progress: map[string]Progress{},
		cancel: map[string]context.CancelFunc{}, rest: map[string]time.Time{}, sooner: map[string]time.Time{}, stale: true}
}

// wakeUp has the queue read again: others changed it.
func (j *jobs) wakeUp() {
	j.mu.Lock()
	j.stale = true
	j.mu.Unlock()
	j.nudge()
}

// nudge has what is due looked for.
func (j *jobs) nudge() {
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
	j.scheduled(ctx, now)
	if err := j.refresh(ctx); err != nil {
		if ctx.Err() == nil {
			j.families.o.Logger.Warn("the queue of jobs could not be read", "error", err)
		}
		return j.families.o.Retry
	}
	sleep := longestSleep
	for _, job := range j.ready(now) {
		if wait := job.Due.Sub(now); wait > 0 {
			sleep = min(sleep, wait)
			continue
		}
		j.start(ctx, job, working)
	}
	j.tidy(ctx, now)
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
		job := j.do(ctx, job)
		j.mu.Lock()
		j.noteOutcome(job)
		delete(j.running, job.Family)
		delete(j.cancel, job.ID)
		delete(j.progress, job.ID)
		j.mu.Unlock()
		j.nudge()
	})
}

// put stages what is known of a job.
func (j *jobs) put(ctx context.Context, stage *memory.Stage, job Job) error {
	value, err := json.Marshal(job)
	if err != nil {
		return fmt.Errorf("queue a job: %w", err)
	}
	return stage.PutRecord(ctx, jobRecords, ops.SystemNamespace, job.ID, value, nil)
}

// do runs a job once, and notes what became of it: together with what it writes when it succeeds, and alone otherwise. It
// returns the job as it is then.
func (j *jobs) do(ctx context.Context, job Job) Job {
	f := j.families
	job.Attempts++
	err := j.attempt(ctx, &job)
	if ctx.Err() != nil {
		if j.isCancelled(ctx, job.ID) {
			job.State = Cancelled
		}
		return job // otherwise the server stops: the job is still queued
	}
	if err == nil {
		return job
	}
	f.o.Logger.Warn("a job failed", "family", job.Family, "job", job.Name, "id", job.ID, "attempt", job.Attempts, "error", err)
	job.Error = err.Error()
	var known *memory.Error
	final := errors.As(err, &known) && !known.Retryable && (known.Code == memory.Denied || known.Code == memory.InvalidArgument || known.Code == memory.NotFound)
	final = final || len(job.Sent) > 0
	if job.Attempts >= jobAttempts || final {
		job.State, job.Ended = Failed, f.o.Clock()
	} else {
		job.Due = f.o.Clock().Add(backoff(f.o.Retry, job.Attempts))
	}
	if err := j.note(context.WithoutCancel(ctx), &job); err != nil {
		f.o.Logger.Warn("what became of a job could not be noted", "id", job.ID, "error", err)
	}
	return job
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
func (j *jobs) note(ctx context.Context, job *Job) error {
	stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
	if err != nil {
		return err
	}
	now, err := find(ctx, stage, job.ID)
	if err != nil {
		return err
	}
	if now == nil || now.State != Queued {
		job.State = Cancelled // meanwhile
		return nil
	}
	job.Payload = now.Payload
	if err := j.put(ctx, stage, *job); err != nil {
		return err
	}
	_, err = stage.Commit(ctx, memory.Commit{})
	return err
}

// find reads a job; nil when there is none.
func find(ctx context.Context, stage *memory.Stage, id string) (*Job, error) {
	found, err := stage.Records(ctx, jobRecords, ops.SystemNamespace, []string{id})
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

func (j *jobs) progressed(id string, p Progress) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.progress[id] = p
}

// Jobs lists the jobs that are remembered, oldest first, with how far those that run have come.
func (f *Families) Jobs(ctx context.Context) ([]Job, error) {
	list, _, err := f.jobs.all(ctx)
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
