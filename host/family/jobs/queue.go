package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// refresh reads the queue again if others changed it.
func (q *Queue) refresh(ctx context.Context) error {
	q.reading.Lock()
	defer q.reading.Unlock()
	q.mu.Lock()
	stale := q.stale
	q.stale, q.left = false, map[string]bool{}
	q.mu.Unlock()
	if !stale {
		return nil
	}
	waiting, at, err := q.waiting(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.stale = true
		return err
	}
	q.install(waiting, at)
	maps.DeleteFunc(q.sooner, func(id string, _ time.Time) bool {
		return !slices.ContainsFunc(q.queue, func(job Job) bool { return job.ID == id })
	})
	return nil
}

// install replaces the queue by one read at a version, adding jobs that came and dropping those that left since. The caller holds mu.
func (q *Queue) install(read []Job, at uint64) {
	read = slices.DeleteFunc(read, func(job Job) bool { return q.left[job.ID] })
	q.fresh = slices.DeleteFunc(q.fresh, func(f freshJob) bool { return f.version <= at })
	for _, f := range q.fresh {
		if i := slices.IndexFunc(q.queue, func(other Job) bool { return other.ID == f.id }); i >= 0 {
			read = append(read, q.queue[i])
		}
	}
	sortQueue(read)
	q.queue = read
}

// remove removes a job from the queue. The caller holds mu.
func (q *Queue) remove(id string) {
	q.queue = slices.DeleteFunc(q.queue, func(other Job) bool { return other.ID == id })
	if q.left != nil {
		q.left[id] = true
	}
}

// sortQueue sorts jobs by due time.
func sortQueue(list []Job) {
	slices.SortStableFunc(list, func(a, b Job) int { return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.ID, b.ID)) })
}

// ready returns the waiting jobs, in order, of usable families whose running jobs let them start. Others wait
// until that changes.
func (q *Queue) ready(now time.Time) []Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []Job
	usable := map[string]bool{}
	for _, job := range q.queue {
		can, known := usable[job.Family]
		if !known {
			can = q.o.Families.Usable(job.Family) == nil
			usable[job.Family] = can
		}
		if !can || !q.mayStart(job) {
			continue
		}
		job.Due = q.dueBy(job, now)
		list = append(list, job)
	}
	return list
}

// dueBy returns when a job is due by a clock that may have been put back since: no later than after the longest wait that
// could have been meant. The caller holds mu.
func (q *Queue) dueBy(job Job, now time.Time) time.Time {
	due, longest := job.Due, job.Due.Sub(job.Created)
	if job.Attempts > 0 {
		longest = Backoff(q.o.Retry, job.Attempts)
	}
	if rest := q.rest[job.ID]; rest.After(due) {
		due, longest = rest, Backoff(q.o.Retry, Attempts)
	}
	if sooner, moved := q.sooner[job.ID]; moved && sooner.Before(due) {
		due = sooner
	}
	if due.Sub(now) > longest {
		due = now.Add(longest)
		q.sooner[job.ID] = due
	}
	return due
}

// tidy forgets ended jobs from time to time.
func (q *Queue) tidy(ctx context.Context, now time.Time) {
	q.mu.Lock()
	due := now.Sub(q.tidied).Abs() > time.Hour || q.ended >= tidyAfter
	if due {
		q.tidied, q.ended = now, 0
	}
	q.mu.Unlock()
	if !due {
		return
	}
	if err := q.Forget(ctx, now); err != nil && ctx.Err() == nil {
		q.o.Logger.Warn("ended jobs could not be forgotten", "error", err)
	}
}

// noteOutcome keeps the outcome of a job in the queue, even if writing it failed: otherwise the job would start again at once.
// The caller holds mu.
func (q *Queue) noteOutcome(job Job) {
	at := slices.IndexFunc(q.queue, func(other Job) bool { return other.ID == job.ID })
	delete(q.sooner, job.ID)
	if job.State != Queued {
		q.ended++
		delete(q.rest, job.ID)
		q.remove(job.ID)
		return
	}
	q.rest[job.ID] = job.Due
	if at >= 0 {
		q.queue[at] = job.Light()
	}
}

// all lists the remembered jobs, oldest first, without payloads, and the version at which it read them.
func (q *Queue) all(ctx context.Context) (list []Job, at uint64, err error) {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return nil, 0, err
	}
	for after, first := "", true; first || after != ""; first = false {
		page, next, err := stage.ListRecords(ctx, records, q.o.Namespace, "", after, jobsPage)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range page {
			var job Job
			if err := json.Unmarshal(r.Value, &job); err != nil {
				q.o.Logger.Warn("a job cannot be read, and is passed over", "id", r.Key, "error", err)
				continue
			}
			job.bytes, job.Payload = job.size(), nil
			list = append(list, job)
		}
		after = next
	}
	return list, stage.Version(), nil
}

// waiting lists the jobs to run, in their order, and the version at which it read them.
func (q *Queue) waiting(ctx context.Context) (list []Job, at uint64, err error) {
	list, at, err = q.all(ctx)
	list = slices.DeleteFunc(list, func(job Job) bool { return job.State != Queued })
	for i := range list {
		list[i] = list[i].Light()
	}
	sortQueue(list)
	return list, at, err
}

// Forget drops jobs that ended long ago, or before many others, and waiting ones of families that are gone.
func (q *Queue) Forget(ctx context.Context, now time.Time) error {
	list, _, err := q.all(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b Job) int { return b.Ended.Compare(a.Ended) })
	var old []string
	ended := map[string]int{}
	for _, job := range list {
		if job.Ended.IsZero() {
			if err := q.o.Families.Usable(job.Family); err != nil && now.Sub(job.Due) > Kept {
				old = append(old, job.ID)
			}
			continue
		}
		if ended[job.Family]++; ended[job.Family] > mostEnded || now.Sub(job.Ended) > Kept {
			old = append(old, job.ID)
		}
	}
	for part := range slices.Chunk(old, 500) {
		stage, err := q.o.Space.Stage(ctx, memory.Default)
		if err != nil {
			return err
		}
		if _, err := stage.DeleteRecords(ctx, records, q.o.Namespace, part); err != nil {
			return err
		}
		if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
			return err
		}
	}
	return nil
}

// Stop ends a running job, and forgets a waiting one.
func (q *Queue) Stop(id string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if cancel := q.cancel[id]; cancel != nil {
		cancel() // it leaves the queue when it has ended
		return
	}
	q.remove(id)
}
