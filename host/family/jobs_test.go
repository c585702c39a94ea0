package family

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func withJob(name, every string) *abi.Manifest {
	m := aFamily(name)
	m.Hooks.Jobs = []abi.Job{{Name: "tidy", Every: every}}
	m.Collections = []abi.Collection{{Name: "runs"}}
	return m
}

var enqueue = []step{{"job.enqueue", `{"job":"tidy","payload":{"n":1}}`}}

// enqueuer is a second family, which queues nothing of its own: tests put jobs straight into the queue.
func (w *world) enqueue(family string) jobs.Job {
	w.t.Helper()
	stage, err := w.space.As(owner("")).Stage(w.t.Context(), "")
	if err != nil {
		w.t.Fatal(err)
	}
	now := w.o.Clock()
	job := jobs.Job{ID: w.newID(now), Family: family, Name: "tidy", Branch: memory.Default, Namespace: memory.Default, State: jobs.Queued, Due: now, Created: now}
	if err := w.jobs.Put(w.t.Context(), stage, job); err != nil {
		w.t.Fatal(err)
	}
	if _, err := stage.Commit(w.t.Context(), memory.Commit{}); err != nil {
		w.t.Fatal(err)
	}
	w.jobs.WakeUp()
	return job
}

// job is what is remembered of a job.
func (w *world) job(id string) jobs.Job {
	w.t.Helper()
	list, err := w.Jobs(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, j := range list {
		if j.ID == id {
			return j
		}
	}
	return jobs.Job{}
}

func TestAJobRunsWhenNobodyWaitsAndItsWritesAreCommittedWithItsEnd(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}, says: `{"done":3}`})
	job := w.enqueue("tidy")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	if got := w.job(job.ID); w.value("", "a") != "1" || string(got.Result) != `{"done":3}` || got.Attempts != 1 {
		t.Errorf("the job is %+v, want it done at once, and its write there", got)
	}
}

func TestAToolQueuesJobsOfItsOwnWithItsWrites(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: enqueue})
	got, _ := w.do("tidy")
	var queued struct{ ID string }
	if err := json.Unmarshal(got[0].OK, &queued); err != nil || queued.ID == "" {
		t.Fatalf("job.enqueue = %s, %v, want an id", got[0].OK, got[0].Error)
	}
	await.That(t, "the job ran", func() bool { return w.job(queued.ID).State == jobs.Done })
}

func TestAJobThatFailsIsTriedAgainLessAndLessOftenAndThenGivenUp(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}, traps: true})
	job := w.enqueue("tidy")
	await.That(t, "the job is given up", func() bool { return w.job(job.ID).State == jobs.Failed })
	if got := w.job(job.ID); got.Attempts != jobs.Attempts || !strings.Contains(got.Error, "family tidy failed") || w.value("", "a") != "" {
		t.Errorf("the job is %+v, want %d attempts and nothing written", got, jobs.Attempts)
	}
	for failures, want := range map[int]time.Duration{1: time.Second, 2: 4 * time.Second, 3: 16 * time.Second, 20: time.Hour} {
		if got := jobs.Backoff(time.Second, failures); got != want {
			t.Errorf("after %d failures it waits %v", failures, got)
		}
	}
}

func TestAJobThatCouldNeverSucceedIsGivenUpAtOnce(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{fails: `{"code":"denied","message":"not yours"}`})
	job := w.enqueue("tidy")
	await.That(t, "the job is given up", func() bool { return w.job(job.ID).State == jobs.Failed })
	if got := w.job(job.ID); got.Attempts != 1 {
		t.Errorf("the job is %+v, want one attempt", got)
	}
}

func TestQueuedJobsSurviveTheServer(t *testing.T) {
	dir := t.TempDir()
	var id string
	t.Run("before", func(t *testing.T) {
		w := openIn(t, dir, func(o *Options) { o.Retry = time.Hour }).with(withJob("tidy", ""), script{traps: true})
		id = w.enqueue("tidy").ID
		await.That(t, "the first attempt failed", func() bool { return w.job(id).Attempts == 1 })
	})
	w := openIn(t, dir, func(o *Options) { o.Clock = func() time.Time { return time.Now().Add(2 * time.Hour) } })
	await.That(t, "the second attempt was made", func() bool { return w.job(id).Attempts >= 2 })
}

