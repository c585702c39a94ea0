package ranking

import (
	"math"
	"slices"

	"github.com/alcove-memory/alcove/guests/families/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// considered is how many hits of a search are ranked by a tool.
const considered = 50

// ExplainRanking explains why search results rank as they do. Runs the query and ranks up to 50 hits. parts are the values from 0 to 1,
// adds what each adds to the score; where vector is false the host's own score stands for semantic and lexical, and match is what they
// add together. host_rank is where the result would be without this family, and where it is if a note says that the rank hook is off.
//
//alcove:description Why is a result on top: explain the ranking, feature by feature.
//alcove:title Explain a ranking
//alcove:tool read-only
type ExplainRanking struct {
	Query string `alcove:"required"`
	K     int    `alcove:"min=1,max=20,default=5"`
}

// Explanation is the weights, and the first results with how their scores came about.
type Explanation struct {
	Weights rank.Weights
	Results []Explained
	Note    string `json:"note,omitzero"` // Why searches do not rank by the scores.
}

// unranked says that searches do not rank by the scores of the family; empty: they may.
func unranked(c *alcove.Call) (string, error) {
	who, err := c.CallerGet()
	if err != nil || who.On("rank") {
		return "", err
	}
	return "Searches do not rank by the scores of this family, because the rank hook is off. An operator can turn it on: alcove family grant ranking --hook rank", nil
}

// Explained is one hit. HostRank counts from 1 on.
type Explained struct {
	Key       string
	Namespace string
	Score     float64
	HostRank  int `json:"host_rank"`
	Type      string
	Parts     rank.Parts
	Adds      rank.Parts
	Vector    bool
	Match     float64
}

// found are the hits of a search in the host's order, as candidates.
type found struct {
	hits       []alcove.MemoryHit
	candidates []rank.Candidate
}

// search runs a search, and computes the candidates.
func search(c *alcove.Call, cfg Config, query string) (found, error) {
	if query == "" {
		return found{}, alcove.Errorf(alcove.InvalidArgument, "give a query")
	}
	hits, err := c.MemorySearch(alcove.MemorySearchRequest{Query: query, K: considered, Features: true})
	if err != nil {
		return found{}, err
	}
	f := found{hits: hits.Hits}
	scorer := cfg.policy().Scorer(columns(hits.Hits))
	for i := range hits.Hits {
		f.candidates = append(f.candidates, scorer.Candidate(i))
	}
	return f, nil
}

// columns are the features of hits as the rank hook gets them.
func columns(hits []alcove.MemoryHit) rank.Columns {
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
	types, kinds := rank.Types(), make([]float32, len(hits))
	for i, h := range hits {
		kinds[i] = float32(slices.Index(types, h.Memory.Type))
	}
	return rank.Columns{
		Score: column(alcove.FeatureScore), Lexical: column(alcove.FeatureLexical), Semantic: column(alcove.FeatureSemantic), Importance: column(alcove.FeatureImportance),
		Age: column(alcove.FeatureAge), Idle: column(alcove.FeatureIdle), Outcome: column(alcove.FeatureOutcome), Type: kinds,
	}
}

// Call explains the first results of a search.
func (in ExplainRanking) Call(c *alcove.Call, cfg Config) (out Explanation, err error) {
	f, err := search(c, cfg, in.Query)
	if err != nil {
		return out, err
	}
	out.Weights = cfg.weights()
	order := out.Weights.Order(f.candidates)
	for _, i := range order[:min(len(order), in.K)] {
		out.Results = append(out.Results, explainOne(out.Weights, f, i))
	}
	out.Note, err = unranked(c)
	return out, err
}

func explainOne(w rank.Weights, f found, i int) Explained {
	c, m := f.candidates[i], f.hits[i].Memory
	e := Explained{Key: m.Key, Namespace: m.Namespace, Score: short(w.Score(c)), HostRank: i + 1, Type: m.Type, Vector: c.Vector}
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
