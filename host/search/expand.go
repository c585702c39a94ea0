package search

import (
	"cmp"
	"slices"
	"strings"
)

// Weighted is a term with its weight.
type Weighted struct {
	Term   string
	Weight float64
}

// Parameters of query expansion by pseudo-relevance feedback (RM3, Abdul-Jaleel and others, 2004).
const (
	expandedPart  = .3 // the part of the weight that goes to terms of the hits
	expandedTerms = 20
)

// Expand returns weights for Query.Weights: the terms of the question, and the most characteristic terms of texts that
// answer it, with each text's score. It returns nil when there are no texts or no terms to expand with.
func (q *Question) Expand(texts [][]string, scores []float64) []Weighted {
	asked, likely := q.asked.clauses, q.by.likely(texts, scores)
	if len(asked) == 0 || len(likely) == 0 {
		return nil
	}
	weights := map[string]float64{}
	for _, c := range asked {
		weights[c.label] = (1 - expandedPart) / float64(len(asked))
	}
	total := 0.0
	for _, w := range likely {
		total += w.Weight
	}
	for _, w := range likely {
		weights[w.Term] += expandedPart * w.Weight / total
	}
	list := make([]Weighted, 0, len(weights))
	for term, weight := range weights {
		list = append(list, Weighted{term, weight})
	}
	slices.SortFunc(list, func(a, b Weighted) int { return strings.Compare(a.Term, b.Term) })
	return list
}

// likely returns the most probable terms of the texts, weighted by the texts' scores.
func (a *Analyser) likely(texts [][]string, scores []float64) []Weighted {
	sum := 0.0
	for _, score := range scores {
		sum += score
	}
	chance := map[string]float64{}
	for i, text := range texts {
		counts, length := a.count(text)
		for term, n := range counts {
			chance[term] += n / length * scores[i] / sum
		}
	}
	list := make([]Weighted, 0, len(chance))
	for term, weight := range chance {
		list = append(list, Weighted{term, weight})
	}
	slices.SortFunc(list, func(a, b Weighted) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(a.Term, b.Term))
	})
	return list[:min(len(list), expandedTerms)]
}

// count counts the terms of a text without its stop words.
func (a *Analyser) count(text []string) (counts map[string]float64, length float64) {
	counts = map[string]float64{}
	for _, passage := range text {
		a.eachWord(passage, func(w word) {
			if !w.stop {
				counts[w.term]++
				length++
			}
		})
	}
	return counts, length
}

// weigh sets the weights of a question's clauses and adds missing terms.
func (q *question) weigh(weights []Weighted) {
	for _, w := range weights {
		i := slices.IndexFunc(q.clauses, func(c clause) bool { return c.label == w.Term })
		if i >= 0 {
			q.clauses[i].weight = w.Weight
			continue
		}
		q.clauses = append(q.clauses, clause{label: w.Term, weight: w.Weight, added: true})
	}
	slices.SortFunc(q.clauses, func(a, b clause) int { return strings.Compare(a.label, b.label) })
}
