// Package metrics counts the calls of tools and reports them to Prometheus.
package metrics

import (
	"cmp"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"sync"

	"github.com/alcove-memory/alcove/host/tool"
)

const (
	// mostTools bounds the tools with metrics of their own. Further ones are counted together.
	mostTools = 1000
	// Labels of tools that are counted together.
	generated = "(generated)" // made at run time by a family, which chose their names
	others    = "(others)"
)

// Metrics are the metrics of a server. No label has a value that a client chooses.
type Metrics struct {
	version string

	mu       sync.Mutex
	tools    map[labels]*counts
	guests   map[string]*guest // by family
	refusals map[Reason]uint64
}

// labels identify a tool.
type labels struct{ family, tool string }

// counts are of the calls of a tool.
type counts struct {
	took   histogram
	errors map[string]uint64 // by code
}

// New returns the metrics of a server; version is the program's.
func New(version string) *Metrics {
	return &Metrics{version: version, tools: map[labels]*counts{}, guests: map[string]*guest{}, refusals: map[Reason]uint64{}}
}

// Count counts a call.
func (m *Metrics) Count(c tool.Done) {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := m.countsOf(c.Tool)
	counts.took.observe(c.Took.Seconds())
	if c.Err != nil {
		counts.errors[string(tool.FailureOf(c.Err).Code)]++
	}
}

// countsOf returns the counts of a tool, or those of all others when too many have their own. The caller holds mu.
func (m *Metrics) countsOf(t *tool.Tool) *counts {
	l := labels{t.Family, t.Name}
	if l.family == "" {
		l.family = tool.CoreFamily
	}
	if t.Generated {
		l.tool = generated
	}
	if m.tools[l] == nil && len(m.tools) >= mostTools {
		l = labels{others, others}
	}
	if m.tools[l] == nil {
		m.tools[l] = &counts{errors: map[string]uint64{}}
	}
	return m.tools[l]
}

// Serve answers a request of Prometheus with the metrics, but those of tools of families that the caller may not know.
func (m *Metrics) Serve(w http.ResponseWriter, _ *http.Request, permits func(family string) bool, locked bool) {
	all := append(m.ofTools(permits), m.ofRefusals(), m.build(), ofLock(locked))
	all = append(all, m.ofGuests(permits)...)
	all = append(all, ofRuntime()...)
	all = append(all, ofProcess()...)
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(text(all)) // a client that went away reads nothing
}

func (m *Metrics) build() family {
	return family{name: "alcove_build_info", help: "1, with the version of the program.", kind: gauge,
		samples: []sample{{labels: []label{{"go", runtime.Version()}, {"version", m.version}}, value: 1}}}
}

// ofTools returns the metrics of the tools of permitted families.
// ofLock says whether the data directory is locked.
func ofLock(locked bool) family {
	s := sample{}
	if locked {
		s.value = 1
	}
	return family{name: "alcove_locked", help: "1 if the data directory is locked: families run only as its lock file says. Otherwise 0.", kind: gauge, samples: []sample{s}}
}

func (m *Metrics) ofTools(permits func(family string) bool) []family {
	calls := family{name: "alcove_tool_calls_total", help: "Calls of tools that have ended, by family and tool.", kind: counter}
	errors := family{name: "alcove_tool_errors_total", help: "Calls of tools that failed, by family, tool and the code of the error.", kind: counter}
	seconds := family{name: "alcove_tool_duration_seconds", help: "How long calls of tools took, by family and tool.", kind: histograms}
	m.mu.Lock()
	defer m.mu.Unlock()
	tools := slices.Collect(maps.Keys(m.tools))
	slices.SortFunc(tools, labels.compare)
	for _, l := range tools {
		if !permits(l.family) {
			continue
		}
		counts, of := m.tools[l], []label{{"family", l.family}, {"tool", l.tool}}
		calls.samples = append(calls.samples, sample{labels: of, value: float64(counts.took.count)})
		seconds.samples = append(seconds.samples, counts.took.samples(of)...)
		for _, code := range slices.Sorted(maps.Keys(counts.errors)) {
			errors.samples = append(errors.samples, sample{labels: append([]label{{"code", code}}, of...), value: float64(counts.errors[code])})
		}
	}
	return []family{calls, errors, seconds}
}

func (l labels) compare(other labels) int {
	return cmp.Or(cmp.Compare(l.family, other.family), cmp.Compare(l.tool, other.tool))
}
