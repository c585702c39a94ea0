package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/alcove-memory/alcove/host/operator/audit"
)

// guests are the metrics of the guests of families.
type guests struct {
	requests, fuel, seconds, denials *prometheus.CounterVec
	memory                           *prometheus.GaugeVec

	mu   sync.Mutex
	peak map[string]int64 // of memory, in bytes, by family
}

func newGuests() *guests {
	return &guests{
		requests: counter("alcove_guest_requests_total", "Requests to the guests of families, hooks and jobs included, by family and outcome.", "family", "outcome"),
		fuel:     counter("alcove_guest_fuel_total", "Fuel that guests used, by family.", "family"),
		seconds:  counter("alcove_guest_seconds_total", "How long requests to guests took, by family.", "family"),
		denials:  counter("alcove_guest_denials_total", "Operations that guests were denied, by family.", "family"),
		memory: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "alcove_guest_memory_peak_bytes",
			Help: "The most linear memory that a request of a guest had, by family."}, []string{"family"}),
		peak: map[string]int64{},
	}
}

func (g *guests) register(r prometheus.Registerer) {
	r.MustRegister(g.requests, g.fuel, g.seconds, g.denials, g.memory)
}

// CountGuest counts a request to a guest.
func (m *Metrics) CountGuest(e audit.Entry) {
	g := m.guests
	name := g.raise(e.Family, e.Memory)
	g.requests.WithLabelValues(name, e.Outcome).Inc()
	g.fuel.WithLabelValues(name).Add(float64(max(0, e.Fuel)))
	g.seconds.WithLabelValues(name).Add(float64(max(0, e.Took)) / 1e6) // a clock may go back
	denied := 0
	for _, d := range e.Denied {
		denied += d.Count
	}
	g.denials.WithLabelValues(name).Add(float64(denied))
}

// raise raises the peak of a family's memory. It returns the family's label: that of all others when too many families have their own.
func (g *guests) raise(family string, memory int64) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, known := g.peak[family]; !known && len(g.peak) >= mostTools {
		family = others
	}
	g.peak[family] = max(g.peak[family], memory)
	g.memory.WithLabelValues(family).Set(float64(g.peak[family]))
	return family
}
