package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
)

// scheduled queues those jobs with a schedule that are due.
func (j *jobs) scheduled(ctx context.Context, now time.Time) {
	for _, s := range j.families.schedules() {
		if err := j.schedule(ctx, s, now); err != nil && ctx.Err() == nil {
			j.families.o.Logger.Warn("a scheduled job could not be queued", "family", s.family.name, "job", s.job.Name, "error", err)
		}
	}
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
		if _, on := f.hookOf(x, abi.HookJob); !on {
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
func (j *jobs) schedule(ctx context.Context, s schedule, now time.Time) error {
	stage, err := j.families.o.Space.Stage(ctx, memory.Default, "")
	if err != nil {
		return err
	}
	key := s.family.name + "/" + s.job.Name
	found, err := stage.Records(ctx, schedules, ops.SystemNamespace, []string{key})
	if err != nil {
		return err
	}
	last := now
	if found[0] != nil {
		if err := json.Unmarshal(found[0].Value, &last); err != nil {
			return fmt.Errorf("read when %s ran: %w", key, err)
		}
		if passed := now.Sub(last); passed >= 0 && passed < s.every {
			return nil
		}
	}
	value, err := json.Marshal(now.UTC())
	if err != nil {
		return err
	}
	if err := stage.PutRecord(ctx, schedules, ops.SystemNamespace, key, value, nil); err != nil {
		return err
	}
	if found[0] == nil || last.After(now) { // or the clock was put back: the interval begins anew
		_, err = stage.Commit(ctx, memory.Commit{})
		return err
	}
	job := Job{ID: j.families.newID(now), Family: s.family.name, Name: s.job.Name, Branch: memory.Default, Namespace: memory.Default,
		State: Queued, Due: now, Created: now}
	if full := j.hasRoom(ctx, s.family, job); full != nil { // this time is left out
		_, err := stage.Commit(ctx, memory.Commit{})
		return errors.Join(full, err)
	}
	if err := j.put(ctx, stage, job); err != nil {
		return err
	}
	_, err = j.commit(ctx, stage, memory.Commit{}, []Job{job})
	return err
}
