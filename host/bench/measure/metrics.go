package measure

import (
	"math"
	"slices"
	"time"
)

// Metrics are means over questions that have at least one relevant document.
type Metrics struct {
	Questions int     `json:"questions"`
	Recall5   float64 `json:"recall@5"` // the part of the relevant documents that is among the first 5
	Recall10  float64 `json:"recall@10"`
	Recall20  float64 `json:"recall@20"`
	MRR       float64 `json:"mrr"`     // 1 over the place of the first relevant document, 0 when it is not among the first 20
	NDCG10    float64 `json:"ndcg@10"` // the gain of a grade being the grade
}

// Latency is how long questions took, in milliseconds.
type Latency struct {
	Mean float64 `json:"mean"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	Max  float64 `json:"max"`
}

// of judges the documents found for one question, best first.
func of(hits []string, relevant map[string]float64) Metrics {
	return Metrics{
		Questions: 1, Recall5: RecallAt(hits, relevant, 5), Recall10: RecallAt(hits, relevant, 10), Recall20: RecallAt(hits, relevant, 20),
		MRR: reciprocal(hits, relevant), NDCG10: NDCG(hits, relevant, 10),
	}
}

func (m *Metrics) add(other Metrics) {
	m.Questions += other.Questions
	m.Recall5 += other.Recall5
	m.Recall10 += other.Recall10
	m.Recall20 += other.Recall20
	m.MRR += other.MRR
	m.NDCG10 += other.NDCG10
}

// mean turns sums into means, to four places.
func (m Metrics) mean() Metrics {
	part := func(sum float64) float64 { return rounded(sum / float64(max(m.Questions, 1))) }
	return Metrics{m.Questions, part(m.Recall5), part(m.Recall10), part(m.Recall20), part(m.MRR), part(m.NDCG10)}
}

func rounded(v float64) float64 { return math.Round(v*1e4) / 1e4 }

func relevants(relevant map[string]float64) int {
	n := 0
	for _, grade := range relevant {
		if grade > 0 {
			n++
		}
	}
	return n
}

// RecallAt is the part of the relevant documents that is among the first k hits. At least one must be relevant.
func RecallAt(hits []string, relevant map[string]float64, k int) float64 {
	found := 0
	for _, id := range hits[:min(k, len(hits))] {
		if relevant[id] > 0 {
			found++
		}
	}
	return float64(found) / float64(relevants(relevant))
}

func reciprocal(hits []string, relevant map[string]float64) float64 {
	i := slices.IndexFunc(hits, func(id string) bool { return relevant[id] > 0 })
	if i < 0 {
		return 0
	}
	return 1 / float64(i+1)
}

// NDCG is the discounted cumulative gain over that of the best possible order (Järvelin and Kekäläinen 2002).
func NDCG(hits []string, relevant map[string]float64, k int) float64 {
	var grades, ideal []float64
	for _, id := range hits[:min(k, len(hits))] {
		grades = append(grades, max(relevant[id], 0))
	}
	for _, grade := range relevant {
		ideal = append(ideal, max(grade, 0))
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	return gain(grades) / gain(ideal[:min(k, len(ideal))])
}

func gain(grades []float64) float64 {
	sum := 0.0
	for i, grade := range grades {
		sum += grade / math.Log2(float64(i)+2)
	}
	return sum
}

// latencyOf sorts the times it is given.
func latencyOf(times []time.Duration) Latency {
	if len(times) == 0 {
		return Latency{}
	}
	slices.Sort(times)
	at := func(part float64) float64 {
		return milliseconds(times[min(int(part*float64(len(times))), len(times)-1)])
	}
	sum := time.Duration(0)
	for _, t := range times {
		sum += t
	}
	return Latency{Mean: milliseconds(sum / time.Duration(len(times))), P50: at(.5), P90: at(.9), P99: at(.99), Max: at(1)}
}

func milliseconds(d time.Duration) float64 { return rounded(float64(d) / float64(time.Millisecond)) }
