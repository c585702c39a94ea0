// Package metrics counts the calls of tools and reports them to Prometheus.
package metrics

import (
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/alcove-memory/alcove/host/tool"
)

const (
	// mostTools bounds the tools with metrics of their own. Further ones are counted together.
	mostTools = 1000
	// Labels of tools that are counted together.
	generated = "(generated)" // made at run time by a family, which chose their names
	others    = "(others)"

	gatherWithin = 10 * time.Second
)

// Metrics are the metrics of a server. No label has a value that a client chooses.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	errors   *prometheus.CounterVec
	seconds  *prometheus.HistogramVec

	mu    sync.Mutex
	tools map[labels]bool
}

// labels identify a tool.
type labels struct{ family, tool string }

// New returns the metrics of a server; version is the program's.
func New(version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "alcove_tool_calls_total", Help: "Calls of tools that have ended, by family and tool."}, []string{"family", "tool"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "alcove_tool_errors_total", Help: "Calls of tools that failed, by family, tool and the code of the error."}, []string{"family", "tool", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "alcove_tool_duration_seconds", Help: "How long calls of tools took, by family and tool.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}}, []string{"family", "tool"}),
		tools: map[labels]bool{},
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "alcove_build_info", Help: "1, with the version of the program.", ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()}})
	build.Set(1)
	m.registry.MustRegister(m.calls, m.errors, m.seconds, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Count counts a call.
func (m *Metrics) Count(c tool.Done) {
	l := m.labelsOf(c.Tool)
	m.calls.WithLabelValues(l.family, l.tool).Inc()
	m.seconds.WithLabelValues(l.family, l.tool).Observe(c.Took.Seconds())
	if c.Err != nil {
		m.errors.WithLabelValues(l.family, l.tool, string(tool.FailureOf(c.Err).Code)).Inc()
	}
}

// labelsOf returns the labels of a tool, whose number is bounded.
func (m *Metrics) labelsOf(t *tool.Tool) labels {
	l := labels{t.Family, t.Name}
	if l.family == "" {
		l.family = tool.CoreFamily
	}
	if t.Generated {
		l.tool = generated
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tools[l] {
		return l
	}
	if len(m.tools) >= mostTools {
		return labels{others, others}
	}
	m.tools[l] = true
	return l
}

// Serve answers a request of Prometheus with the metrics, but those of tools of families that the caller may not know.
func (m *Metrics) Serve(w http.ResponseWriter, r *http.Request, permits func(family string) bool) {
	permitted := prometheus.GathererFunc(func() ([]*dto.MetricFamily, error) {
		all, err := m.registry.Gather()
		for _, f := range all {
			f.Metric = slices.DeleteFunc(f.Metric, func(metric *dto.Metric) bool { return !shown(metric, permits) })
		}
		return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 }), err
	})
	promhttp.HandlerFor(permitted, promhttp.HandlerOpts{Timeout: gatherWithin, EnableOpenMetrics: true}).ServeHTTP(w, r)
}

// shown reports whether a metric is of no family, or of a permitted one.
func shown(metric *dto.Metric, permits func(family string) bool) bool {
	return !slices.ContainsFunc(metric.Label, func(l *dto.LabelPair) bool { return l.GetName() == "family" && !permits(l.GetValue()) })
}
