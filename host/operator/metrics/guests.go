package metrics

import (
	"maps"
	"slices"

	"github.com/alcove-memory/alcove/host/operator/audit"
)

// guest is what the guest of a family did.
type guest struct {
	requests map[string]uint64 // by outcome
	fuel     int64
	memory   int64 // the peak of all requests, in bytes
	seconds  float64
	denied   uint64 // operations
}

// CountGuest counts a request to a guest.
func (m *Metrics) CountGuest(e audit.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := e.Family
	if m.guests[name] == nil && len(m.guests) >= mostTools {
		name = others
	}
	g := m.guests[name]
	if g == nil {
		g = &guest{requests: map[string]uint64{}}
		m.guests[name] = g
	}
	g.requests[e.Outcome]++
	g.fuel += e.Fuel
	g.memory = max(g.memory, e.Memory)
	g.seconds += float64(e.Took) / 1e6
	for _, d := range e.Denied {
		g.denied += uint64(d.Count)
	}
}

// ofGuests returns the metrics of the guests of permitted families.
func (m *Metrics) ofGuests(permits func(family string) bool) []family {
	requests := family{name: "alcove_guest_requests_total", help: "Requests to the guests of families, hooks and jobs included, by family and outcome.", kind: counter}
	fuel := family{name: "alcove_guest_fuel_total", help: "Fuel that guests used, by family.", kind: counter}
	memory := family{name: "alcove_guest_memory_peak_bytes", help: "The most linear memory that a request of a guest had, by family.", kind: gauge}
	seconds := family{name: "alcove_guest_seconds_total", help: "How long requests to guests took, by family.", kind: counter}
	denied := family{name: "alcove_guest_denials_total", help: "Operations that guests were denied, by family.", kind: counter}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(m.guests)) {
		if !permits(name) {
			continue
		}
		g, of := m.guests[name], []label{{"family", name}}
		for _, outcome := range slices.Sorted(maps.Keys(g.requests)) {
			requests.samples = append(requests.samples, sample{labels: append([]label{{"outcome", outcome}}, of...), value: float64(g.requests[outcome])})
		}
		fuel.samples = append(fuel.samples, sample{labels: of, value: float64(g.fuel)})
		memory.samples = append(memory.samples, sample{labels: of, value: float64(g.memory)})
		seconds.samples = append(seconds.samples, sample{labels: of, value: g.seconds})
		denied.samples = append(denied.samples, sample{labels: of, value: float64(g.denied)})
	}
	return []family{requests, fuel, memory, seconds, denied}
}
