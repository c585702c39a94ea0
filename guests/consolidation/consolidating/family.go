// Package consolidating serves the family consolidation: it merges memories that say the same, points out those that
// contradict each other or belong together, and retires those that are forgotten.
//
// Compares the active memories of a namespace with each other. Of those that say the same one is kept: it supersedes the others, which
// get the state merged and a link to it. Memories that contradict each other and clusters of related ones are reported. Memories that
// decayed are archived, old unimportant unused ones pruned. Where the operator did not grant direct writing, all of it lands on a branch of
// proposals, to be merged or dropped. Turns of conversations are left as they are. What is merged, archived or pruned is not deleted: its
// state can be set back.
//
//alcove:family consolidation 1.0.0
//alcove:description Merges memories that say the same, points out contradictions and clusters, and retires what is forgotten
//alcove:manifest ../manifest.json
//alcove:license Apache-2.0
//alcove:needs memory.read * to compare memories with each other
//alcove:needs memory.propose * to propose merges and what to forget, on a branch of its own
//alcove:needs memory.write * to do so directly, where that is granted
//alcove:needs record consolidation-reports to keep the reports of its jobs
//alcove:needs job to run in the background and on a schedule
//alcove:needs llm * to write digests of clusters, only where llm_endpoint names a model
//alcove:limits memory_pages=2048 wall_ms=300000 cpu_ms=60000 fuel=120000000000 host_calls=100000
package consolidating

import (
	"github.com/alcove-memory/alcove/guests/consolidation/compare"
	"github.com/alcove-memory/alcove/guests/consolidation/retire"
	alcove "github.com/alcove-memory/alcove/sdk/go"
)

//go:generate alcove family gen

// Config is the family's configuration.
type Config struct {
	Enabled             bool               // Whether the scheduled job does something
	Namespaces          []string           `alcove:"max=100"`                                            // Namespaces of the scheduled job, * for all; empty for the one that it is called in
	Contradictions      string             `alcove:"enum=report|newest,default=report"`                  // report only reports them; newest archives the older one
	MinFacts            int                `alcove:"key=consolidation_min_facts,min=2,max=20,default=3"` // How many related memories are a cluster
	MergeClusters       bool               // Whether clusters become one digest that supersedes them
	LLMEndpoint         string             // The operator's name of the language model that writes digests; empty for none
	ForgetThreshold     float64            `alcove:"min=0,max=1,default=0.7"`                                                                                                                                                                                         // Memories whose score of being forgotten exceeds it are archived
	PruneAgeDays        float64            `alcove:"min=0,default=90"`                                                                                                                                                                                                // Memories that are older may be pruned
	PruneMaxImportance  float64            `alcove:"min=0,max=1,default=0.3"`                                                                                                                                                                                         // The highest importance of what is pruned
	PruneMaxAccessCount int64              `alcove:"min=0,default=3"`                                                                                                                                                                                                 // The highest count of accesses of what is pruned
	Importance          map[string]float64 `alcove:"key=importance_weight_*,shared,category=importance_weights,min=0,max=1,default=decision:0.8 error:0.7 insight:0.75 correction:0.7 steering_rule:0.85 learning:0.65 session_summary:0.6 plan:0.6 observation:0.5"` // Importance of memories of type * that have none
	Decay               map[string]float64 `alcove:"key=decay_rate_*,above=0,max=1,default=decision:0.998 error:0.995 insight:0.997 correction:0.995 steering_rule:0.999 learning:0.996 session_summary:0.99 plan:0.995 observation:0.99"`                            // What is left of a memory of type * after a day without use
}

func (cfg Config) policy() retire.Policy {
	return retire.Policy{
		ForgetThreshold: cfg.ForgetThreshold, PruneAge: cfg.PruneAgeDays, PruneImportance: cfg.PruneMaxImportance, PruneAccesses: cfg.PruneMaxAccessCount,
		Importance: cfg.Importance, Decay: cfg.Decay,
	}
}

// Family is consolidation.
func Family() *alcove.Family { return familyOf(mostMemories) }

// familyOf is consolidation of so many memories at once.
func familyOf(most int) *alcove.Family {
	at := extent{comparer: compare.New(), most: most}
	return alcove.New(Consolidate{extent: at}, FindDuplicates{find{extent: at}}, FindContradictions{find{extent: at}}, FindStale{find{extent: at}}, Consolidation{extent: at})
}
