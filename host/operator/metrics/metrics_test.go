package metrics

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

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
	m.Serve(w, httptest.NewRequest("GET", "/metrics", nil), func(family string) bool { return family != "hidden" })
	if w.Code != 200 {
		t.Fatalf("answered %d %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func locked() bool { return true }

func named(family, name string) *tool.Tool {
	return &tool.Tool{Spec: tool.Spec{Name: name, Family: family}}
}

func TestCallsAreCountedByToolAndFamily(t *testing.T) {
	m := New("1.2.3", locked)
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
	m := New("1", locked)
	m.Count(tool.Done{Tool: named("", "memory_store"), Err: &memory.Error{Code: memory.Denied}})
	problems, err := promlint.New(strings.NewReader(scrape(t, m))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("found %v, %v", problems, err)
	}
}

func TestTheNumberOfLabelsIsBounded(t *testing.T) {
	m := New("1", locked)
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

// TestTheMetricsAreThoseOfDashboards compares the metrics with testdata/metrics.txt, in which values of Go and the process are 0.
func TestTheMetricsAreThoseOfDashboards(t *testing.T) {
	recorded, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, got := families(t, string(recorded)), families(t, scrape(t, busy()))
	for name := range got {
		if want[name] == nil && (runtime.GOOS == "linux" || !strings.HasPrefix(name, "process_")) {
			t.Errorf("%s is not recorded", name)
		}
	}
	for name, w := range want {
		g := got[name]
		switch {
		case runtime.GOOS != "linux" && strings.HasPrefix(name, "process_"): // other platforms report less
		case g == nil:
			t.Errorf("%s is missing", name)
		case g.GetHelp() != w.GetHelp() || g.GetType() != w.GetType():
			t.Errorf("%s: got %s %q, want %s %q", name, g.GetType(), g.GetHelp(), w.GetType(), w.GetHelp())
		default:
			if g, w := series(g), series(w); !slices.Equal(g, w) {
				t.Errorf("%s: got %q, want %q", name, g, w)
			}
		}
	}
}

// busy returns metrics of every kind.
func busy() *Metrics {
	m := New("1.2.3", locked)
	m.Count(tool.Done{Tool: named("", "memory_store"), Took: 3 * time.Millisecond})
	m.Count(tool.Done{Tool: named("", "memory_store"), Took: time.Minute, Err: &memory.Error{Code: memory.Conflict}})
	m.Count(tool.Done{Tool: named("auto-tag", "memory_auto_tag"), Took: 5 * time.Millisecond, Err: errors.New("a path")})
	m.Count(tool.Done{Tool: named("hidden", "hidden_tool")})
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "ok", Fuel: 100, Memory: 7, Took: 1_500_000})
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "trap", Fuel: 1, Memory: 2, Denied: []audit.Denial{{Count: 3}}})
	m.CountGuest(audit.Entry{Family: "hidden", Outcome: "ok"})
	m.CountRefusal(Denied)
	return m
}

func families(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.UTF8Validation)
	list, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("parse the metrics: %v", err)
	}
	return list
}

// series are the labels of each metric of a family, with its value if it is ours, and without what the version of Go is.
func series(f *dto.MetricFamily) (list []string) {
	for _, m := range f.GetMetric() {
		var labels []string
		for _, l := range m.GetLabel() {
			value := l.GetValue()
			if value == runtime.Version() || strings.HasPrefix(value, "go1.") {
				value = "GO"
			}
			labels = append(labels, l.GetName()+"="+value)
		}
		slices.Sort(labels) // their order means nothing
		line := strings.Join(labels, ",")
		if strings.HasPrefix(f.GetName(), "alcove_") {
			m.Label = nil
			line += " " + m.String()
		}
		list = append(list, line)
	}
	slices.Sort(list)
	return list
}

func TestAClockThatGoesBackCountsNothing(t *testing.T) {
	m := New("1", locked)
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "ok", Took: -5, Fuel: -1})
	m.Count(tool.Done{Tool: named("", "memory_store"), Took: -time.Second})
	if text := scrape(t, m); !strings.Contains(text, "alcove_guest_seconds_total{family=\"notes\"} 0\n") {
		t.Errorf("got %s, want 0 seconds of guests", text)
	}
}

func TestLabelsAreEscaped(t *testing.T) {
	m := New("1.2\n\"\\", locked)
	if text := scrape(t, m); !strings.Contains(text, `version="1.2\n\"\\"} 1`) {
		t.Errorf("metrics %s, want the version escaped", text)
	}
}

func TestRequestsToGuestsAreCountedByFamilyAndHiddenFromThoseWhoMayNotKnowIt(t *testing.T) {
	m := New("1.2.3", locked)
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "ok", Fuel: 100, Memory: 2, Took: 1_500_000})
	m.CountGuest(audit.Entry{Family: "notes", Outcome: "trap", Fuel: 1, Memory: 7, Denied: []audit.Denial{{Count: 3}}})
	m.CountGuest(audit.Entry{Family: "hidden", Outcome: "ok"})
	text := scrape(t, m)
	for _, want := range []string{`alcove_guest_requests_total{family="notes",outcome="ok"} 1`, `alcove_guest_requests_total{family="notes",outcome="trap"} 1`,
		`alcove_guest_fuel_total{family="notes"} 101`, `alcove_guest_memory_peak_bytes{family="notes"} 7`, `alcove_guest_seconds_total{family="notes"} 1.5`, `alcove_guest_denials_total{family="notes"} 3`} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "hidden") {
		t.Error("a family is shown to a caller who may not know it")
	}
}

func TestNumbersAreWhatPrometheusIsTold(t *testing.T) {
	m := New("v1", func() bool { return true })
	m.CountRefusal(Denied)
	m.CountRefusal(Denied)
	list, err := m.Numbers()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Metric{}
	for _, each := range list {
		got[each.Name] = each
	}
	if l := got["alcove_locked"]; l.Type != "gauge" || len(l.Samples) != 1 || l.Samples[0].Value != 1 {
		t.Errorf("alcove_locked is %+v, want a gauge of 1", l)
	}
	denied := 0.0
	for _, s := range got["alcove_refusals_total"].Samples {
		if s.Labels["reason"] == string(Denied) {
			denied = s.Value
		}
	}
	if denied != 2 {
		t.Errorf("alcove_refusals_total has %g for denied, want 2", denied)
	}
}
