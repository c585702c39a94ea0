package jobs

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// Backlog is the number and size of a family's waiting and running jobs.
type Backlog struct {
	Jobs     int64 `json:"jobs"`
	JobBytes int64 `json:"job_bytes"` // of their payloads
}

func (u Backlog) plus(o Backlog) Backlog { return Backlog{u.Jobs + o.Jobs, u.JobBytes + o.JobBytes} }

// backlogOf returns the backlog of some jobs.
func backlogOf(list []Job) Backlog {
	use := Backlog{Jobs: int64(len(list))}
	for _, job := range list {
		use.JobBytes += job.size()
	}
	return use
}

// room returns an error if more jobs of a family do not fit its quota.
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
			Message: fmt.Sprintf("family %s may have %s=%d waiting; %d are used, and %d more do not fit: let jobs run first; or %s",
				family, b.name, b.limit, b.used, b.more, q.o.Families.Raise(family, b.name))}
	}
	return nil
}

// Backlog returns a family's backlog, including jobs being committed.
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

// HasRoom returns an error if more jobs of a family do not fit its quota. It reserves nothing.
func (q *Queue) HasRoom(ctx context.Context, family string, more ...Job) error {
	if err := q.refresh(ctx); err != nil {
		return err
	}
	return q.room(family, q.Backlog(family), backlogOf(more))
}

// Commit commits a stage with queued jobs, if they fit, and schedules them. Two commits never take the same room.
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
		q.signal()
	}
	return done, err
}

// reserve reserves room for jobs. The caller holds mu when it releases it.
func (q *Queue) reserve(ctx context.Context, list []Job) (release func(), err error) {
	if err := q.refresh(ctx); err != nil {
		return nil, err
	}
	more := map[string]Backlog{}
	for _, job := range list {
		more[job.Family] = more[job.Family].plus(Backlog{1, job.size()})
	}
	q.reserving.Lock() // nobody else looks before it is reserved
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

// add adds committed jobs to the queue. The caller holds mu.
func (q *Queue) add(version uint64, list []Job) {
	for _, job := range list {
		q.queue = append(q.queue, job.Light())
		q.fresh = append(q.fresh, freshJob{version, job.ID})
	}
	sortQueue(q.queue)
}

// freshJob is a job that a concurrent read of the queue may have missed.
type freshJob struct {
	version uint64
	id      string
}
