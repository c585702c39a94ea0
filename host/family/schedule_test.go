package family

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// everyHour is a family with a job that is queued each hour for each of something.
func everyHour(each abi.Each) *abi.Manifest {
	m := withJob("tidy", "1h")
	m.Hooks.Jobs[0].Each = each
	return m
}

// runs are the locations that jobs ran or wait at, in the order in which they were queued.
func (w *world) runs() (list []string) {
	w.t.Helper()
	all, err := w.Jobs(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, job := range all {
		if job.State == jobs.Done {
			list = append(list, job.Branch+"#"+job.Namespace)
		}
	}
	slices.Sort(list)
	return list
}

// ranUntil waits for runs of jobs. The clock goes on meanwhile, by much less than an hour, so that a job that failed on a busy machine is
// tried again.
func (w *world) ranUntil(what string, now *atomicTime, done func(runs []string) bool) {
	w.t.Helper()
	await.That(w.t, what, func() bool {
		now.set(now.get().Add(time.Millisecond))
		w.jobs.WakeUp()
		return done(w.runs())
	})
}

func (w *world) storeAt(branch, namespace string) {
	w.t.Helper()
	if _, err := w.space.As(owner("")).Store(w.t.Context(), memory.Location{Branch: branch, Namespace: namespace}, []memory.Item{{Key: "k", Value: []byte(`1`)}}, memory.Write{}); err != nil {
		w.t.Fatal(err)
	}
}

// branched is a world with three branches, one of them a proposal, and namespaces on each.
func branched(t *testing.T, each abi.Each, now *atomicTime) *world {
	t.Helper()
	now.set(time.Now())
	w := open(t, func(o *Options) { o.Clock = now.get })
	w.storeAt("", "")
	w.storeAt("", "work")
	if _, err := w.space.As(owner("")).Fork(t.Context(), memory.Default, "draft", memory.AsOf{}, memory.Write{}); err != nil {
		t.Fatal(err)
	}
	stage, err := w.space.As(owner("")).Stage(t.Context(), memory.Default)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Put(t.Context(), "", []memory.Item{{Key: "k", Value: []byte(`2`)}}); err != nil {
		t.Fatal(err)
	}
	if _, err := stage.Commit(t.Context(), memory.Commit{Proposal: memory.Proposals + "tidy/1"}); err != nil {
		t.Fatal(err)
	}
	w.storeAt("draft", "ideas")
	return w.with(everyHour(each), script{says: `1`})
}

func TestAScheduledJobRunsForEachBranchOrNamespace(t *testing.T) {
	t.Parallel()
	for each, want := range map[abi.Each][]string{
		abi.EachNone:      {"default#default"},
		abi.EachBranch:    {"default#default", "draft#default"},
		abi.EachNamespace: {"default#default", "default#work", "draft#default", "draft#ideas", "draft#work"},
	} {
		t.Run(string(each)+" each", func(t *testing.T) {
			var now atomicTime
			w := branched(t, each, &now)
			w.begun("tidy/tidy")
			now.set(now.get().Add(61 * time.Minute))
			w.jobs.WakeUp()
			w.ranUntil("all ran", &now, func(runs []string) bool { return len(runs) >= len(want) })
			w.storeAt("draft", "later")
			now.set(now.get().Add(61 * time.Minute))
			w.jobs.WakeUp()
			again := slices.Concat(want, want)
			if each == abi.EachNamespace {
				again = append(again, "draft#later")
			}
			slices.Sort(again)
			w.ranUntil("all ran again", &now, func(runs []string) bool { return slices.Equal(runs, again) })
		})
	}
}

// TestARoundOfASchedulePausesWhileThereIsNoRoom has more locations than a family may have jobs, and than a page.
func TestARoundOfASchedulePausesWhileThereIsNoRoom(t *testing.T) {
	t.Parallel()
	var now atomicTime
	now.set(time.Now())
	w := open(t, func(o *Options) { o.Clock = now.get })
	want := make([]string, 0, 130)
	for i := range cap(want) {
		name := fmt.Sprintf("n%03d", i)
		w.storeAt("", name)
		want = append(want, "default#"+name)
	}
	w.with(everyHour(abi.EachNamespace), script{says: `1`})
	if _, err := w.Grant(grants.Request{Family: "tidy", Limits: map[string]int64{abi.QuotaJobs: 7}}); err != nil {
		t.Fatal(err)
	}
	w.begun("tidy/tidy")
	now.set(now.get().Add(61 * time.Minute))
	w.jobs.WakeUp()
	w.ranUntil("each ran once", &now, func(runs []string) bool { return slices.Equal(runs, want) })
}

func TestAScheduledJobTellsWhenItRunsNextAndRunsWhenAnOperatorSaysSo(t *testing.T) {
	t.Parallel()
	var now atomicTime
	w := branched(t, abi.EachBranch, &now)
	w.begun("tidy/tidy")
	began := now.get()
	next := func() jobs.Job {
		t.Helper()
		list, err := w.NextJobs(t.Context())
		if err != nil || len(list) != 1 || list[0].Family != "tidy" || list[0].Name != "tidy" || list[0].State != jobs.Scheduled {
			t.Fatalf("got %+v, %v, want the next run of tidy", list, err)
		}
		return list[0]
	}
	if got, want := next().Due, began.Add(time.Hour); !got.Equal(want) {
		t.Errorf("the first run is due at %v, want %v", got, want)
	}
	now.set(now.get().Add(10 * time.Minute))
	if err := w.RunJob(t.Context(), "tidy", "tidy"); err != nil {
		t.Fatal(err)
	}
	again := now.get().Add(time.Hour)
	w.ranUntil("it ran where its schedule has it run", &now, func(runs []string) bool { return slices.Equal(runs, []string{"default#default", "draft#default"}) })
	if got := next().Due; !got.Equal(again) {
		t.Errorf("after the run the next one is due at %v, want %v: an interval later", got, again)
	}
	var unknown *memory.Error
	if err := w.RunJob(t.Context(), "tidy", "tydi"); !errors.As(err, &unknown) || unknown.Code != memory.NotFound {
		t.Errorf("an unknown job: got %v, want not_found", err)
	}
	if err := w.RunJob(t.Context(), "nobody", "tidy"); !errors.As(err, &unknown) || !strings.Contains(unknown.Message, "there is no family") {
		t.Errorf("a job of an unknown family: got %v, want that there is none", err)
	}
	w.grant(grants.Request{Family: "tidy", Revoke: []string{string(abi.HookJob)}})
	if err := w.RunJob(t.Context(), "tidy", "tidy"); !errors.As(err, &unknown) || unknown.Code != memory.Denied || !strings.Contains(unknown.Message, "alcove family grant tidy --hook job") {
		t.Errorf("a job that was not granted: got %v, want the command that grants it", err)
	}
}

func TestAnOperatorCancelsAJobThatWaits(t *testing.T) {
	t.Parallel()
	var now atomicTime
	w := branched(t, abi.EachNone, &now)
	w.begun("tidy/tidy")
	stage, err := w.space.As(owner("")).Stage(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	waits := jobs.Job{ID: "waits", Family: "tidy", Name: "tidy", Branch: memory.Default, Namespace: memory.Default, State: jobs.Queued, Due: now.get().Add(time.Hour), Created: now.get()}
	if err := w.jobs.Put(t.Context(), stage, waits); err != nil {
		t.Fatal(err)
	}
	if _, err := w.jobs.Commit(t.Context(), stage, memory.Commit{}, []jobs.Job{waits}); err != nil {
		t.Fatal(err)
	}
	if err := w.CancelJob(t.Context(), "waits"); err != nil {
		t.Fatal(err)
	}
	all, err := w.Jobs(t.Context())
	if err != nil || len(all) != 1 || all[0].State != jobs.Cancelled {
		t.Errorf("got %+v, %v, want one job that is cancelled", all, err)
	}
	for id, want := range map[string]memory.Code{"waits": memory.Conflict, "none": memory.NotFound} {
		var refused *memory.Error
		if err := w.CancelJob(t.Context(), id); !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("cancelling %s: got %v, want %s", id, err, want)
		}
	}
}

func TestAnOperatorRetriesAJobThatFailedOrWasCancelled(t *testing.T) {
	t.Parallel()
	var now atomicTime
	w := branched(t, abi.EachNone, &now)
	w.begun("tidy/tidy")
	put := func(job jobs.Job) {
		t.Helper()
		job.Family, job.Name, job.Branch, job.Namespace, job.Created = "tidy", "tidy", memory.Default, memory.Default, now.get()
		stage, err := w.space.As(owner("")).Stage(t.Context(), "")
		if err == nil {
			err = w.jobs.Put(t.Context(), stage, job)
		}
		if err == nil {
			_, err = stage.Commit(t.Context(), memory.Commit{})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	put(jobs.Job{ID: "failed", State: jobs.Failed, Attempts: 5, Error: "no disk", Ended: now.get()})
	put(jobs.Job{ID: "sent", State: jobs.Failed, Sent: []string{"POST to web"}, Ended: now.get()})
	put(jobs.Job{ID: "done", State: jobs.Done, Ended: now.get()})
	if err := w.RetryJob(t.Context(), "failed"); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the job is done", func() bool {
		all, err := w.Jobs(t.Context())
		return err == nil && slices.ContainsFunc(all, func(j jobs.Job) bool { return j.ID == "failed" && j.State == jobs.Done && j.Attempts == 1 })
	})
	for id, want := range map[string]memory.Code{"sent": memory.Conflict, "done": memory.Conflict, "none": memory.NotFound} {
		var refused *memory.Error
		if err := w.RetryJob(t.Context(), id); !errors.As(err, &refused) || refused.Code != want {
			t.Errorf("retrying %s: got %v, want %s", id, err, want)
		}
	}
}

// begun waits until the interval of a schedule has begun.
func (w *world) begun(key string) {
	w.t.Helper()
	w.jobs.WakeUp()
	await.That(w.t, "the schedule begins", func() bool {
		stage, err := w.space.As(owner("")).Stage(w.t.Context(), "")
		if err != nil {
			return false
		}
		found, err := stage.Records(w.t.Context(), memory.Collection{Name: "_schedules", PerSpace: true}, "_", []string{key})
		return err == nil && found[0] != nil
	})
}
