package metrics

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// contentType is that of the text format, https://prometheus.io/docs/instrumenting/exposition_formats.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Kinds of metrics.
const (
	counter    = "counter"
	gauge      = "gauge"
	histograms = "histogram"
	summary    = "summary"
)

// family is a metric with its samples.
type family struct {
	name, help, kind string
	samples          []sample
}

type sample struct {
	suffix string // behind the name of the metric
	labels []label
	value  float64
}

type label struct{ name, value string }

// text is the text format of the metrics that have samples.
func text(all []family) []byte {
	slices.SortFunc(all, func(a, b family) int { return cmp.Compare(a.name, b.name) })
	help := strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	value := strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	var b []byte
	for _, f := range all {
		if len(f.samples) == 0 {
			continue
		}
		b = append(b, "# HELP "+f.name+" "+help.Replace(f.help)+"\n# TYPE "+f.name+" "+f.kind+"\n"...)
		for _, s := range f.samples {
			b = append(b, f.name+s.suffix...)
			for i, l := range s.labels {
				b = append(b, "{,"[min(i, 1)])
				b = append(b, l.name+`="`+value.Replace(l.value)+`"`...)
			}
			if len(s.labels) > 0 {
				b = append(b, '}')
			}
			b = append(append(b, ' '), number(s.value)+"\n"...)
		}
	}
	return b
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// bounds are the upper bounds of a histogram's buckets, in seconds. One more bucket has what is above.
var bounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// histogram counts durations.
type histogram struct {
	buckets [len(bounds) + 1]uint64
	count   uint64
	sum     float64
}

func (h *histogram) observe(seconds float64) {
	i, _ := slices.BinarySearch(bounds[:], seconds)
	h.buckets[i]++
	h.count++
	h.sum += seconds
}

// samples are the histogram's. Each bucket counts those below it, too.
func (h *histogram) samples(labels []label) (list []sample) {
	below := uint64(0)
	for i, n := range h.buckets {
		bound := "+Inf"
		if i < len(bounds) {
			bound = number(bounds[i])
		}
		below += n
		list = append(list, sample{"_bucket", append(slices.Clip(labels), label{"le", bound}), float64(below)})
	}
	return append(list, sample{"_sum", labels, h.sum}, sample{"_count", labels, float64(h.count)})
}
