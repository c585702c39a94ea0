package rank

import (
	"cmp"
	"math"
	"slices"
)

// Judged is a search whose candidates somebody judged. There is a candidate and a gain for each key: 1 for a useful one, 0 for one that
// was not judged, -1 for a useless one.
type Judged struct {
	Query      string
	Keys       []string
	Candidates []Candidate
	Gains      []float64
}

// Order are the candidates' numbers, the best first. Equal ones stay as they are.
func (w Weights) Order(candidates []Candidate) []int {
	scores := make([]float64, len(candidates))
	order := make([]int, len(candidates))
	for i, c := range candidates {
		scores[i], order[i] = w.Score(c), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order
}

// Quality is how well weights rank judged searches, the mean of all: the NDCG of the first ten, and one over the rank of the first useful
// one.
type Quality struct{ NDCG, MRR float64 }

// depth is how far down a ranking is looked at.
const depth = 10

// Quality ranks the searches, and measures what comes of it.
func (w Weights) Quality(searches []Judged) Quality {
	var q Quality
	for i := range searches {
		one := w.one(&searches[i])
		q.NDCG += one.NDCG / float64(len(searches))
		q.MRR += one.MRR / float64(len(searches))
	}
	return q
}

func (w Weights) one(s *Judged) (q Quality) {
	var gain float64
	for position, i := range w.Order(s.Candidates) {
		if i >= len(s.Gains) {
			continue
		}
		if q.MRR == 0 && s.Gains[i] > 0 {
			q.MRR = 1 / float64(position+1)
		}
		if position < depth {
			gain += s.Gains[i] / math.Log2(float64(position+2))
		}
	}
	if best, worst := bounds(s.Gains); best > worst {
		q.NDCG = (gain - worst) / (best - worst)
	}
	return q
}

// bounds are the gains when all that is useful, or all that is useless, comes first and nothing else counts.
func bounds(gains []float64) (best, worst float64) {
	useful, useless := 0, 0
	for _, g := range gains {
		switch {
		case g > 0 && useful < depth:
			best += g / math.Log2(float64(useful+2))
			useful++
		case g < 0 && useless < depth:
			worst += g / math.Log2(float64(useless+2))
			useless++
		}
	}
	return best, worst
}

// Tune looks for weights that rank the searches better: one weight after the other is moved as long as that helps. A
// weight never goes below 0, and the sum stays 1.
func Tune(start Weights, searches []Judged) Weights {
	best, quality := start.normal(), start.Quality(searches).NDCG
	for _, step := range []float64{.2, .1, .05, .02} {
		for improved := true; improved; {
			improved = false
			for i := range 5 {
				for _, by := range []float64{step, -step} {
					w := best.moved(i, by)
					if q := w.Quality(searches).NDCG; q > quality+1e-6 {
						best, quality, improved = w, q, true
					}
				}
			}
		}
	}
	return best.rounded()
}

func (w Weights) moved(which int, by float64) Weights {
	i := 0
	w.Each(func(_ string, value *float64) {
		if i == which {
			*value = max(*value+by, 0)
		}
		i++
	})
	return w.normal()
}

// normal is the same weights with the sum 1; the default ones where all are 0.
func (w Weights) normal() Weights {
	sum := w.Sum()
	if sum <= 0 {
		return DefaultWeights()
	}
	w.Each(func(_ string, value *float64) { *value /= sum })
	return w
}

func (w Weights) rounded() Weights {
	w.Each(func(_ string, value *float64) { *value = math.Round(*value*1000) / 1000 })
	return w
}
