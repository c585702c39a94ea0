package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
)

// usable are families that can all be asked, with the default quotas.
type usable struct{}

func (usable) Usable(string) error                          { return nil }
func (usable) Parallel(_, job string) int                   { return map[string]int{"deliver": 3}[job] }
func (usable) HasWrites(context.Context, Job) (bool, error) { return false, nil }
func (usable) Schedules() []Schedule                        { return nil }
func (usable) Do(context.Context, *Job) error               { return errors.New("nothing is to be done") }
func (usable) Raise(family, quota string) string            { return "raise " + quota }
func (usable) Quota(string) (most Backlog, known bool) {
	return Backlog{abi.DefaultQuota(abi.QuotaJobs), abi.DefaultQuota(abi.QuotaJobBytes)}, true
}

// idle is a queue that runs nothing.
func idle(retry time.Duration) *Queue {
	return New(Options{Families: usable{}, Retry: retry, Clock: time.Now})
}

func TestAQueueHasRoomForSoManyJobsOfAFamily(t *testing.T) {
	q := idle(time.Second)
	q.stale = false
	for i := range abi.DefaultQuota(abi.QuotaJobs) {
		if err := q.HasRoom(t.Context(), "tidy", Job{Family: "tidy"}); err != nil {
			t.Fatalf("job %d: %v", i, err)
		}
		q.queue = append(q.queue, Job{ID: fmt.Sprint(i), Family: "tidy", State: Queued})
	}
	var full *memory.Error
	if err := q.HasRoom(t.Context(), "tidy", Job{Family: "tidy"}); !errors.As(err, &full) || full.Code != memory.Exhausted {
		t.Errorf("one more than fit: %v", err)
	}
	if err := q.HasRoom(t.Context(), "other", Job{Family: "other"}); err != nil {
		t.Errorf("of another family: %v", err)
	}
}

func TestAJobWhoseFailureCannotBeWrittenIsNotBegunAgainAtOnce(t *testing.T) {
	j := idle(time.Second)
	now := time.Now()
	job := Job{ID: "1", Family: "tidy", State: Queued, Due: now, Created: now}
	j.queue = []Job{job}
	job.Due, job.Attempts = now.Add(Backoff(j.o.Retry, 1)), 1 // as do has it when it failed, whether that was written or not
	j.noteOutcome(job)
	j.queue = []Job{{ID: "1", Family: "tidy", State: Queued, Due: now, Created: now}} // as it is read again
	if ready := j.ready(now); len(ready) != 1 || !ready[0].Due.Equal(job.Due) {
		t.Errorf("it is due %+v", ready)
	}
}

func TestAJobWaitsNoLongerThanItWasToWhenTheClockIsPutBack(t *testing.T) {
	j := idle(time.Minute)
	ahead := time.Date(2026, 1, 11, 0, 0, 0, 0, time.UTC)
	back := ahead.Add(-10 * 24 * time.Hour)
	for name, c := range map[string]struct {
		job  Job
		wait time.Duration
	}{
		"at once":         {Job{Due: ahead, Created: ahead}, 0},
		"with a delay":    {Job{Due: ahead.Add(time.Hour), Created: ahead}, time.Hour},
		"tried again":     {Job{Due: ahead.Add(4 * time.Minute), Created: back, Attempts: 2}, 4 * time.Minute},
		"delayed by days": {Job{Due: back.Add(48 * time.Hour), Created: back}, 48 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			c.job.ID, c.job.Family, c.job.State = name, "tidy", Queued
			dueAt := func(now time.Time) time.Time {
				t.Helper()
				j.queue = []Job{c.job} // as it is read again each time
				ready := j.ready(now)
				if len(ready) != 1 {
					t.Fatalf("%+v is ready", ready)
				}
				return ready[0].Due
			}
			first := dueAt(back)
			if first.Sub(back) != c.wait {
				t.Errorf("it is due after %v", first.Sub(back))
			}
			for passed := time.Second; passed < c.wait; passed *= 3 {
				if due := dueAt(back.Add(passed)); !due.Equal(first) {
					t.Errorf("after %v it is due %v, not %v", passed, due, first)
				}
			}
			if due := dueAt(first); due.After(first) {
				t.Errorf("when it is due, it is put off until %v", due)
			}
			if due := dueAt(back.Add(-time.Hour)); due.Sub(back.Add(-time.Hour)) > c.wait {
				t.Errorf("put back once more, it is due %v", due)
			}
			if due := dueAt(ahead.Add(time.Hour)); due.After(ahead.Add(time.Hour)) {
				t.Errorf("put forward, it is due %v", due)
			}
		})
	}
}

func TestARoundIsReadAsItWasKept(t *testing.T) {
	began := round{Began: time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC), Reached: &memory.Location{Branch: "draft", Namespace: "work"}}
	data, err := json.Marshal(began)
	if err != nil {
		t.Fatal(err)
	}
	var again round
	if err := json.Unmarshal(data, &again); err != nil || !again.Began.Equal(began.Began) || *again.Reached != *began.Reached {
		t.Errorf("%s is read as %+v (%v)", data, again, err)
	}
}

func TestAJobIsSeenDoneOnceWhatBelongsToItsEndIsDone(t *testing.T) {
	q := idle(time.Second)
	committed := Job{ID: "1", Family: "tidy", State: Done, Ended: time.Now(), Proposal: "proposals/tidy/1", Result: json.RawMessage(`{}`)}
	q.running["tidy"] = []*Job{{ID: "1", Family: "tidy", State: Queued}}
	seen := committed
	if q.Describe(&seen); seen.State != Running || seen.Proposal != "" || seen.Result != nil || !seen.Ended.IsZero() {
		t.Errorf("while its commit is published it is %+v", seen)
	}
	another := Job{ID: "0", Family: "tidy", State: Done, Proposal: "proposals/tidy/0"}
	if q.Describe(&another); another.State != Done || another.Proposal == "" {
		t.Errorf("a job that ended before is %+v", another)
	}
	cancelled := Job{ID: "1", Family: "tidy", State: Cancelled}
	if q.Describe(&cancelled); cancelled.State != Cancelled {
		t.Errorf("cancelled while it runs it is %+v", cancelled)
	}
	delete(q.running, "tidy")
	if q.Describe(&committed); committed.State != Done || committed.Proposal == "" {
		t.Errorf("afterwards it is %+v", committed)
	}
}

func TestJobsOfOneKindRunInParallelIfTheyMay(t *testing.T) {
	q := idle(time.Second)
	deliver, sweep := Job{ID: "new", Family: "events", Name: "deliver"}, Job{ID: "other", Family: "events", Name: "sweep"}
	for n := range 4 {
		if got := q.mayStart(deliver); got != (n < 3) {
			t.Errorf("beside %d of its kind it may start: %v", n, got)
		}
		if got := q.mayStart(sweep); got != (n == 0) {
			t.Errorf("beside %d of another kind one may start: %v", n, got)
		}
		q.running["events"] = append(q.running["events"], &Job{ID: fmt.Sprint(n), Family: "events", Name: "deliver"})
	}
	q.running["events"] = []*Job{&sweep}
	if q.mayStart(deliver) || q.mayStart(sweep) || !q.mayStart(Job{ID: "x", Family: "tidy", Name: "deliver"}) {
		t.Error("a job that runs alone is joined, or keeps those of another family waiting")
	}
	q.running["events"] = []*Job{&deliver}
	if q.mayStart(deliver) {
		t.Error("a job starts that is running")
	}
}
