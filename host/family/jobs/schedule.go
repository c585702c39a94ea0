package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// scheduled queues due jobs with a schedule.
func (q *Queue) scheduled(ctx context.Context, now time.Time) {
	for _, s := range q.o.Families.Schedules() {
		if err := q.schedule(ctx, s, now); err != nil && ctx.Err() == nil {
			q.o.Logger.Warn("a scheduled job could not be queued", "family", s.Family, "job", s.Job, "error", err)
		}
	}
}

// Schedule is a job that is queued at intervals.
type Schedule struct {
	Family string
	Job    string
	Every  time.Duration
	Each   abi.Each // the kind of location it is queued for
}

func (s Schedule) key() string { return s.Family + "/" + s.Job }

// last returns the last round of a schedule, if there was one.
func (q *Queue) last(ctx context.Context, stage *memory.Stage, s Schedule) (last round, found bool, err error) {
	list, err := stage.Records(ctx, schedules, q.o.Namespace, []string{s.key()})
	if err != nil || list[0] == nil {
		return last, false, err
	}
	if err := json.Unmarshal(list[0].Value, &last); err != nil {
		return last, false, fmt.Errorf("read when %s ran: %w", s.key(), err)
	}
	return last, true, nil
}

// Next lists the next run of each job with a schedule, as a job in the state Scheduled.
func (q *Queue) Next(ctx context.Context, now time.Time) (list []Job, err error) {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return nil, err
	}
	for _, s := range q.o.Families.Schedules() {
		last, found, err := q.last(ctx, stage, s)
		if err != nil {
			return nil, err
		}
		next := Job{Family: s.Family, Name: s.Job, State: Scheduled, Created: last.Began, Due: last.Began.Add(s.Every)}
		switch {
		case !found: // its first interval is about to begin
			next.Created, next.Due = now, now.Add(s.Every)
		case last.Reached != nil: // it is being queued
			next.Due = last.Began
		}
		list = append(list, next)
	}
	slices.SortFunc(list, func(a, b Job) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Family+"/"+a.Name, b.Family+"/"+b.Name))
	})
	return list, nil
}

// RunNow begins a round of a job with a schedule. Its next interval begins now.
func (q *Queue) RunNow(ctx context.Context, family, job string, now time.Time) error {
	for _, s := range q.o.Families.Schedules() {
		if s.Family != family || s.Job != job {
			continue
		}
		stage, err := q.o.Space.Stage(ctx, memory.Default)
		if err != nil {
			return err
		}
		if err := q.keep(ctx, stage, s, round{Began: now.UTC(), Reached: &memory.Location{}}); err != nil {
			return fmt.Errorf("run %s: %w", s.key(), err)
		}
		q.WakeUp()
		return nil
	}
	return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("family %.64q has no job %.64q with a schedule that runs", family, job)}
}

// Cancel cancels a job that waits or runs.
func (q *Queue) Cancel(ctx context.Context, id string, now time.Time) error {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	job, err := q.Find(ctx, stage, id)
	if err != nil {
		return err
	}
	if job == nil {
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no job %.64q: alcove family jobs lists them", id)}
	}
	if job.State != Queued {
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("the job %s has ended: it is %s", job.ID, job.State)}
	}
	job.State, job.Ended = Cancelled, now
	if err := q.Put(ctx, stage, *job); err != nil {
		return err
	}
	if _, err := stage.Commit(ctx, memory.Commit{}); err != nil {
		return fmt.Errorf("cancel the job %s: %w", job.ID, err)
	}
	q.Stop(id)
	return nil
}

// Retry queues a job again that failed or was cancelled: it begins anew. One with effects outside is not retried, as by itself.
func (q *Queue) Retry(ctx context.Context, id string, now time.Time) error {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	job, err := q.Find(ctx, stage, id)
	switch {
	case err != nil:
		return err
	case job == nil:
		return &memory.Error{Code: memory.NotFound, Message: fmt.Sprintf("there is no job %.64q: alcove family jobs lists them", id)}
	case job.State != Failed && job.State != Cancelled:
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("the job %s is %s: only one that failed or was cancelled is retried", job.ID, job.State)}
	case len(job.Sent) > 0:
		return &memory.Error{Code: memory.Conflict, Message: fmt.Sprintf("the job %s is not retried, because it had effects outside: %s", job.ID, strings.Join(job.Sent, "; "))}
	}
	job.State, job.Attempts, job.Due, job.Ended, job.Error, job.Progress, job.Result = Queued, 0, now, time.Time{}, "", nil, nil
	if err := q.Put(ctx, stage, *job); err != nil {
		return err
	}
	if _, err := q.Commit(ctx, stage, memory.Commit{}, []Job{*job}); err != nil {
		return fmt.Errorf("retry the job %s: %w", job.ID, err)
	}
	return nil
}

