// Package ranking serves the family ranking: it ranks what a search found, explains how, and learns from feedback.
//
// Each candidate of a search gets a score from 0 to 1: the weighted mean of how well its meaning and its words match, its importance
// (by its type where none was given), its freshness (which decays by day, by its type, from when it was written or last recalled) and its
// outcome (what feedback said of it). Where there are no vectors, the host's own score stands for what matches.
//
//alcove:family ranking 1.0.0
//alcove:description Ranks what a search finds by match, importance, freshness and usefulness, explains it, and learns from feedback
//alcove:keywords rank, ranking, order, ordering, sort, score, scores, position, first, top, higher, lower, above, below, why, explain, weight, weights
//alcove:keywords importance, recency, newer, fresh, relevance, hits, results, boost, prefer, tune, better results, worse
//alcove:example why was this found first?
//alcove:example explain how the hits were scored
//alcove:example recent things should weigh more than old ones
//alcove:example tell the ranking that the second hit was the good one
//alcove:example let it learn from feedback which results are good
//alcove:example how would the order change with other weights?
//alcove:example good results are buried at the bottom
//alcove:example important memories should be at the top of the list
//alcove:example compare two ways to order hits
//alcove:example improve the order of search results
//alcove:example boost fresh entries in the results
//alcove:example which factor decides the position of a hit?
//alcove:example how did this entry get to the top of the hits?
//alcove:example break down the score of a result
//alcove:example why is the best hit only on the fourth place?
//alcove:example the order of results is bad, teach it
//alcove:example learn better weights from what was useful
//alcove:example try other weights and show how the order differs
//alcove:example should importance or freshness count more, simulate it
//alcove:example what influences the order?
//alcove:example tune how results are sorted
//alcove:example tell me why it ranks above the other one
//alcove:example why is this memory above that one?
//alcove:example how come the old note is listed first?
//alcove:example the best match is on page two, why?
//alcove:example what made this result win?
//alcove:example show the score parts of each hit
//alcove:example explain the scores of the search for router
//alcove:example how much did freshness add to the score?
//alcove:example which features pushed it to the top?
//alcove:example the ordering makes no sense to me
//alcove:example reasoning behind the sequence of results
//alcove:example justify the placement of the third hit
//alcove:example I expected another one on top
//alcove:example rank the important ones higher
//alcove:example older notes should not come before new ones
//alcove:example favour frequently used memories
//alcove:example push relevant results up
//alcove:example the irrelevant ones should sink
//alcove:example sort hits by freshness rather than by match
//alcove:example what if recency counted double?
//alcove:example try semantic 0.7 and lexical 0.3 on earlier searches
//alcove:example which of two weightings orders better?
//alcove:example A/B test of two sets of weights
//alcove:example would other weights have put the useful hit first?
//alcove:example simulate a different ordering
//alcove:example evaluate the sort order on judged searches
//alcove:example learn weights from our clicks
//alcove:example optimise the order automatically
//alcove:example train the ranking on the feedback we have
//alcove:example find weights that suit us better
//alcove:example apply the tuned weights
//alcove:example calibrate how results are ordered
//alcove:example make search results better sorted over time
//alcove:example hit two was the good one and hit one was junk, learn from that
//alcove:example judge these results so that the order gets better
//alcove:example the first result was useless, rank it lower next time
//alcove:example mark which results of the query were relevant, for the ranking
//alcove:example teach the search what a good order is
//alcove:example relevance judgements for the list
//alcove:example results feel random lately
//alcove:example why do trivial notes outrank decisions?
//alcove:example position of a memory in the results, and its causes
//alcove:example what role does importance play in the order?
//alcove:example how are search results scored?
//alcove:example does usefulness influence what comes first?
//alcove:example details of the relevance score
//alcove:example breakdown by match, age, importance and outcome
//alcove:example two hits swapped places since yesterday, why?
//alcove:example reorder the results by what matters
//alcove:example prioritise decisions in the result list
//alcove:example weights in use and what they cause
//alcove:example the top five are all stale
//alcove:example I never find what I want among the first hits
//alcove:example better ordering please
//alcove:example what would happen to the order if importance counted less?
//alcove:example score of this hit
//alcove:example how was the relevance computed?
//alcove:example ranking report for a query
//alcove:example compare before and after tuning
//alcove:example why does it prefer short notes?
//alcove:example prefer recent entries when sorting
//alcove:license Apache-2.0
//alcove:needs memory.read * to run the searches that it explains and records
//alcove:needs memory.count * to count feedback in the health of memories
//alcove:needs record rank-feedback to keep the searches that got feedback
//alcove:needs config.write to use weights that were tuned, when asked to
//alcove:needs config.shared ranking_weight_semantic,ranking_weight_lexical,ranking_weight_importance,ranking_weight_freshness,ranking_weight_outcome to use them for everything
//alcove:limits fuel=60000000000
package ranking

