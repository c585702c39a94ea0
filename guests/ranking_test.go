package guests_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

func TestRankingInTheSandboxRanksByWhatItIsConfiguredFor(t *testing.T) {
	s, g := space(t, "ranking")
	missing := float32(math.NaN())
	column := func(a, b float32) []float32 { return []float32{a, b} }
	rank := func() []float32 {
		scores, err := s.Rank("tea", column(1, .9), column(1, .9), column(missing, missing), column(.1, .9), column(10, 10), column(missing, missing), column(missing, missing), column(-1, 0))
		must.Do(t, err)
		return scores
	}
	if scores := rank(); len(scores) != 2 || scores[0] >= scores[1] {
		t.Errorf("importance does not count: %v", scores)
	}
	s.Config["ranking_weight_importance"], s.Config["ranking_weight_freshness"] = 0, 0
	s.Config["ranking_weight_semantic"], s.Config["ranking_weight_lexical"] = .7, .2
	if scores := rank(); scores[0] <= scores[1] {
		t.Errorf("without importance: %v", scores)
	}
	if g.last.HostCalls != 0 {
		t.Errorf("ranking made %d host calls", g.last.HostCalls)
	}
}

func TestRankingInTheSandboxLearnsFromFeedback(t *testing.T) {
	s, _ := space(t, "ranking")
	one := 1.0
	for i := range 12 {
		s.Put(
			alcove.Memory{Key: fmt.Sprintf("plain-%02d", i), Value: alcove.Raw(fmt.Sprintf(`"tea number%d"`, i))},
			alcove.Memory{Key: fmt.Sprintf("wanted-%02d", i), Value: alcove.Raw(fmt.Sprintf(`"tea number%d"`, i)), Importance: &one},
		)
	}
	s.Ops[alcove.OpMemorySearch] = func(request []byte) (any, error) {
		var asked alcove.MemorySearchRequest
		must.Do(t, json.Unmarshal(request, &asked))
		plain, wanted := *s.Memory("plain-" + asked.Query), *s.Memory("wanted-" + asked.Query)
		return alcove.MemorySearchResponse{Hits: []alcove.MemoryHit{
			{Memory: plain, Features: map[string]float32{"score": 1, "lexical": 1, "importance": .2, "age": 1}},
			{Memory: wanted, Features: map[string]float32{"score": .5, "lexical": .5, "importance": 1, "age": 1}},
		}, Total: 2}, nil
	}
	for i := range 12 {
		must.Do(t, s.Tool("memory_rank_feedback", map[string]any{"query": fmt.Sprintf("%02d", i), "useful": []string{fmt.Sprintf("wanted-%02d", i)}}, nil))
	}
	var out struct {
		Applied       bool
		Reason        string
		Before, After struct{ Learned struct{ NDCG float64 } }
	}
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{"apply": true}, &out))
	if !out.Applied || out.After.Learned.NDCG <= out.Before.Learned.NDCG || s.Config["ranking_weight_importance"] == .2 {
		t.Errorf("%+v, importance now weighs %v", out, s.Config["ranking_weight_importance"])
	}
}

// BenchmarkRankHook is what ranking 200 candidates adds to a search: at most 0.5 ms.
func BenchmarkRankHook(b *testing.B) {
	for _, n := range []int{50, 200, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := admitted(b, "ranking")
			params, err := json.Marshal(map[string]any{"config": defaults(b, "ranking"), "now": "2026-06-01T12:00:00Z", "query": "what does ann drink"})
			must.Do(b, err)
			columns := make([][]float32, len(m.Manifest().Hooks.Rank.Features))
			for i := range columns {
				for j := range n {
					columns[i] = append(columns[i], float32((i*31+j*17)%100)/100)
				}
			}
			payload := abi.AppendScoring(nil, abi.Scoring{Params: params, Candidates: n, Columns: columns})
			called(b, m, sandbox.Request{Kind: abi.KindScore, Payload: payload})
		})
	}
}