// round is the progress of a schedule: each interval begins with a round, which queues the job for one location after the other.
type round struct {
	Began   time.Time        `json:"began"`
	Reached *memory.Location `json:"reached,omitempty"` // the last location of an unfinished round; nil: complete
}

// schedule queues a due job; the first is due one interval after its hook was turned on.
func (q *Queue) schedule(ctx context.Context, s Schedule, now time.Time) error {
	stage, err := q.o.Space.Stage(ctx, memory.Default)
	if err != nil {
		return err
	}
	last, found, err := q.last(ctx, stage, s)
	if err != nil {
		return err
	}
	switch passed := now.Sub(last.Began); {
	case !found || passed < 0: // or the clock was put back: the interval restarts
		return q.keep(ctx, stage, s, round{Began: now.UTC()})
	case last.Reached != nil:
		return q.advance(ctx, stage, s, last, now)
	case passed < s.Every:
		return nil
	}
	return q.advance(ctx, stage, s, round{Began: now.UTC(), Reached: &memory.Location{}}, now)
}

// keep commits the progress of a schedule, together with staged jobs.
func (q *Queue) keep(ctx context.Context, stage *memory.Stage, s Schedule, r round, list ...Job) error {
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	if err := stage.PutRecord(ctx, schedules, q.o.Namespace, s.key(), value, nil); err != nil {
		return err
	}
	_, err = q.Commit(ctx, stage, memory.Commit{}, list)
	return err
}

// advance queues the job for the next locations of a round.
func (q *Queue) advance(ctx context.Context, stage *memory.Stage, s Schedule, r round, now time.Time) error {
	next, more, err := q.locations(ctx, s.Each, *r.Reached)
	if err != nil {
		return err
	}
	var list []Job
	var full error
	for _, at := range next {
		if q.waitsAt(s, at) { // from an earlier round
			r.Reached = &at
			continue
		}
		job := Job{ID: q.o.NewID(now), Family: s.Family, Name: s.Job, Branch: at.Branch, Namespace: at.Namespace, State: Queued, Due: now, Created: now}
		if full = q.HasRoom(ctx, s.Family, append(list, job)...); full != nil {
			break
		}
		if err := q.Put(ctx, stage, job); err != nil {
			return err
		}
		list, r.Reached = append(list, job), &at
	}
	switch {
	case full != nil && s.Each == abi.EachNone: // skip this round
		r.Reached = nil
	case full != nil && len(list) == 0:
		return nil // the round continues when there is room
	case full == nil && !more:
		r.Reached = nil
	}
	err = q.keep(ctx, stage, s, r, list...)
	if s.Each != abi.EachNone {
		full = nil
	}
	if more && full == nil && err == nil {
		q.signal()
	}
	return errors.Join(full, err)
}

// waitsAt reports whether a schedule's job for a location is still queued.
func (q *Queue) waitsAt(s Schedule, at memory.Location) bool {
	if s.Each == abi.EachNone {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, job := range q.queue {
		if job.Family == s.Family && job.Name == s.Job && job.Branch == at.Branch && job.Namespace == at.Namespace && job.Agent == "" {
			return true
		}
	}
	return false
}

// locationsPage bounds the locations for which one commit queues a schedule's job.
const locationsPage = 100

// locations returns the locations of a schedule's job, by branch and namespace, after the one a round reached; more reports
// whether others follow.
func (q *Queue) locations(ctx context.Context, each abi.Each, reached memory.Location) (list []memory.Location, more bool, err error) {
	if each == abi.EachNone {
		return []memory.Location{{Branch: memory.Default, Namespace: memory.Default}}, false, nil
	}
	branches, err := q.o.Space.Branches(ctx)
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(branches, func(a, b memory.Branch) int { return strings.Compare(a.Name, b.Name) })
	for _, b := range branches {
		if b.Name < reached.Branch || memory.IsProposal(b.Name) { // it awaits a decision
			continue
		}
		namespaces, err := q.namespaces(ctx, each, b.Name)
		if err != nil {
			return nil, false, err
		}
		for _, namespace := range namespaces {
			at := memory.Location{Branch: b.Name, Namespace: namespace}
			if cmp.Or(strings.Compare(at.Branch, reached.Branch), strings.Compare(at.Namespace, reached.Namespace)) <= 0 {
				continue
			}
			if len(list) == locationsPage {
				return list, true, nil
			}
			list = append(list, at)
		}
	}
	return list, false, nil
}

// namespaces returns a branch's namespaces for a schedule's job: those with memories, or only the default one.
func (q *Queue) namespaces(ctx context.Context, each abi.Each, branch string) ([]string, error) {
	if each == abi.EachBranch {
		return []string{memory.Default}, nil
	}
	stage, err := q.o.Space.Stage(ctx, branch)
	var known *memory.Error
	if errors.As(err, &known) && known.Code == memory.NotFound {
		return nil, nil // it was deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	return stage.Namespaces(ctx)
}
