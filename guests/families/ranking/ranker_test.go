package ranking

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/guests/families/ranking/rank"
	"github.com/alcove-memory/alcove/host/testing/must"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/alcovetest"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

func manifest(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("manifest.json")
	must.Do(t, err)
	return data
}

// space has two memories about tea: one that the host prefers, and one that is important.
func space(t *testing.T) *alcovetest.Space {
	t.Helper()
	s := alcovetest.New(t, Family(), manifest(t))
	s.Put(
		alcove.Memory{Key: "liked", Value: alcove.Raw(`"green tea"`), Type: "observation"},
		alcove.Memory{Key: "vital", Value: alcove.Raw(`"ann is allergic to tea"`), Type: "decision"},
	)
	s.Ops[alcove.OpMemorySearch] = func(request []byte) (any, error) {
		if !strings.Contains(string(request), `"features":true`) {
			t.Errorf("the search is without features: %s", request)
		}
		return alcove.MemorySearchResponse{Hits: []alcove.MemoryHit{
			{Memory: *s.Memory("liked"), Features: map[string]float32{"score": 1, "lexical": 1, "semantic": .4, "age": 100, "outcome": -1}},
			{Memory: *s.Memory("vital"), Features: map[string]float32{"score": .8, "lexical": .8, "semantic": .8, "age": 1, "idle": .5, "outcome": 1}},
		}}, nil
	}
	return s
}

func TestTheManifestHasTheColumnsAndNumbersOfTheCode(t *testing.T) {
	var m struct {
		Hooks struct {
			Rank struct{ Features, Types []string }
		}
		Config []struct {
			Key     string
			Default float64
		}
	}
	must.Do(t, json.Unmarshal(manifest(t), &m))
	if want := []string{alcove.FeatureScore, alcove.FeatureLexical, alcove.FeatureSemantic, alcove.FeatureImportance, alcove.FeatureAge, alcove.FeatureIdle, alcove.FeatureOutcome, alcove.FeatureType}; !slices.Equal(m.Hooks.Rank.Features, want) {
		t.Errorf("the columns are %q, want %q", m.Hooks.Rank.Features, want)
	}
	if !slices.Equal(m.Hooks.Rank.Types, rank.Types()) {
		t.Errorf("the types are %q", m.Hooks.Rank.Types)
	}
	config := map[string]float64{}
	for _, setting := range m.Config {
		config[setting.Key] = setting.Default
	}
	data, err := json.Marshal(config)
	must.Do(t, err)
	var says Config
	must.Do(t, (&alcove.Call{Config: data}).ReadConfig(says.CodeSettings))
	var code Config
	must.Do(t, (&alcove.Call{}).ReadConfig(code.CodeSettings))
	if says != code || code.weights() != rank.DefaultWeights() {
		t.Errorf("the manifest says %+v, the code %+v", says, code)
	}
	for i, kind := range rank.Types() {
		key := "decay_rate_" + kind
		var cfg Config
		must.Do(t, (&alcove.Call{Config: alcove.Raw(`{"` + key + `":0.25}`)}).ReadConfig(cfg.CodeSettings))
		if cfg.Decay[i] != .25 {
			t.Errorf("%s is another type's: %v", key, cfg.Decay)
		}
	}
}

func TestTheHookRanksAsItIsConfigured(t *testing.T) {
	s := space(t)
	missing := float32(math.NaN())
	pair := func(a, b float32) []float32 { return []float32{a, b} }
	columns := [][]float32{pair(1, .9), pair(1, .9), pair(missing, missing), pair(missing, missing), pair(1, 1), pair(missing, missing), pair(missing, missing), pair(8, 4)}
	scores, err := s.Rank("tea", columns...)
	must.Do(t, err)
	if scores[0] >= scores[1] {
		t.Errorf("a rule is not before an observation: %v", scores)
	}
	s.Config["importance_weight_steering_rule"] = 0.0
	scores, err = s.Rank("tea", columns...)
	must.Do(t, err)
	if scores[0] <= scores[1] {
		t.Errorf("rules count nothing, and the scores are %v", scores)
	}
	if _, err := s.Rank("tea", columns[:3]...); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("three columns: %v", err)
	}
}

