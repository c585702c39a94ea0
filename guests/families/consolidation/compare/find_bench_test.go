package compare

import (
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host/search/wordvec"
	"github.com/alcove-memory/alcove/host/testing/must"
	"github.com/alcove-memory/alcove/host/testing/planted"
)

// BenchmarkFinding finds pairs among 5,000 texts, of which one in twenty is a duplicate, and judges them by meaning.
func BenchmarkFinding(b *testing.B) {
	table, err := wordvec.Open()
	must.Do(b, err)
	const texts = 5_000
	set := planted.Make(planted.Options{Memories: texts, Duplicates: texts / 20, Contradictions: texts / 100, Seed: 1})
	c := New()
	var read, joined, judged time.Duration
	pairs := []Pair{}
	for b.Loop() {
		r, began := c.NewReader(), time.Now()
		var facts []*Fact
		for _, m := range set.Memories {
			facts = append(facts, r.Read(m.Text))
		}
		read += time.Since(began)
		began = time.Now()
		pairs = r.pairs(facts)
		joined += time.Since(began)
		means := Vectors{}
		for _, f := range facts {
			for _, w := range append(r.Words(f), f.Text()) {
				if means[w] == nil {
					means[w] = table.Vector(w)
				}
			}
		}
		r.Learn(means)
		began = time.Now()
		for i := range pairs {
			r.Reconsider(facts, &pairs[i])
		}
		judged += time.Since(began)
	}
	b.ReportMetric(float64(read)/float64(b.N)/1e6, "read-ms")
	b.ReportMetric(float64(joined)/float64(b.N)/1e6, "pairs-ms")
	b.ReportMetric(float64(judged)/float64(b.N)/1e6, "judged-ms")
	b.ReportMetric(float64(len(pairs)), "pairs")
	b.ReportMetric(0, "ns/op")
}
