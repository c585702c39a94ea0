package operator_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func asked[In, Out any](t *testing.T, s *server.Server, act operator.Act[In, Out], r In) Out {
	t.Helper()
	out, err := operator.Call(t.Context(), s.Acts, act, r)
	if err != nil {
		t.Fatalf("the act %s with %+v failed: %v", act, r, err)
	}
	return out
}

func TestAnOperatorReadsLogsAndNumbers(t *testing.T) {
	s := server.Start(t, host.Options{LogRequests: true})
	s.Put("notes", "tea", "green")
	key := s.Issue("ann", []operator.Right{"read"}, "notes")
	s.Try("POST", "/operation", "{}", nil)
	if _, body := s.Post(key.Secret, "", "memory_store", `{"key":"x","value":"y"}`); !strings.Contains(body, "denied") && !strings.Contains(body, "DENIED") {
		t.Fatalf("a store without the right is answered %s", body)
	}

	page := asked(t, s, operator.ListAudit, operator.AuditQuery{})
	if len(page.Entries) == 0 || page.Head.Seq == 0 || page.Entries[0].Seq < page.Head.Seq {
		t.Errorf("the audit log has %d entries from %+v, want them from its head on", len(page.Entries), page.Head)
	}
	if report := asked(t, s, operator.VerifyAudit, operator.None{}); len(report.Problems) > 0 || report.Head.Seq < page.Head.Seq {
		t.Errorf("the verification found %+v", report)
	}
	denied := asked(t, s, operator.ListAudit, operator.AuditQuery{Denied: true, Key: key.ID})
	if len(denied.Entries) != 1 || len(denied.Entries[0].Denied) == 0 || denied.Entries[0].Denied[0].Rule == "" {
		t.Errorf("the denials of the key are %+v, want one with its rule", denied.Entries)
	}

	requests := asked(t, s, operator.ListRequests, operator.RequestQuery{Failed: true, Agent: "ann"})
	if !requests.Logging || len(requests.Entries) != 1 || requests.Entries[0].Tool != "memory_store" || requests.Entries[0].Outcome != "denied" {
		t.Errorf("the failed requests are %+v, want the store that was denied", requests)
	}
	metrics := asked(t, s, operator.GetMetrics, operator.None{})
	if !slices.ContainsFunc(metrics, func(m operator.Metric) bool { return m.Name == "alcove_tool_calls_total" && len(m.Samples) > 0 }) {
		t.Errorf("the metrics lack calls of tools: %+v", metrics)
	}
	storage := asked(t, s, operator.GetStorage, operator.None{})
	if len(storage.Parts) == 0 || storage.Bytes < storage.Parts[0].Bytes || storage.Parts[0].Bytes == 0 {
		t.Errorf("the storage is %+v, want its parts, the largest first", storage)
	}
	findings := asked(t, s, operator.Diagnose, operator.None{})
	if len(findings) < 2 || findings[0].What != "store" || findings[0].Is != operator.Fine || findings[1].Command != "alcove backup FOLDER" {
		t.Errorf("the findings are %+v, want a fine store and no backup", findings)
	}
}

func TestAPageOfALogIsBounded(t *testing.T) {
	s := server.Start(t, host.Options{})
	for _, limit := range []int{-1, 501} {
		if _, err := operator.Call(t.Context(), s.Acts, operator.ListAudit, operator.AuditQuery{Limit: limit}); err == nil {
			t.Errorf("a page of %d entries of the audit log is given, want a refusal", limit)
		}
		if _, err := operator.Call(t.Context(), s.Acts, operator.ListRequests, operator.RequestQuery{Limit: limit}); err == nil {
			t.Errorf("a page of %d requests is given, want a refusal", limit)
		}
	}
	if p := asked(t, s, operator.ListRequests, operator.RequestQuery{Before: time.Now()}); p.Logging || p.Entries == nil {
		t.Errorf("a server that logs no requests answers %+v, want an empty list", p)
	}
}
