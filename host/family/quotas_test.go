package family

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/testing/await"
)

// keeper is a family with a collection per branch and one per space.
func keeper(name string) *abi.Manifest {
	m := aFamily(name)
	m.Collections = []abi.Collection{{Name: "list"}, {Name: "all", Per: "space"}}
	return m
}

func putRecords(collection string, keys ...string) step {
	var items []string
	for _, key := range keys {
		items = append(items, fmt.Sprintf(`{"key":%q,"value":"%s"}`, key, strings.Repeat("x", 98)))
	}
	return step{"record.put", fmt.Sprintf(`{"collection":%q,"items":[%s]}`, collection, strings.Join(items, ","))}
}

func (w *world) limit(family string, limits map[string]int64) {
	w.t.Helper()
	if _, err := w.Grant(grants.Request{Family: family, Limits: limits}); err != nil {
		w.t.Fatal(err)
	}
}

// use is what a family keeps.
func (w *world) use(family string) Use {
	w.t.Helper()
	list, err := w.Uses(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(u Use) bool { return u.Family == family })
	if at < 0 {
		w.t.Fatalf("family %s is not in %+v", family, list)
	}
	return list[at]
}

func TestAFamilyKeepsRecordsUpToItsQuota(t *testing.T) {
	w := open(t, nil).with(keeper("notes"), script{steps: []step{putRecords("list", "a", "b"), putRecords("all", "c"), putRecords("list", "d"), {"record.delete", `{"collection":"list","keys":["a"]}`}, putRecords("list", "e")}})
	w.limit("notes", map[string]int64{abi.QuotaRecords: 3})
	for _, dry := range []bool{true, false} {
		result, err := w.call(given{Tool: "notes_do", DryRun: dry})
		if err != nil {
			t.Fatal(err)
		}
		got := responses(t, result.Output)
		if e := got[2].Error; e == nil || e.Code != abi.CodeExhausted || e.Details["quota"] != abi.QuotaRecords || !strings.Contains(e.Message, "alcove family grant notes --limit records=N") {
			t.Errorf("dry=%v: the fourth record: %s, %+v", dry, got[2].OK, e)
		}
		if got[4].Error != nil {
			t.Errorf("dry=%v: in the place of one that was deleted: %v", dry, got[4].Error)
		}
		want := memory.Use{Records: 3, Bytes: 303}
		if dry {
			want = memory.Use{}
		}
		if use := w.use("notes"); use.Use != want || use.Quotas[abi.QuotaRecords] != 3 || use.Quotas[abi.QuotaRecordBytes] != abi.DefaultQuota(abi.QuotaRecordBytes) {
			t.Errorf("dry=%v: it keeps %+v", dry, use)
		}
	}
	w.limit("notes", map[string]int64{abi.QuotaRecords: 100, abi.QuotaRecordBytes: 350})
	got, _ := w.do("notes")
	if e := got[2].Error; e == nil || e.Details["quota"] != abi.QuotaRecordBytes || e.Details["used"] == nil {
		t.Errorf("beyond its bytes: %s, %+v", got[2].OK, e)
	}
}

func TestAFamilyThatIsInstalledAgainSeesWhatItKept(t *testing.T) {
	dir := t.TempDir()
	t.Run("before", func(t *testing.T) {
		w := openIn(t, dir, nil).with(keeper("notes"), script{steps: []step{putRecords("list", "a", "b")}})
		w.do("notes")
		if _, err := w.Remove("notes"); err != nil {
			t.Fatal(err)
		}
		w.with(keeper("notes"), script{steps: []step{putRecords("list", "c")}})
		if use := w.use("notes"); use.Records != 2 {
			t.Errorf("installed again it keeps %+v", use)
		}
	})
	w := openIn(t, dir, nil)
	w.limit("notes", map[string]int64{abi.QuotaRecords: 2})
	if got, _ := w.do("notes"); got[0].Error == nil || got[0].Error.Code != abi.CodeExhausted || w.use("notes").Records != 2 {
		t.Errorf("after a restart: %s, and it keeps %+v", got[0].OK, w.use("notes"))
	}
}

