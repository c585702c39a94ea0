package family

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// refresh reads the queue again, if others changed it.
func (j *jobs) refresh(ctx context.Context) error {
	j.reading.Lock()
	defer j.reading.Unlock()
	j.mu.Lock()
	stale := j.stale
	j.stale, j.left = false, map[string]bool{}
	j.mu.Unlock()
	if !stale {
		return nil
	}
	waiting, at, err := j.waiting(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	if err != nil {
		j.stale = true
		return err
	}
	j.install(waiting, at)
	maps.DeleteFunc(j.sooner, func(id string, _ time.Time) bool {
		return !slices.ContainsFunc(j.queue, func(job Job) bool { return job.ID == id })
	})
	return nil
}

// install takes a queue over as it was read at a version, with what came and without what left since. The caller holds mu.
func (j *jobs) install(read []Job, at uint64) {
	read = slices.DeleteFunc(read, func(job Job) bool { return j.left[job.ID] })
	j.fresh = slices.DeleteFunc(j.fresh, func(f freshJob) bool { return f.version <= at })
	for _, f := range j.fresh {
		if i := slices.IndexFunc(j.queue, func(q Job) bool { return q.ID == f.id }); i >= 0 {
			read = append(read, j.queue[i])
		}
	}
	sortQueue(read)
	j.queue = read
}

// remove takes a job out of the queue. The caller holds mu.
func (j *jobs) remove(id string) {
	j.queue = slices.DeleteFunc(j.queue, func(q Job) bool { return q.ID == id })
	if j.left != nil {
		j.left[id] = true
	}
}

// sortQueue sorts jobs by when they are due.
func sortQueue(list []Job) {
	slices.SortStableFunc(list, func(a, b Job) int { return cmp.Or(a.Due.Compare(b.Due), strings.Compare(a.ID, b.ID)) })
}

// ready are the jobs that wait, in their order, of families that can be used and have none that runs. Those of others wait
// until that changes.
func (j *jobs) ready(now time.Time) []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	var list []Job
	usable := map[string]bool{}
	for _, job := range j.queue {
		can, known := usable[job.Family]
		if !known {
			_, err := j.families.named(job.Family)
			can = err == nil && j.running[job.Family] == nil
			usable[job.Family] = can
		}
		if !can {
			continue
		}
		job.Due = j.dueBy(job, now)
		list = append(list, job)
	}
	return list
}

// dueBy is when a job is due by a clock that may have been put back since that was decided: no later than after the longest wait that
// could have been meant. The caller holds mu.
func (j *jobs) dueBy(job Job, now time.Time) time.Time {
	due, longest := job.Due, job.Due.Sub(job.Created)
	if job.Attempts > 0 {
		longest = backoff(j.families.o.Retry, job.Attempts)
	}
	if rest := j.rest[job.ID]; rest.After(due) {
		due, longest = rest, backoff(j.families.o.Retry, jobAttempts)
	}
	if sooner, moved := j.sooner[job.ID]; moved && sooner.Before(due) {
		due = sooner
	}
	if due.Sub(now) > longest {
		due = now.Add(longest)
		j.sooner[job.ID] = due
	}
	return due
}

// tidy forgets ended jobs from time to time.
func (j *jobs) tidy(ctx context.Context, now time.Time) {
	j.mu.Lock()
	due := now.Sub(j.tidied).Abs() > time.Hour || j.ended >= tidyAfter
	if due {
		j.tidied, j.ended = now, 0
	}
	j.mu.Unlock()
	if !due {
		return
	}
	if err := j.forget(ctx, now); err != nil && ctx.Err() == nil {
		j.families.o.Logger.Warn("ended jobs could not be forgotten", "error", err)
	}
}

// noteOutcome keeps in the queue what became of a job, also when that could not be written: or it would be begun again at once.
// The caller holds mu.
func (j *jobs) noteOutcome(job Job) {
	at := slices.IndexFunc(j.queue, func(q Job) bool { return q.ID == job.ID })
	delete(j.sooner, job.ID)
	if job.State != Queued {
		j.ended++
		delete(j.rest, job.ID)
		j.remove(job.ID)
		return
	}
	j.rest[job.ID] = job.Due
	if at >= 0 {
		j.queue[at] = job.light()
	}
}

// all lists the jobs that are remembered, oldest first, without what they were queued with, and the version at which it read them.
func (j *jobs) all(ctx context.Context) (list []Job, at uint64, err error) {
	stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
	if err != nil {
		return nil, 0, err
	}
	for after, first := "", true; first || after != ""; first = false {
		page, next, err := stage.ListRecords(ctx, jobRecords, ops.SystemNamespace, "", after, jobsPage)
		if err != nil {
			return nil, 0, err
		}
		for _, r := range page {
			var job Job
			if err := json.Unmarshal(r.Value, &job); err != nil {
				j.families.o.Logger.Warn("a job cannot be read, and is passed over", "id", r.Key, "error", err)
				continue
			}
			job.bytes, job.Payload = job.size(), nil
			list = append(list, job)
		}
		after = next
	}
	return list, stage.Version(), nil
}

// waiting lists the jobs that are to be run, in their order, and the version at which it read them.
func (j *jobs) waiting(ctx context.Context) (list []Job, at uint64, err error) {
	list, at, err = j.all(ctx)
	list = slices.DeleteFunc(list, func(job Job) bool { return job.State != Queued })
	for i := range list {
		list[i] = list[i].light()
	}
	sortQueue(list)
	return list, at, err
}

// forget drops jobs that ended long ago, or before many others, and those that wait in vain for a family that is gone.
func (j *jobs) forget(ctx context.Context, now time.Time) error {
	list, _, err := j.all(ctx)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b Job) int { return b.Ended.Compare(a.Ended) })
	var old []string
	ended := map[string]int{}
	for _, job := range list {
		if job.Ended.IsZero() {
			if _, err := j.families.named(job.Family); err != nil && now.Sub(job.Due) > jobsKept {
				old = append(old, job.ID)
			}
			continue
		}
		if ended[job.Family]++; ended[job.Family] > mostEnded || now.Sub(job.Ended) > jobsKept {
			old = append(old, job.ID)
		}
	}
	for part := range slices.Chunk(old, 500) {
		stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
		if err != nil {
			return err
		}
		if _, err := stage.DeleteRecords(ctx, jobRecords, ops.SystemNamespace, part); err != nil {
			return err
		}
		if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
			return err
		}
	}
	return nil
}
