// Package metrics counts the calls of tools, the requests of guests and refusals for Prometheus.
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
)

// seconds are the upper bounds of a histogram's buckets.
var seconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Metrics are the metrics of a server, in a registry of their own. No label has a value that a client chooses.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	errors   *prometheus.CounterVec
	took     *prometheus.HistogramVec
	refusals *prometheus.CounterVec
	guests   *guests

	mu    sync.Mutex
	tools map[labels]bool // that have metrics of their own
}

// labels identify a tool.
type labels struct{ family, tool string }

// New returns the metrics of a server: version is the program's, and locked reports whether the data directory is locked.
func New(version string, locked func() bool) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls:    counter("alcove_tool_calls_total", "Calls of tools that have ended, by family and tool.", "family", "tool"),
		errors:   counter("alcove_tool_errors_total", "Calls of tools that failed, by family, tool and the code of the error.", "family", "tool", "code"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "alcove_tool_duration_seconds",
			Help: "How long calls of tools took, by family and tool.", Buckets: seconds}, []string{"family", "tool"}),
		refusals: counter("alcove_refusals_total", "What clients were refused, by reason.", "reason"),
		guests:   newGuests(),
		tools:    map[labels]bool{},
	}
	for _, why := range []Reason{NotAdmitted, Denied, Quota, Rate} {
		m.refusals.WithLabelValues(string(why)) // reported as 0 from the start
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "alcove_build_info", Help: "1, with the version of the program.",
		ConstLabels: prometheus.Labels{"go": runtime.Version(), "version": version}})
	build.Set(1)
	m.registry.MustRegister(m.calls, m.errors, m.took, m.refusals, build, lockGauge(locked),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.guests.register(m.registry)
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func lockGauge(locked func() bool) prometheus.GaugeFunc {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "alcove_locked",
		Help: "1 if the data directory is locked: families run only as its lock file says. Otherwise 0."}, func() float64 {
		if locked() {
			return 1
		}
		return 0
	})
}

// Lease adds for how long, in seconds, the server surely leads its space on, unless it renews.
func (m *Metrics) Lease(left func() time.Duration) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "alcove_lease_left_seconds",
		Help: "For how long the server leads the space on if it does not renew its lease; 0 or less: it answers no calls."}, func() float64 { return left().Seconds() }))
}

// Count counts a call.
func (m *Metrics) Count(c tool.Done) {
	l := m.labelsOf(c.Tool)
	m.calls.WithLabelValues(l.family, l.tool).Inc()
	m.took.WithLabelValues(l.family, l.tool).Observe(c.Took.Seconds())
	if c.Err != nil {
		m.errors.WithLabelValues(l.family, l.tool, string(tool.FailureOf(c.Err).Code)).Inc()
	}
}

// labelsOf returns the labels of a tool, or those of all others when too many have their own.
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
	switch {
	case m.tools[l]:
	case len(m.tools) >= mostTools:
		return labels{others, others}
	default:
		m.tools[l] = true
	}
	return l
}

// Serve answers a request of Prometheus with the metrics, but those of families that the caller may not know.
func (m *Metrics) Serve(w http.ResponseWriter, r *http.Request, permits func(family string) bool) {
	promhttp.HandlerFor(m.permitted(permits), promhttp.HandlerOpts{}).ServeHTTP(w, r)
}

// permitted gathers the metrics of permitted families, and all that are of no family.
func (m *Metrics) permitted(permits func(family string) bool) prometheus.GathererFunc {
	denied := func(s *dto.Metric) bool {
		return slices.ContainsFunc(s.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == "family" && !permits(l.GetValue()) })
	}
	return func() ([]*dto.MetricFamily, error) {
		all, err := m.registry.Gather()
		for _, f := range all {
			f.Metric = slices.DeleteFunc(f.Metric, denied)
		}
		return slices.DeleteFunc(all, func(f *dto.MetricFamily) bool { return len(f.Metric) == 0 }), err
	}
}
