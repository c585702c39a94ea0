// Package ranker serves the family ranking: it ranks what a search found, explains how, and learns from feedback.
package ranker

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Family is ranking.
func Family() *alcove.Family {
	f := alcove.New()
	r := &ranker{policy: rank.DefaultPolicy(), kinds: kinds()}
	f.OnRank(r.rank)
	reflected.Tool(f, "memory_explain_ranking", r.explain)
	reflected.Tool(f, "memory_rank_feedback", r.feedback)
	reflected.Tool(f, "memory_compare_rankings", r.compare)
	reflected.Tool(f, "memory_tune_ranking", r.tune)
	return f
}

// ranker serves requests. It keeps nothing of them.
type ranker struct {
	policy rank.Policy // the default
	kinds  map[string]int
}

// kinds is where each type is in rank.Types.
func kinds() map[string]int {
	m := map[string]int{}
	for i, kind := range rank.Types() {
		m[kind] = i
	}
	return m
}

// The columns of the rank hook, in the order of the manifest.
const (
	columnScore = iota
	columnLexical
	columnSemantic
	columnImportance
	columnAge
	columnIdle
	columnOutcome
	columnType
	columnCount
)

// rank scores the candidates of a search. It runs at every search, hence without reflection and without a host call.
func (r *ranker) rank(in *alcove.Ranking) error {
	if len(in.Columns) != columnCount {
		return alcove.Errorf(alcove.InvalidArgument, "there are %d columns; the manifest asks for %d", len(in.Columns), columnCount)
	}
	policy, err := r.configured(in.Call)
	if err != nil {
		return err
	}
	policy.Scorer(rank.Columns{
		Score: in.Columns[columnScore], Lexical: in.Columns[columnLexical], Semantic: in.Columns[columnSemantic], Importance: in.Columns[columnImportance],
		Age: in.Columns[columnAge], Idle: in.Columns[columnIdle], Outcome: in.Columns[columnOutcome], Type: in.Columns[columnType],
	}).Scores(in.Scores)
	return nil
}

// The beginnings of the keys of the configuration.
const (
	weightPrefix     = "ranking_weight_"
	importancePrefix = "importance_weight_"
	decayPrefix      = "decay_rate_"
)

// read reads the configuration into a policy.
func (r *ranker) read(s *scan.Scanner, policy *rank.Policy) {
	for key := range s.Fields() {
		if name, ok := strings.CutPrefix(key, weightPrefix); ok {
			weight(&policy.Weights, name, s.Number())
		} else if name, ok := strings.CutPrefix(key, importancePrefix); ok {
			r.set(&policy.Importance, name, s.Number())
		} else if name, ok := strings.CutPrefix(key, decayPrefix); ok {
			r.set(&policy.Decay, name, s.Number())
		} else {
			s.Skip()
		}
	}
}

func (r *ranker) set(list *[9]float64, kind string, value float64) {
	if i, ok := r.kinds[kind]; ok {
		list[i] = value
	}
}

func weight(w *rank.Weights, name string, value float64) {
	switch name {
	case "semantic":
		w.Semantic = value
	case "lexical":
		w.Lexical = value
	case "importance":
		w.Importance = value
	case "freshness":
		w.Freshness = value
	case "outcome":
		w.Outcome = value
	}
}

// configured is the policy of a tool call.
func (r *ranker) configured(c *alcove.Call) (rank.Policy, error) {
	policy := r.policy
	if len(c.Config) == 0 {
		return policy, nil
	}
	s := scan.New(c.Config)
	r.read(s, &policy)
	if err := s.End(); err != nil {
		return policy, alcove.Errorf(alcove.InvalidArgument, "read the configuration: %v", err)
	}
	return policy, nil
}
