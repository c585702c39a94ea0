package metrics

import (
	"math"

	dto "github.com/prometheus/client_model/go"
)

// Metric is a metric as numbers.
type Metric struct {
	Name    string   `json:"name"`
	Help    string   `json:"help"`
	Type    string   `json:"type"` // counter, gauge, histogram or summary
	Samples []Sample `json:"samples"`
}

// Sample is what a metric is for one set of labels: a value, or the distribution of a histogram.
type Sample struct {
	Labels  map[string]string `json:"labels,omitempty"`
	Value   float64           `json:"value"` // of a histogram: the sum
	Count   uint64            `json:"count,omitempty"`
	Buckets []Bucket          `json:"buckets,omitempty"`
}

// Bucket counts observations up to a bound, those of lower buckets included.
type Bucket struct {
	Most  float64 `json:"le"`
	Count uint64  `json:"count"`
}

// Numbers returns all metrics.
func (m *Metrics) Numbers() ([]Metric, error) {
	all, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	list := make([]Metric, 0, len(all))
	for _, f := range all {
		out := Metric{Name: f.GetName(), Help: f.GetHelp(), Type: typeOf(f.GetType()), Samples: []Sample{}}
		for _, s := range f.GetMetric() {
			out.Samples = append(out.Samples, sampleOf(s))
		}
		list = append(list, out)
	}
	return list, nil
}

func typeOf(t dto.MetricType) string {
	switch t {
	case dto.MetricType_COUNTER:
		return "counter"
	case dto.MetricType_HISTOGRAM:
		return "histogram"
	case dto.MetricType_SUMMARY:
		return "summary"
	}
	return "gauge"
}

func sampleOf(s *dto.Metric) (out Sample) {
	for _, l := range s.GetLabel() {
		if out.Labels == nil {
			out.Labels = map[string]string{}
		}
		out.Labels[l.GetName()] = l.GetValue()
	}
	switch {
	case s.Counter != nil:
		out.Value = s.Counter.GetValue()
	case s.Gauge != nil:
		out.Value = s.Gauge.GetValue()
	case s.Untyped != nil:
		out.Value = s.Untyped.GetValue()
	case s.Summary != nil:
		out.Value, out.Count = s.Summary.GetSampleSum(), s.Summary.GetSampleCount()
	case s.Histogram != nil:
		out.Value, out.Count = s.Histogram.GetSampleSum(), s.Histogram.GetSampleCount()
		for _, b := range s.Histogram.GetBucket() {
			out.Buckets = append(out.Buckets, Bucket{b.GetUpperBound(), b.GetCumulativeCount()})
		}
	}
	if math.IsNaN(out.Value) || math.IsInf(out.Value, 0) {
		out.Value = 0 // JSON has neither
	}
	return out
}
