package jobs

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// Backlog is how many jobs of a family wait or run, and how large they are.
type Backlog struct {
	Jobs     int64 `json:"jobs"`
	JobBytes int64 `json:"job_bytes"` // of what they were queued with
}

func (u Backlog) plus(o Backlog) Backlog { return Backlog{u.Jobs + o.Jobs, u.JobBytes + o.JobBytes} }

// backlogOf is what some jobs take.
func backlogOf(list []Job) Backlog {
	use := Backlog{Jobs: int64(len(list))}
	for _, job := range list {
		use.JobBytes += job.size()
	}
	return use
}

// room is an error when more jobs of a family do not fit beside those there are.
func (q *Queue) room(family string, used, more Backlog) error {
	most, known := q.o.Families.Quota(family)
	if !known {
		return nil
	}
	for _, b := range []struct {
		name              string
		limit, used, more int64
	}{{abi.QuotaJobs, most.Jobs, used.Jobs, more.Jobs}, {abi.QuotaJobBytes, most.JobBytes, used.JobBytes, more.JobBytes}} {
		if b.used+b.more <= b.limit {
			continue
		}
		return &memory.Error{Code: memory.Exhausted, Details: map[string]any{"quota": b.name, "limit": b.limit, "used": b.used},
			Message: fmt.Sprintf("family %s may have %s=%d waiting; %d are used, and %d more do not fit: let jobs run first, "+
				"or have an operator raise the quota, with alcove family grant %s --limit %s=N", family, b.name, b.limit, b.used, b.more, family, b.name)}
	}
	return nil
}

// Backlog is how many jobs of a family wait or run, with those that are being committed.
func (q *Queue) Backlog(family string) Backlog {
	q.mu.Lock()
	defer q.mu.Unlock()
	use := q.reserved[family]
	for _, job := range q.queue {
		if job.Family == family {
			use = use.plus(Backlog{1, job.size()})
		}
	}
	return use
}

// HasRoom is an error when more jobs of a family do not fit beside those there are. It keeps no room for them.
func (q *Queue) HasRoom(ctx context.Context, family string, more ...Job) error {
	if err := q.refresh(ctx); err != nil {
		return err
	}
	return q.room(family, q.Backlog(family), backlogOf(more))
}

// Commit commits a stage in which jobs are queued, if there is room for them, and has them run. Two commits never take the same room.
func (q *Queue) Commit(ctx context.Context, stage *memory.Stage, c memory.Commit, list []Job) (memory.Committed, error) {
	if len(list) == 0 {
		return stage.Commit(ctx, c)
	}
	release, err := q.reserve(ctx, list)
	if err != nil {
		return memory.Committed{}, err
	}
	done, err := stage.Commit(ctx, c)
	q.mu.Lock()
	defer q.mu.Unlock()
	release()
	if err == nil && !done.Replayed {
		q.add(done.Version, list)
		q.nudge()
	}
	return done, err
}

// reserve keeps room for jobs. The caller holds mu when it releases it.
func (q *Queue) reserve(ctx context.Context, list []Job) (release func(), err error) {
	if err := q.refresh(ctx); err != nil {
		return nil, err
	}
	more := map[string]Backlog{}
	for _, job := range list {
		more[job.Family] = more[job.Family].plus(Backlog{1, job.size()})
	}
	q.reserving.Lock() // so that nobody else looks before it is kept
	defer q.reserving.Unlock()
	for name, use := range more {
		if err := q.room(name, q.Backlog(name), use); err != nil {
			return nil, err
		}
	}
	hold := func(sign int64) {
		for name, use := range more {
			q.reserved[name] = q.reserved[name].plus(Backlog{sign * use.Jobs, sign * use.JobBytes})
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	hold(1)
	return func() { hold(-1) }, nil
}

// add puts jobs that were committed into the queue. The caller holds mu.
func (q *Queue) add(version uint64, list []Job) {
	for _, job := range list {
		q.queue = append(q.queue, job.Light())
		q.fresh = append(q.fresh, freshJob{version, job.ID})
	}
	sortQueue(q.queue)
}

// freshJob is a job that a reading of the queue may have missed.
type freshJob struct {
	version uint64
	id      string
}