func TestAnExplanationAddsUp(t *testing.T) {
	s := space(t)
	var out Explanation
	must.Do(t, s.Tool("memory_explain_ranking", map[string]any{"query": "tea"}, &out))
	if len(out.Results) != 2 || out.Results[0].Key != "vital" || out.Results[0].HostRank != 2 || out.Weights != rank.DefaultWeights() {
		t.Fatalf("memory_explain_ranking = %+v, want 2 results, vital before its host's rank, and the default weights", out)
	}
	for _, r := range out.Results {
		sum := r.Adds.Semantic + r.Adds.Lexical + r.Adds.Importance + r.Adds.Freshness + r.Adds.Outcome
		if math.Abs(sum-r.Score) > .001 || !r.Vector {
			t.Errorf("%s: the parts add up to %v, the score is %v", r.Key, sum, r.Score)
		}
	}
	if err := s.Tool("memory_explain_ranking", map[string]any{}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("no query: %v", err)
	}
}

func TestToolsOfARankingThatIsOffSaySo(t *testing.T) {
	s := space(t)
	judged(t, s, 12)
	notes := func() []string {
		t.Helper()
		var e Explanation
		must.Do(t, s.Tool("memory_explain_ranking", map[string]any{"query": "tea"}, &e))
		var f Recorded
		must.Do(t, s.Tool("memory_rank_feedback", map[string]any{"query": "tea", "useful": []string{"vital"}}, &f))
		return []string{e.Note, f.Note}
	}
	if got := notes(); got[0]+got[1] != "" {
		t.Errorf("with the hook on, the notes are %q, want none", got)
	}
	s.Revoke("rank")
	var tuned Tuning
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{"apply": true}, &tuned))
	for _, got := range append(notes(), tuned.Reason) {
		if !strings.Contains(got, "rank hook is off") || !strings.Contains(got, "alcove family grant ranking --hook rank") {
			t.Errorf("with the hook off, a note is %q, want that it is off, and the command that turns it on", got)
		}
	}
}

func TestFeedbackIsRecordedAndCountedInHealth(t *testing.T) {
	s := space(t)
	var out Recorded
	must.Do(t, s.Tool("memory_rank_feedback", map[string]any{"query": "tea", "useful": []string{"vital", "gone"}, "useless": []string{"liked"}}, &out))
	if out.Recorded != 2 || out.Sequence != 1 || !slices.Equal(out.Unknown, []string{"gone"}) {
		t.Errorf("memory_rank_feedback = %+v, want 2 recorded and gone unknown", out)
	}
	var j Judged
	must.Do(t, scan.Decode(s.Record(judgedSearches.Name, fmt.Sprintf("%020d", 1)).Value, &j))
	if j.Query != "tea" || !slices.Equal(j.Gains, []float64{-1, 1}) || !j.Candidates[1].Vector {
		t.Errorf("recorded %+v, want tea with gains -1 and 1", j)
	}
	if vital, liked := s.Memory("vital").Counters, s.Memory("liked").Counters; vital == nil || vital.Health != .25 || liked.Health != -.25 {
		t.Errorf("the counters are %+v and %+v", vital, liked)
	}
	must.Do(t, s.Tool("memory_rank_feedback", map[string]any{"query": "tea", "useful": []string{"default#vital"}}, &out))
	if out.Recorded != 2 || len(out.Unknown) != 0 {
		t.Errorf("feedback with an id that has its namespace = %+v, want 2 recorded and none unknown", out)
	}
	if err := s.Tool("memory_rank_feedback", map[string]any{"query": "tea"}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("nothing judged: %v", err)
	}
}

func TestFeedbackWithoutTheRightToCountIsRecordedAllTheSame(t *testing.T) {
	s := space(t)
	s.Ops[alcove.OpMemoryTouch] = func([]byte) (any, error) { return nil, alcove.Errorf(alcove.Denied, "not granted") }
	must.Do(t, s.Tool("memory_rank_feedback", map[string]any{"query": "tea", "useful": []string{"vital"}}, nil))
	if s.Record(judgedSearches.Name, fmt.Sprintf("%020d", 1)) == nil || len(s.Logged) == 0 {
		t.Errorf("nothing is recorded; logged %q", s.Logged)
	}
}