import (
	"github.com/alcove-memory/alcove/guests/families/ranking/rank"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// Family is ranking.
func Family() *alcove.Family {
	return alcove.New(ExplainRanking{}, RankFeedback{}, CompareRankings{}, TuneRanking{}, Searches{})
}

// Config is how memories are ranked. Its arrays are in the order of rank.Types.
//
//alcove:rule sum ranking_weight_* equals=1 within=0.01
type Config struct {
	Weights Weights `alcove:"key=ranking_weight_*,shared,category=ranking_weights"`

	// Importance of memories of type * that have none
	//
	//alcove:default decision:0.8 error:0.7 insight:0.75 correction:0.7 steering_rule:0.85 learning:0.65
	//alcove:default session_summary:0.6 plan:0.6 observation:0.5
	Importance rank.ByType `alcove:"key=importance_weight_*,shared,category=importance_weights,min=0,max=1"`

	OutcomeAlpha float64 `alcove:"shared,category=feedback,min=0,max=1,default=0.25"` // How far one piece of feedback moves the outcome of a memory

	// What is left of the freshness of type * after a day
	//
	//alcove:default decision:0.998 error:0.995 insight:0.997 correction:0.995 steering_rule:0.999 learning:0.996
	//alcove:default session_summary:0.99 plan:0.995 observation:0.99
	Decay rank.ByType `alcove:"key=decay_rate_*,shared,category=decay_rates,min=0.9,max=1"`
}

// Weights are rank.Weights as they are configured.
type Weights struct {
	Semantic   float64 `alcove:"min=0,max=1,default=0.45"` // How much the likeness of meaning counts
	Lexical    float64 `alcove:"min=0,max=1,default=0.15"` // How much the match of words counts
	Importance float64 `alcove:"min=0,max=1,default=0.2"`  // How much importance counts
	Freshness  float64 `alcove:"min=0,max=1,default=0.1"`  // How much freshness counts
	Outcome    float64 `alcove:"min=0,max=1,default=0.1"`  // How much the outcome of feedback counts
}

func (cfg Config) weights() rank.Weights { return rank.Weights(cfg.Weights) }

func (cfg Config) policy() *rank.Policy {
	return &rank.Policy{Weights: cfg.weights(), Importance: cfg.Importance, Decay: cfg.Decay}
}

// Searches are ranked: its columns are the features of the candidates of one. They are once weights were set or feedback was given, so that
// searches cost nothing before.
//
//alcove:rank when_settings=ranking_weight_*,importance_weight_*,decay_rate_* when_records=rank-feedback
//alcove:types decision error insight correction steering_rule learning session_summary plan observation
type Searches struct{ rank.Columns }

// Rank scores the candidates. It runs at every search, hence without a host call.
func (s Searches) Rank(_ *alcove.Call, cfg Config, r *alcove.Ranking) error {
	cfg.policy().Scorer(s.Columns).Scores(r.Scores)
	return nil
}
