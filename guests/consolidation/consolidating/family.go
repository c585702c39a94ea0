// Package consolidating serves the family consolidation: it merges memories that say the same, points out those that
// contradict each other or belong together, and retires those that are forgotten.
package consolidating

import (
	"strings"

	"github.com/alcove-memory/alcove/guests/consolidation/compare"
	"github.com/alcove-memory/alcove/guests/consolidation/retire"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
	"github.com/alcove-memory/alcove/sdk/go/scan"
)

// Config is the family's configuration.
type Config struct {
	Enabled        bool     // the scheduled job does something
	Namespaces     []string // of the scheduled job; empty: that of its call
	MinFacts       int      // memories of a cluster
	MergeClusters  bool     // clusters become digests
	Contradictions string   // report, or newest: the older one is archived
	LLMEndpoint    string   // what writes digests; empty: they list the texts
	Policy         retire.Policy
}

// consolidator serves requests. It keeps nothing of them.
type consolidator struct{ comparer *compare.Comparer }

// Family is consolidation.
func Family() *alcove.Family {
	f := alcove.New()
	s := &consolidator{compare.New()}
	reflected.Tool(f, "memory_consolidate", s.consolidate)
	reflected.Tool(f, "memory_find_duplicates", s.findDuplicates)
	reflected.Tool(f, "memory_find_contradictions", s.findContradictions)
	reflected.Tool(f, "memory_find_stale", s.findStale)
	reflected.Job(f, jobConsolidate, s.job)
	return f
}

// config reads the configuration.
func config(c *alcove.Call) (Config, error) {
	cfg := Config{Policy: retire.DefaultPolicy(), MinFacts: 3}
	if len(c.Config) == 0 {
		return cfg, nil
	}
	s := scan.New(c.Config)
	for key := range s.Fields() {
		cfg.field(s, key)
	}
	if err := s.End(); err != nil {
		return cfg, alcove.Errorf(alcove.InvalidArgument, "read the configuration: %v", err)
	}
	return cfg, nil
}

func (cfg *Config) field(s *scan.Scanner, key string) {
	switch key {
	case "enabled":
		cfg.Enabled = s.Bool()
	case "namespaces":
		cfg.Namespaces = s.Strings()
	case "consolidation_min_facts":
		cfg.MinFacts = int(s.Int())
	case "merge_clusters":
		cfg.MergeClusters = s.Bool()
	case "contradictions":
		cfg.Contradictions = s.String()
	case "llm_endpoint":
		cfg.LLMEndpoint = s.String()
	case "forget_threshold":
		cfg.Policy.ForgetThreshold = s.Number()
	case "prune_age_days":
		cfg.Policy.PruneAge = s.Number()
	case "prune_max_importance":
		cfg.Policy.PruneImportance = s.Number()
	case "prune_max_access_count":
		cfg.Policy.PruneAccesses = s.Int()
	default:
		if kind, ok := strings.CutPrefix(key, "importance_weight_"); ok {
			cfg.Policy.Importance[kind] = s.Number()
		} else if kind, ok := strings.CutPrefix(key, "decay_rate_"); ok {
			cfg.Policy.Decay[kind] = s.Number()
		} else {
			s.Skip()
		}
	}
}