// judged gives a space feedback on some searches, in which the candidate that is less important was useful.
func judged(t *testing.T, s *alcovetest.Space, n int) {
	t.Helper()
	for i := range n {
		s.PutRecord(judgedSearches.Name, fmt.Sprintf("%020d", i+1), Judged{rank.Judged{
			Query: fmt.Sprint("query ", i), Keys: []string{"a", "b"}, Gains: []float64{0, 1},
			Candidates: []rank.Candidate{{Host: .5, Parts: rank.Parts{Importance: 1}}, {Host: .6, Parts: rank.Parts{Importance: .1}}},
		}})
	}
}

func TestTwoSetsOfWeightsAreCompared(t *testing.T) {
	s := space(t)
	var out Comparison
	must.Do(t, s.Tool("memory_compare_rankings", map[string]any{"b": map[string]any{"lexical": 1}}, &out))
	if out.Queries != 0 {
		t.Errorf("without feedback: %+v", out)
	}
	judged(t, s, 12)
	must.Do(t, s.Tool("memory_compare_rankings", map[string]any{"b": map[string]any{"lexical": 1}}, &out))
	if out.Queries != 12 || out.Better != 12 || out.Worse != 0 || out.B.MRR != 1 || out.A.MRR != .5 || len(out.Changes) != maxChanges {
		t.Errorf("memory_compare_rankings = %+v, want b better in all 12", out)
	}
	if err := s.Tool("memory_compare_rankings", map[string]any{}, nil); alcove.CodeOf(err) != alcove.InvalidArgument {
		t.Errorf("no weights: %v", err)
	}
}

// importance is the weight of importance, as it is configured.
func importance(t *testing.T, s *alcovetest.Space) (weight float64) {
	t.Helper()
	must.Do(t, s.Setting("ranking_weight_importance", &weight))
	return weight
}

func TestTuningNeedsFeedbackAndChangesNothingUnlessAsked(t *testing.T) {
	s := space(t)
	var out Tuning
	judged(t, s, leastSearches-1)
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{"apply": true}, &out))
	if out.Applied || out.Weights != rank.DefaultWeights() {
		t.Errorf("with too little feedback: %+v", out)
	}
	judged(t, s, 12)
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{}, &out))
	if out.Applied || out.After.KeptApart.NDCG <= out.Before.KeptApart.NDCG || importance(t, s) != .2 {
		t.Errorf("only asked: %+v", out)
	}
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{"apply": true}, &out))
	if !out.Applied || importance(t, s) >= .2 {
		t.Errorf("%+v; the weight is %v", out, importance(t, s))
	}
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{"apply": true}, &out))
	if out.Applied {
		t.Errorf("what cannot be better was changed: %+v", out)
	}
}

func TestWeightsThatAreWorseOnOtherSearchesAreNotApplied(t *testing.T) {
	s := space(t)
	judged(t, s, 12)
	for i := 3; i < 12; i += apartEvery { // those kept apart say the opposite
		s.PutRecord(judgedSearches.Name, fmt.Sprintf("%020d", i+1), Judged{rank.Judged{
			Keys: []string{"a", "b"}, Gains: []float64{1, 0},
			Candidates: []rank.Candidate{{Host: .5, Parts: rank.Parts{Importance: 1}}, {Host: .6, Parts: rank.Parts{Importance: .1}}},
		}})
	}
	var out Tuning
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{"apply": true}, &out))
	if out.Applied || out.Weights != rank.DefaultWeights() || !strings.Contains(out.Reason, "kept apart") {
		t.Errorf("memory_tune_ranking = %+v, want the default weights kept, for the searches kept apart", out)
	}
}

func TestFeedbackThatCannotBeReadIsPassedOver(t *testing.T) {
	s := space(t)
	judged(t, s, 12)
	s.PutRecord(judgedSearches.Name, fmt.Sprintf("%020d", 1), map[string]any{"keys": []string{"x"}})
	var out Tuning
	must.Do(t, s.Tool("memory_tune_ranking", map[string]any{}, &out))
	if out.Queries != 11 || len(s.Logged) == 0 {
		t.Errorf("%+v, logged %q", out, s.Logged)
	}
}
