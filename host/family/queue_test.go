package family

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/family/ops"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

func TestAPayloadThatIsTooLongIsNotQueued(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{{"job.enqueue", fmt.Sprintf(`{"job":"tidy","payload":"%s"}`, strings.Repeat("x", jobs.PayloadLimit))}}})
	got, _ := w.do("tidy")
	if e := got[0].Error; e == nil || e.Code != abi.CodeInvalidArgument || !strings.Contains(e.Message, "payload") {
		t.Errorf("a large payload: %s, %v", got[0].OK, e)
	}
}

func TestAJobWaitsForItsFamilyToComeBack(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{says: `1`})
	yes, no := true, false
	if _, err := w.Grant(grants.Request{Family: "tidy", Disable: &yes}); err != nil {
		t.Fatal(err)
	}
	job := w.enqueue("tidy")
	time.Sleep(50 * time.Millisecond) // the queue is looked at
	if got := w.job(job.ID); got.State != jobs.Queued || got.Attempts != 0 {
		t.Errorf("while it was away: %+v", got)
	}
	if _, err := w.Grant(grants.Request{Family: "tidy", Disable: &no}); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the job ran", func() bool { return w.job(job.ID).State == jobs.Done })
}

func TestAJobDoesNotRunWhenTheRightToItWasTakenBack(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{{"memory.put", `{"items":[{"key":"a","value":1}]}`}}, says: `1`})
	if _, err := w.Grant(grants.Request{Family: "tidy", Revoke: []string{"job"}}); err != nil {
		t.Fatal(err)
	}
	job := w.enqueue("tidy")
	await.That(t, "it is given up", func() bool { return w.job(job.ID).State == jobs.Failed })
	if got := w.job(job.ID); !strings.Contains(got.Error, "revoked") || w.value("", "a") != "" {
		t.Errorf("the job is %+v, want the right taken back, and nothing written", got)
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
			stage, err := w.space.As(owner("")).Stage(t.Context(), "")
			if err != nil {
				return false
			}
			found, err := stage.Records(t.Context(), memory.Collection{Name: "_schedules", PerSpace: true}, ops.SystemNamespace, []string{"tidy/tidy"})
			return err == nil && found[0] != nil && strings.Contains(string(found[0].Value), at.UTC().Format("2006-01-02T15:04"))
		}
	}
	w.jobs.WakeUp()
	await.That(t, "the schedule begins", seen(now.get()))
	now.set(time.Now())
	w.jobs.WakeUp()
	await.That(t, "it begins anew", seen(now.get()))
	now.set(now.get().Add(61 * time.Minute))
	w.jobs.WakeUp()
	await.That(t, "it runs an hour later", func() bool { return done() == 1 })
}

func TestHundredsOfJobsAreDone(t *testing.T) {
	var now atomicTime
	now.set(time.Now())
	w := open(t, func(o *Options) { o.Clock = now.get }).with(withJob("tidy", ""), script{steps: repeated(step{"job.enqueue", `{"job":"tidy","after_s":60}`}, 300), says: `1`})
	began := time.Now()
	if _, err := w.call(given{Tool: "tidy_do"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Install(pack(t, withJob("tidy", ""), script{says: `2`})); err != nil { // one that queues nothing
		t.Fatal(err)
	}
	if _, err := w.Grant(grants.Request{Family: "tidy", All: true}); err != nil {
		t.Fatal(err)
	}
	now.set(now.get().Add(61 * time.Second))
	w.jobs.WakeUp()
	await.That(t, "all are done", func() bool {
		list, err := w.Jobs(t.Context())
		for _, job := range list {
			if job.State != jobs.Done {
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
