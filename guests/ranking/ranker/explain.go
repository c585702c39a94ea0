package ranker

import (
	"math"

	"github.com/alcove-memory/alcove/guests/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// considered is how many hits of a search are ranked by a tool.
const considered = 50

type explainIn struct {
	Query     string `json:"query"`
	K         int    `json:"k"` // default 5
	Namespace string `json:"namespace"`
}

type explainOut struct {
	Weights rank.Weights `json:"weights"`
	Results []explained  `json:"results"`
}

// explained is one hit, and how its score came about.
type explained struct {
	Key       string  `json:"key"`
	Namespace string  `json:"namespace"`
	Score     float64 `json:"score"`
	HostRank  int     `json:"host_rank"` // where it would be without this family, from 1 on
	Type      string  `json:"type"`
	// Parts are the values from 0 to 1, Adds what each adds to the score.
	Parts rank.Parts `json:"parts"`
	Adds  rank.Parts `json:"adds"`
	// Vector is false where match is by words alone: then the host's own score stands for semantic and lexical.
	Vector bool    `json:"vector"`
	Match  float64 `json:"match"` // what semantic and lexical add together
}

// found are the hits of a search in the host's order, as candidates.
type found struct {
	hits       []alcove.MemoryHit
	candidates []rank.Candidate
}

// search runs a search, and works out the candidates.
func (r *ranker) search(c *alcove.Call, policy *rank.Policy, query, namespace string) (found, error) {
	if query == "" {
		return found{}, alcove.Errorf(alcove.InvalidArgument, "give a query")
	}
	s := alcove.MemorySearchRequest{Query: query, K: considered, Features: true}
	if namespace != "" {
		s.Namespaces = []string{namespace}
	}
	hits, err := c.MemorySearch(s)
	if err != nil {
		return found{}, err
	}
	f := found{hits: hits.Hits}
	scorer := policy.Scorer(r.columns(hits.Hits))
	for i := range hits.Hits {
		f.candidates = append(f.candidates, scorer.Candidate(i))
	}
	return f, nil
}

// columns are the features of hits as the rank hook gets them.
func (r *ranker) columns(hits []alcove.MemoryHit) rank.Columns {
	column := func(name string) []float32 {
		values := make([]float32, len(hits))
		for i, h := range hits {
			values[i] = float32(math.NaN())
			if v, ok := h.Features[name]; ok {
				values[i] = float32(v)
			}
		}
		return values
	}
	kinds := make([]float32, len(hits))
	for i, h := range hits {
		kinds[i] = -1
		if kind, ok := r.kinds[h.Memory.Type]; ok {
			kinds[i] = float32(kind)
		}
	}
	return rank.Columns{
		Score: column(alcove.FeatureScore), Lexical: column(alcove.FeatureLexical), Semantic: column(alcove.FeatureSemantic), Importance: column(alcove.FeatureImportance),
		Age: column(alcove.FeatureAge), Idle: column(alcove.FeatureIdle), Outcome: column(alcove.FeatureOutcome), Type: kinds,
	}
}

// explain says how the first results of a search came to their places.
func (r *ranker) explain(c *alcove.Call, in explainIn) (explainOut, error) {
	policy, err := r.configured(c)
	if err != nil {
		return explainOut{}, err
	}
	f, err := r.search(c, &policy, in.Query, in.Namespace)
	if err != nil {
		return explainOut{}, err
	}
	if in.K <= 0 {
		in.K = 5
	}
	out := explainOut{Weights: policy.Weights, Results: []explained{}}
	for _, i := range policy.Weights.Order(f.candidates) {
		if len(out.Results) == in.K {
			break
		}
		out.Results = append(out.Results, explainOne(policy.Weights, f, i))
	}
	return out, nil
}

func explainOne(w rank.Weights, f found, i int) explained {
	c, m := f.candidates[i], f.hits[i].Memory
	e := explained{Key: m.Key, Namespace: m.Namespace, Score: short(w.Score(c)), HostRank: i + 1, Type: m.Type, Vector: c.Vector}
	e.Parts = rank.Parts{Semantic: short(c.Semantic), Lexical: short(c.Lexical), Importance: short(c.Importance), Freshness: short(c.Freshness), Outcome: short(c.Outcome)}
	sum := w.Sum()
	if sum <= 0 {
		e.Match = e.Score
		return e
	}
	e.Adds = rank.Parts{Importance: short(w.Importance * c.Importance / sum), Freshness: short(w.Freshness * c.Freshness / sum), Outcome: short(w.Outcome * c.Outcome / sum)}
	e.Match = short((w.Semantic + w.Lexical) * c.Host / sum)
	if c.Vector {
		e.Adds.Semantic, e.Adds.Lexical = short(w.Semantic*c.Semantic/sum), short(w.Lexical*c.Lexical/sum)
		e.Match = short((w.Semantic*c.Semantic + w.Lexical*c.Lexical) / sum)
	}
	return e
}

// short is a number for people.
func short(v float64) float64 { return math.Round(v*1e4) / 1e4 }
