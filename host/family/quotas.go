package family

import (
	"context"
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Use is what a family keeps, and what it may keep.
type Use struct {
	Family string `json:"family"`
	memory.Use
	JobUse
	Quotas map[string]int64 `json:"quotas"` // by name
}

// JobUse is how many jobs of a family wait or run, and how large they are.
type JobUse struct {
	Jobs     int64 `json:"jobs"`
	JobBytes int64 `json:"job_bytes"` // of what they were queued with
}

func (u JobUse) plus(o JobUse) JobUse { return JobUse{u.Jobs + o.Jobs, u.JobBytes + o.JobBytes} }

// quotaOf is a quota of a family: the operator's, or the default.
func quotaOf(g registry.Grant, name string) int64 {
	if set := g.Limits[name]; set > 0 {
		return set
	}
	return abi.DefaultQuota(name)
}

func recordQuota(g registry.Grant) memory.Quota {
	return memory.Quota{Records: quotaOf(g, abi.QuotaRecords), Bytes: quotaOf(g, abi.QuotaRecordBytes)}
}

// Uses are what the families keep, in the order of All.
func (f *Families) Uses(ctx context.Context) ([]Use, error) {
	var list []Use
	for _, d := range f.All() {
		u := Use{Family: d.Manifest.Name, JobUse: f.jobs.use(d.Manifest.Name), Quotas: map[string]int64{}}
		for _, name := range []string{abi.QuotaRecords, abi.QuotaRecordBytes, abi.QuotaJobs, abi.QuotaJobBytes} {
			u.Quotas[name] = quotaOf(d.Grant, name)
		}
		var err error
		if u.Use, err = f.o.Space.UseOf(ctx, u.Family); err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	return list, nil
}

// useOf is what some jobs take.
func useOf(list []Job) JobUse {
	use := JobUse{Jobs: int64(len(list))}
	for _, job := range list {
		use.JobBytes += job.size()
	}
	return use
}

// jobRoom is an error when more jobs of a family do not fit beside those there are.
func jobRoom(g registry.Grant, family string, used, more JobUse) error {
	for _, b := range []struct {
		name       string
		used, more int64
	}{{abi.QuotaJobs, used.Jobs, more.Jobs}, {abi.QuotaJobBytes, used.JobBytes, more.JobBytes}} {
		limit := quotaOf(g, b.name)
		if b.used+b.more <= limit {
			continue
		}
		return &abi.Error{Code: abi.CodeExhausted, Details: map[string]any{"quota": b.name, "limit": limit, "used": b.used},
			Message: fmt.Sprintf("family %s may have %s=%d waiting; %d are used, and %d more do not fit: let jobs run first, "+
				"or have an operator raise the quota, with alcove family grant %s --limit %s=N", family, b.name, limit, b.used, b.more, family, b.name)}
	}
	return nil
}

// use is how many jobs of a family wait or run, with those that are being committed.
func (j *jobs) use(family string) JobUse {
	j.mu.Lock()
	defer j.mu.Unlock()
	use := j.reserved[family]
	for _, job := range j.queue {
		if job.Family == family {
			use = use.plus(JobUse{1, job.size()})
		}
	}
	return use
}

// hasRoom is an error when more jobs of a family do not fit beside those there are. It keeps no room for them.
func (j *jobs) hasRoom(ctx context.Context, x *family, more ...Job) error {
	if err := j.refresh(ctx); err != nil {
		return err
	}
	return jobRoom(j.families.grantOf(x), x.name, j.use(x.name), useOf(more))
}

// commit commits a stage in which jobs are queued, if there is room for them, and has them run. Two commits never take the same room.
func (j *jobs) commit(ctx context.Context, stage *memory.Stage, c memory.Commit, list []Job) (memory.Committed, error) {
	if len(list) == 0 {
		return stage.Commit(ctx, c)
	}
	release, err := j.reserve(ctx, list)
	if err != nil {
		return memory.Committed{}, err
	}
	done, err := stage.Commit(ctx, c)
	j.mu.Lock()
	defer j.mu.Unlock()
	release()
	if err == nil && !done.Replayed {
		j.add(done.Version, list)
		j.nudge()
	}
	return done, err
}

// reserve keeps room for jobs. The caller holds mu when it releases it.
func (j *jobs) reserve(ctx context.Context, list []Job) (release func(), err error) {
	if err := j.refresh(ctx); err != nil {
		return nil, err
	}
	more := map[string]JobUse{}
	for _, job := range list {
		more[job.Family] = more[job.Family].plus(JobUse{1, job.size()})
	}
	j.reserving.Lock() // so that nobody else looks before it is kept
	defer j.reserving.Unlock()
	for name, use := range more {
		if x := j.families.knownNow(name); x != nil {
			if err := jobRoom(j.families.grantOf(x), name, j.use(name), use); err != nil {
				return nil, asMemory(err)
			}
		}
	}
	hold := func(sign int64) {
		for name, use := range more {
			j.reserved[name] = j.reserved[name].plus(JobUse{sign * use.Jobs, sign * use.JobBytes})
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	hold(1)
	return func() { hold(-1) }, nil
}

// add puts jobs that were committed into the queue. The caller holds mu.
func (j *jobs) add(version uint64, list []Job) {
	for _, job := range list {
		j.queue = append(j.queue, job.light())
		j.fresh = append(j.fresh, freshJob{version, job.ID})
	}
	sortQueue(j.queue)
}

// freshJob is a job that a reading of the queue may have missed.
type freshJob struct {
	version uint64
	id      string
}

// commitStage commits what the work staged, with the jobs that it queued.
func (w *request) commitStage(ctx context.Context, c memory.Commit) (memory.Committed, error) {
	return w.families.jobs.commit(ctx, w.Stage, c, w.queued)
}
