package metrics

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/tool"
)

// scrape returns what Prometheus would read.
func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Serve(w, httptest.NewRequest("GET", "/metrics", nil), func(family string) bool { return family != "hidden" }, true)
	if w.Code != 200 {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func named(family, name string) *tool.Tool {
	return &tool.Tool{Spec: tool.Spec{Name: name, Family: family}}
}

func TestCallsAreCountedByToolAndFamily(t *testing.T) {
	m := New("1.2.3")
	m.Count(tool.Done{Tool: named("", "memory_store"), Took: 3 * time.Millisecond})
	m.Count(tool.Done{Tool: named("", "memory_store"), Took: time.Minute, Err: &memory.Error{Code: memory.Conflict, Message: "secret key"}})
	m.Count(tool.Done{Tool: named("auto-tag", "memory_auto_tag"), Err: fmt.Errorf("secret path")})
	m.Count(tool.Done{Tool: named("hidden", "secret_tool")})
	text := scrape(t, m)
	for _, want := range []string{
		`alcove_tool_calls_total{family="core",tool="memory_store"} 2`,
		`alcove_tool_errors_total{code="conflict",family="core",tool="memory_store"} 1`,
		`alcove_tool_errors_total{code="internal",family="auto-tag",tool="memory_auto_tag"} 1`,
		`alcove_tool_duration_seconds_bucket{family="core",tool="memory_store",le="0.0025"} 0`,
		`alcove_tool_duration_seconds_bucket{family="core",tool="memory_store",le="0.005"} 1`,
		`alcove_tool_duration_seconds_bucket{family="core",tool="memory_store",le="30"} 1`,
		`alcove_tool_duration_seconds_count{family="core",tool="memory_store"} 2`,
		`version="1.2.3"`, "go_goroutines ", "process_start_time_seconds ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("the text of an error, or a family that the caller may not know, is shown")
	}
}

func TestMetricsFollowTheConventionsOfPrometheus(t *testing.T) {
	m := New("1")
	m.Count(tool.Done{Tool: named("", "memory_store"), Err: &memory.Error{Code: memory.Denied}})
	problems, err := promlint.New(strings.NewReader(scrape(t, m))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("found %v, %v", problems, err)
	}
}

func TestTheNumberOfLabelsIsBounded(t *testing.T) {
	m := New("1")
	for i := range mostTools + 50 {
		m.Count(tool.Done{Tool: named("f", fmt.Sprintf("f_%d", i))})
		made := named("sites", fmt.Sprintf("chosen-by-a-website-%d", i))
		made.Generated = true
		m.Count(tool.Done{Tool: made})
	}
	text := scrape(t, m)
	if n := strings.Count(text, "\nalcove_tool_calls_total{"); n != mostTools+1 {
		t.Errorf("there are %d series", n)
	}
	for _, want := range []string{
		fmt.Sprintf(`alcove_tool_calls_total{family="sites",tool="(generated)"} %d`, mostTools+50),
		`alcove_tool_calls_total{family="(others)",tool="(others)"} 51`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s", want)
		}
	}
	if strings.Contains(text, "chosen") {
		t.Error("a name that was made at run time is shown")
	}
}

// Dashboards of programs in Go are written for what Prometheus's own library reports.
func TestTheRuntimeAndTheProcessAreReportedAsByEveryProgramInGo(t *testing.T) {
	reference := prometheus.NewRegistry()
	reference.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	want, err := reference.Gather()
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	got, err := parser.TextToMetricFamilies(strings.NewReader(scrape(t, New("1"))))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range want {
		name := f.GetName()
		if runtime.GOOS != "linux" && strings.HasPrefix(name, "process_") {
			continue // what other platforms report is less
		}
		if g := got[name]; g.GetHelp() != f.GetHelp() || g.GetType() != f.GetType() || !slices.Equal(labelNames(g), labelNames(f)) {
			t.Errorf("%s: %s %q, labels %v; want %s %q, labels %v", name, g.GetType(), g.GetHelp(), labelNames(g), f.GetType(), f.GetHelp(), labelNames(f))
		}
	}
}

func labelNames(f *dto.MetricFamily) (names []string) {
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			names = append(names, l.GetName())
		}
	}
	return names
}

func TestValuesOfTheProcessAreThoseOfPrometheus(t *testing.T) {
	reference := prometheus.NewRegistry()
	reference.MustRegister(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	want, err := reference.Gather()
	if err != nil {
		t.Fatal(err)
	}
	text := scrape(t, New("1"))
	for _, f := range want {
		switch f.GetName() { // the others change from one reading to the next
		case "process_max_fds", "process_start_time_seconds", "process_virtual_memory_max_bytes":
			line := fmt.Sprintf("\n%s %s\n", f.GetName(), number(f.Metric[0].GetGauge().GetValue()))
			if runtime.GOOS == "linux" && !strings.Contains(text, line) {
				t.Errorf("there is no %s", line)
			}
		}
	}
}

func TestLabelsAreEscaped(t *testing.T) {
	m := New("1.2\n\"\\")
	if text := scrape(t, m); !strings.Contains(text, `version="1.2\n\"\\"} 1`) {
		t.Error(text)
	}
}

func TestRequestsToGuestsAreCountedByFamilyAndHiddenFromThoseWhoMayNotKnowIt(t *testing.T) {
	m := New("1.2.3")
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "ok", Fuel: 100, Memory: 2, Took: 1_500_000})
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "trap", Fuel: 1, Memory: 7, Denied: []audit.Denial{{Count: 3}}})
	m.CountGuest(audit.Entry{Family: "hidden", Outcome: "ok"})
	text := scrape(t, m)
	for _, want := range []string{`alcove_guest_requests_total{outcome="ok",family="notes"} 1`, `alcove_guest_requests_total{outcome="trap",family="notes"} 1`,
		`alcove_guest_fuel_total{family="notes"} 101`, `alcove_guest_memory_peak_bytes{family="notes"} 7`, `alcove_guest_seconds_total{family="notes"} 1.5`, `alcove_guest_denials_total{family="notes"} 3`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "hidden") {
		t.Error("a family is shown to a caller who may not know it")
	}
}
