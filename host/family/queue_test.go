package family

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/await"
	"github.com/alcove-memory/alcove/host/family/ops"
)

func TestAQueueHasRoomForSoManyJobsOfAFamilyAndForSoMuch(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{
		{"job.enqueue", `{"job":"tidy"}`},
		{"job.enqueue", fmt.Sprintf(`{"job":"tidy","payload":"%s"}`, strings.Repeat("x", payloadLimit))},
	}})
	later := w.o.Clock().Add(time.Hour)
	w.jobs.mu.Lock()
	w.jobs.stale = false
	for i := range abi.DefaultQuota(abi.QuotaJobs) {
		w.jobs.queue = append(w.jobs.queue, Job{ID: fmt.Sprint(i), Family: "tidy", State: Queued, Due: later})
	}
	w.jobs.mu.Unlock()
	got, _ := w.do("tidy")
	if e := got[0].Error; e == nil || e.Code != abi.CodeExhausted {
		t.Errorf("one more than fit: %s, %v", got[0].OK, e)
	}
	if e := got[1].Error; e == nil || e.Code != abi.CodeInvalidArgument || !strings.Contains(e.Message, "payload") {
		t.Errorf("a large payload: %s, %v", got[1].OK, e)
	}
}

func TestAJobWhoseFailureCannotBeWrittenIsNotBegunAgainAtOnce(t *testing.T) {
	j := newJobs(open(t, nil).with(aFamily("tidy"), script{}).Families)
	now := time.Now()
	job := Job{ID: "1", Family: "tidy", State: Queued, Due: now, Created: now}
	j.queue = []Job{job}
	job.Due, job.Attempts = now.Add(backoff(j.families.o.Retry, 1)), 1 // as do has it when it failed, whether that was written or not
	j.noteOutcome(job)
	j.queue = []Job{{ID: "1", Family: "tidy", State: Queued, Due: now, Created: now}} // as it is read again
	if ready := j.ready(now); len(ready) != 1 || !ready[0].Due.Equal(job.Due) {
		t.Errorf("it is due %+v", ready)
	}
}

func TestAJobWaitsForItsFamilyToComeBack(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{says: `1`})
	yes, no := true, false
	if _, err := w.Grant(GrantRequest{Family: "tidy", Disable: &yes}); err != nil {
		t.Fatal(err)
	}
	job := w.enqueue("tidy")
	time.Sleep(50 * time.Millisecond) // the queue is looked at
	if got := w.job(job.ID); got.State != Queued || got.Attempts != 0 {
		t.Errorf("while it was away: %+v", got)
	}
	if _, err := w.Grant(GrantRequest{Family: "tidy", Disable: &no}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the job ran", func() bool { return w.job(job.ID).State == Done })
}

func TestAJobDoesNotRunWhenTheRightToItWasTakenBack(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}, says: `1`})
	if _, err := w.Grant(GrantRequest{Family: "tidy", Revoke: []string{"job"}}); err != nil {
		t.Fatal(err)
	}
	job := w.enqueue("tidy")
	await.That(t, "it is given up", func() bool { return w.job(job.ID).State == Failed })
	if got := w.job(job.ID); !strings.Contains(got.Error, "taken back") || w.value("", "a") != "" {
		t.Errorf("%+v", got)
	}
}

func TestAScheduleSurvivesAClockThatIsPutBack(t *testing.T) {
	var now atomicTime
	now.set(time.Now().Add(365 * 24 * time.Hour)) // wrong by a year
	w := open(t, func(o *Options) { o.Clock = now.get }).with(withJob("tidy", "1h"), script{says: `1`})
	done := func() int {
		list, err := w.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	seen := func(at time.Time) func() bool {
		return func() bool {
			stage, err := w.space.Stage(t.Context(), "", "")
			if err != nil {
				return false
			}
			found, err := stage.Records(t.Context(), schedules, ops.SystemNamespace, []string{"tidy/tidy"})
			return err == nil && found[0] != nil && strings.Contains(string(found[0].Value), at.UTC().Format("2006-01-02T15:04"))
		}
	}
	w.jobs.nudge()
	await.That(t, "the schedule begins", seen(now.get()))
	now.set(time.Now())
	w.jobs.nudge()
	await.That(t, "it begins anew", seen(now.get()))
	now.set(now.get().Add(61 * time.Minute))
	w.jobs.nudge()
	await.That(t, "it runs an hour later", func() bool { return done() == 1 })
}

func TestHundredsOfJobsAreDone(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: repeated(step{"job.enqueue", `{"job":"tidy"}`}, 300), says: `1`})
	began := time.Now()
	w.jobs.mu.Lock()
	w.jobs.running["tidy"] = &Job{ID: "none"} // so that they pile up
	w.jobs.mu.Unlock()
	if _, err := w.call(Call{Tool: "tidy_do"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Install(pack(t, withJob("tidy", ""), script{says: `2`})); err != nil { // one that queues nothing
		t.Fatal(err)
	}
	if _, err := w.Grant(GrantRequest{Family: "tidy", All: true}); err != nil {
		t.Fatal(err)
	}
	w.jobs.mu.Lock()
	delete(w.jobs.running, "tidy")
	w.jobs.mu.Unlock()
	w.jobs.nudge()
	await.That(t, "all are done", func() bool {
		list, err := w.Jobs(t.Context())
		for _, job := range list {
			if job.State != Done {
				return false
			}
		}
		return err == nil && len(list) == 300
	})
	t.Logf("300 jobs took %v", time.Since(began))
}

func repeated(s step, n int) []step {
	list := make([]step, n)
	for i := range list {
		list[i] = s
	}
	return list
}

func TestAJobWaitsNoLongerThanItWasToWhenTheClockIsPutBack(t *testing.T) {
	j := newJobs(open(t, func(o *Options) { o.Retry = time.Minute }).with(aFamily("tidy"), script{}).Families)
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