func TestCallsAtOnceShareOneQuota(t *testing.T) {
	m := keeper("notes")
	m.Tools = nil
	for j := range 12 {
		m.Tools = append(m.Tools, abi.Tool{Name: fmt.Sprint("notes_", j), Description: "Does it.", InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	// Each call proposes for another agent, so that each writes to a branch of its own and none is in another's way.
	w := open(t, nil).with(m, script{steps: []step{putRecords("list", "a"), {"memory.put", `{"items":[{"key":"k","value":1}]}`}}})
	if _, err := w.Grant(grants.Request{Family: "notes", Revoke: []string{"memory.write"}, Limits: map[string]int64{abi.QuotaRecords: 5}}); err != nil {
		t.Fatal(err)
	}
	var kept, full atomic.Int64
	var calling sync.WaitGroup
	for j := range 12 {
		calling.Go(func() {
			result, err := w.call(given{Tool: fmt.Sprint("notes_", j), Caller: memory.Caller{Agent: fmt.Sprint("agent-", j)}})
			switch {
			case code(err) == memory.Exhausted:
				full.Add(1)
			case err != nil:
				t.Error(err)
			case responses(t, result.Output)[0].Error != nil:
				full.Add(1)
			default:
				kept.Add(1)
			}
		})
	}
	calling.Wait()
	if kept.Load() != 5 || full.Load() != 7 || w.use("notes").Records != 5 {
		t.Errorf("%d proposals were kept and %d were not; it keeps %+v", kept.Load(), full.Load(), w.use("notes"))
	}
}

func TestJobsThatQueueJobsEndAtTheirQuota(t *testing.T) {
	m := withJob("tidy", "")
	w := open(t, nil).with(m, script{steps: slices.Repeat(enqueue, 3)})
	w.limit("tidy", map[string]int64{abi.QuotaJobs: 8})
	w.do("tidy")
	most := int64(0)
	done := func() int {
		list, err := w.Jobs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		waiting := int64(0)
		for _, job := range list {
			if job.State == jobs.Queued || job.State == jobs.Running {
				waiting++
			}
		}
		most = max(most, waiting, w.use("tidy").Jobs)
		return len(list) - int(waiting)
	}
	await.That(t, "many jobs ran", func() bool { return done() > 60 })
	if most != 8 {
		t.Errorf("up to %d jobs waited", most)
	}
}

func TestJobsHaveAQuotaOfWhatTheyAreQueuedWith(t *testing.T) {
	payload := step{"job.enqueue", fmt.Sprintf(`{"job":"tidy","after_s":3600,"payload":"%s"}`, strings.Repeat("x", 998))}
	w := open(t, nil).with(withJob("tidy", ""), script{steps: []step{payload, payload, payload}})
	w.limit("tidy", map[string]int64{abi.QuotaJobBytes: 2500})
	got, _ := w.do("tidy")
	if e := got[2].Error; got[1].Error != nil || e == nil || e.Code != abi.CodeExhausted || e.Details["quota"] != abi.QuotaJobBytes || !strings.Contains(e.Message, "--limit job_bytes=N") {
		t.Errorf("answers %+v, want the third job beyond the quota of job_bytes", got)
	}
	if use := w.use("tidy"); use.Jobs != 2 || use.JobBytes != 2000 {
		t.Errorf("it has %+v", use)
	}
	list, err := w.Jobs(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatalf("Jobs = %+v, %v, want 2", list, err)
	}
	w.with(withJob("tidy", ""), script{steps: []step{{"job.cancel", fmt.Sprintf(`{"id":%q}`, list[0].ID)}}})
	w.do("tidy")
	if use := w.use("tidy"); use.Jobs != 1 || use.JobBytes != 1000 {
		t.Errorf("after one was cancelled it has %+v", use)
	}
	w.jobs.WakeUp() // the queue is read again
	if err := w.jobs.HasRoom(t.Context(), "tidy"); err != nil {
		t.Error(err)
	}
	if use := w.use("tidy"); use.Jobs != 1 || use.JobBytes != 1000 {
		t.Errorf("read again it has %+v", use)
	}
}

func TestTheLastRoomForAJobIsTakenOnce(t *testing.T) {
	w := open(t, nil).with(withJob("tidy", ""), script{})
	w.limit("tidy", map[string]int64{abi.QuotaJobs: 5})
	var kept atomic.Int64
	var queueing sync.WaitGroup
	for range 20 {
		queueing.Go(func() {
			stage, err := w.space.As(owner("")).Stage(context.Background(), "")
			if err != nil {
				t.Error(err)
				return
			}
			now := time.Now()
			job := jobs.Job{ID: w.newID(now), Family: "tidy", Name: "tidy", Branch: "default", Namespace: "default", State: jobs.Queued, Due: now.Add(time.Hour), Created: now}
			if err := w.jobs.Put(context.Background(), stage, job); err != nil {
				t.Error(err)
				return
			}
			if _, err := w.jobs.Commit(context.Background(), stage, memory.Commit{}, []jobs.Job{job}); err == nil {
				kept.Add(1)
			} else if code(err) != memory.Exhausted {
				t.Errorf("Commit: %v, want it kept, or code %s", err, memory.Exhausted)
			}
		})
	}
	queueing.Wait()
	if use := w.use("tidy"); kept.Load() != 5 || use.Jobs != 5 {
		t.Errorf("%d were queued; it has %+v", kept.Load(), use)
	}
}