func TestAScheduledJobRunsEveryInterval(t *testing.T) {
	var now atomicTime
	now.set(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	w := open(t, func(o *Options) { o.Clock = now.get }).with(withJob("tidy", "1h"), script{steps: []step{{"record.append", `{"collection":"runs","values":[1]}`}}})
	runs := func() int {
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		list, _, err := stage.ListRecords(t.Context(), memory.Collection{Name: "tidy/runs"}, "default", "", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	known := func() bool {
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		found, err := stage.Records(t.Context(), memory.Collection{Name: "_schedules", PerSpace: true}, ops.SystemNamespace, []string{"tidy/tidy"})
		return err == nil && found[0] != nil
	}
	await.That(t, "its schedule is noted", known)
	if runs() != 0 {
		t.Error("it ran as soon as it was granted")
	}
	for want := 1; want < 4; want++ {
		now.set(now.get().Add(61 * time.Minute))
		w.jobs.WakeUp()
		await.That(t, fmt.Sprintf("run %d", want), func() bool { return runs() == want })
	}
}

func TestAJobsProgressIsSeenWhileItRuns(t *testing.T) {
	m := withJob("tidy", "")
	m.Limits.CPUMS, m.Limits.WallMS = 60_000, 300_000 // until the test ends
	w := open(t, nil).with(m, script{steps: []step{{"caller.progress", `{"done":3,"total":10,"message":"on it"}`}}, spins: true})
	job := w.enqueue("tidy")
	await.That(t, "its progress is seen", func() bool {
		got := w.job(job.ID)
		return got.State == jobs.Running && got.Progress != nil && *got.Progress == jobs.Progress{Done: 3, Total: 10, Message: "on it"}
	})
}

func TestAFamilySeesAndCancelsItsOwnJobsAlone(t *testing.T) {
	w := open(t, nil)
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{"tidy", "other"} {
		job := jobs.Job{ID: family, Family: family, Name: "tidy", Branch: "default", Namespace: "default", State: jobs.Queued, Due: time.Now().Add(time.Hour)}
		if err := w.jobs.Put(t.Context(), stage, job); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	w.with(withJob("tidy", ""), script{steps: []step{{"job.status", `{"id":"tidy"}`}, {"job.status", `{"id":"other"}`}, {"job.cancel", `{"id":"tidy"}`}, {"job.cancel", `{"id":"other"}`},
		{"job.enqueue", `{"job":"unknown"}`}, {"job.enqueue", `{"job":"tidy","after_s":-1}`}}})
	got, _ := w.do("tidy")
	if !strings.Contains(string(got[0].OK), `"state":"queued"`) || got[1].Error == nil || string(got[2].OK) != `{"cancelled":true}` || got[3].Error == nil || got[4].Error == nil || got[5].Error == nil {
		t.Errorf("answers %+v, want its own job shown and cancelled, and the rest refused", got)
	}
	if w.job("tidy").State != jobs.Cancelled || w.job("other").State != jobs.Queued {
		t.Errorf("jobs %+v and %+v, want its own cancelled and the other queued", w.job("tidy"), w.job("other"))
	}
}

func TestEndedJobsAreForgottenAfterAWhile(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{says: `{}`})
	job := w.enqueue("tidy")
	await.That(t, "the job is done", func() bool { return w.job(job.ID).State == jobs.Done })
	if err := w.jobs.Forget(t.Context(), time.Now().Add(jobs.Kept-time.Minute)); err != nil || w.job(job.ID).ID == "" {
		t.Errorf("forgotten too early: %v", err)
	}
	if err := w.jobs.Forget(t.Context(), time.Now().Add(jobs.Kept+time.Minute)); err != nil || w.job(job.ID).ID != "" {
		t.Errorf("not forgotten: %v", err)
	}
}

func TestARunningJobEndsWithTheKeyOfItsCaller(t *testing.T) {
	ends := make(chan context.CancelCauseFunc, 1)
	m := withJob("tidy", "")
	m.Limits.CPUMS, m.Limits.WallMS = 60_000, 300_000 // until its key ends
	w := open(t, func(o *Options) {
		o.WhileKey = func(ctx context.Context, key string) (context.Context, func()) {
			ctx, end := context.WithCancelCause(ctx)
			ends <- end
			return ctx, func() { end(nil) }
		}
	}).with(m, script{steps: []step{{"caller.progress", `{"done":1}`}}, spins: true})
	job := w.enqueue("tidy")
	await.That(t, "the job runs", func() bool { return w.job(job.ID).Progress != nil })
	(<-ends)(&memory.Error{Code: memory.Denied, Message: "the key k1 was revoked"})
	await.That(t, "the job has failed", func() bool { return w.job(job.ID).State == jobs.Failed })
	if got := w.job(job.ID); got.Attempts != 1 || got.Error != "the key k1 was revoked" {
		t.Errorf("got %d attempts and %q, want one attempt that ended because the key was revoked", got.Attempts, got.Error)
	}
}

func TestAJobIsShownToItsCallersAlone(t *testing.T) {
	caller := func(agent, principal string, namespaces ...string) memory.Caller {
		return memory.Caller{Agent: agent, Principal: principal, Key: "key of " + agent, Rights: memory.RightsTo(namespaces, namespaces)}
	}
	ann := caller("ann", "", "team/a", "team/b")
	w := open(t, nil)
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	job := jobs.Job{ID: "hers", Family: "tidy", Name: "tidy", Branch: "default", Namespace: "team/a", State: jobs.Queued, Due: time.Now().Add(time.Hour)}
	job.SetCaller(ann)
	if err := w.jobs.Put(t.Context(), stage, job); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{}); err != nil {
		t.Fatal(err)
	}
	w.with(withJob("tidy", ""), script{steps: []step{{"job.status", `{"id":"hers"}`}, {"job.cancel", `{"id":"hers"}`}}})
	reads := ann
	reads.Rights = memory.RightsTo([]string{"team/a"}, []string{"team/b"})
	for _, c := range []struct {
		who           string
		caller        memory.Caller
		sees, cancels bool
	}{
		{"another agent with the same rights", caller("bob", "", "team/a", "team/b"), false, false},
		{"the agent with a key for another namespace", caller("ann", "", "team/b"), false, false},
		{"the agent with a key that reads there", reads, true, false},
		{"an agent that works for another", caller("bob/task", "bob", "team/a"), false, false},
		{"an agent that works for it", caller("ann/task", "ann", "team/a"), true, true},
		{"the owner", owner("zoe"), true, false}, // it is cancelled already
	} {
		got := w.askAs(t, "tidy", "team/b", c.caller)
		if sees, cancels := got[0].Error == nil, string(got[1].OK) == `{"cancelled":true}`; sees != c.sees || cancels != c.cancels {
			t.Errorf("%s sees it: %t, and cancels it: %t; want %t, %t", c.who, sees, cancels, c.sees, c.cancels)
		}
		for _, r := range got {
			if r.Error != nil && r.Error.Code != abi.CodeNotFound {
				t.Errorf("%s: got %v, want %s", c.who, r.Error, abi.CodeNotFound)
			}
		}
	}
}
