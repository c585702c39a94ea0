package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/memory"
)

// scheduled queues those jobs with a schedule that are due.
func (q *Queue) scheduled(ctx context.Context, now time.Time) {
	for _, s := range q.o.Families.Schedules() {
		if err := q.schedule(ctx, s, now); err != nil && ctx.Err() == nil {
			q.o.Logger.Warn("a scheduled job could not be queued", "family", s.Family, "job", s.Job, "error", err)
		}
	}
}

// Schedule is a job that is queued in intervals.
type Schedule struct {
	Family string
	Job    string
	Every  time.Duration
}

// schedule queues a job whose time has come; the first time is one interval after its hook was turned on.
func (q *Queue) schedule(ctx context.Context, s Schedule, now time.Time) error {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	key := s.Family + "/" + s.Job
	found, err := stage.Records(ctx, schedules, q.o.Namespace, []string{key})
	if err != nil {
		return err
	}
	last := now
	if found[0] != nil {
		if err := json.Unmarshal(found[0].Value, &last); err != nil {
			return fmt.Errorf("read when %s ran: %w", key, err)
		}
		if passed := now.Sub(last); passed >= 0 && passed < s.Every {
			return nil
		}
	}
	value, err := json.Marshal(now.UTC())
	if err != nil {
		return err
	}
	if err := stage.PutRecord(ctx, schedules, q.o.Namespace, key, value, nil); err != nil {
		return err
	}
	if found[0] == nil || last.After(now) { // or the clock was put back: the interval begins anew
		_, err = stage.Commit(ctx, memory.Commit{})
		return err
	}
	job := Job{ID: q.o.NewID(now), Family: s.Family, Name: s.Job, Branch: memory.Default, Namespace: memory.Default,
		State: Queued, Due: now, Created: now}
	if full := q.HasRoom(ctx, s.Family, job); full != nil { // this time is left out
		_, err := stage.Commit(ctx, memory.Commit{})
		return errors.Join(full, err)
	}
	if err := q.Put(ctx, stage, job); err != nil {
		return err
	}
	_, err = q.Commit(ctx, stage, memory.Commit{}, []Job{job})
	return err
}
