package consolidating

import (
	"cmp"
	"slices"

	"github.com/alcove-memory/alcove/guests/consolidation/retire"
	alcove "github.com/alcove-memory/alcove/sdk/go"
	"github.com/alcove-memory/alcove/sdk/go/reflected"
)

// jobConsolidate is the job on a schedule, and that of calls in the background.
const jobConsolidate = "consolidate"

// reports is the collection of what was done.
const reports = "consolidation-reports"

type consolidateIn struct {
	Namespace  string   `json:"namespace"`
	Only       []string `json:"only"` // parts; empty: all
	DryRun     bool     `json:"dry_run"`
	Background bool     `json:"background"`
}

// consolidate consolidates a namespace.
func (s *consolidator) consolidate(c *alcove.Call, in consolidateIn) (*result, error) {
	cfg, err := config(c)
	if err != nil {
		return nil, err
	}
	for _, part := range in.Only {
		if !slices.Contains(parts(), part) {
			return nil, alcove.Errorf(alcove.InvalidArgument, "there is no part %q: give some of %q", part, parts())
		}
	}
	if in.Background {
		in.Background, in.Namespace = false, or(in.Namespace, c.Namespace)
		id, err := reflected.Enqueue(c, jobConsolidate, in, 0)
		empty := &loaded{namespace: in.Namespace}
		r := empty.result(&plan{})
		r.Job, r.DryRun, r.Report = id, in.DryRun, "The job "+id+" consolidates "+empty.namespace+"."
		return r, err
	}
	return s.run(c, cfg, in)
}

// run does it.
func (s *consolidator) run(c *alcove.Call, cfg Config, in consolidateIn) (*result, error) {
	l, err := s.load(c, in.Namespace)
	if err != nil {
		return nil, err
	}
	if err := c.Progress(len(l.items), len(l.items), "comparing"); err != nil {
		return nil, err
	}
	p := l.plan(cfg, in.Only)
	r := l.result(p)
	r.DryRun = in.DryRun || c.DryRun
	if !r.DryRun {
		rights, err := c.CallerGet()
		if err != nil {
			return nil, err
		}
		r.Proposed = rights.Proposes
		if r.Changed, err = l.stage(c, cfg, p); err != nil {
			return nil, err
		}
	}
	r.write()
	return r, nil
}

// job runs on a schedule, where that is enabled, or for a call in the background. Each namespace is a job of its own.
func (s *consolidator) job(c *alcove.Call, in consolidateIn) (*result, error) {
	cfg, err := config(c)
	if err != nil {
		return nil, err
	}
	if in.Namespace == "" && in.Only == nil && !in.DryRun { // on schedule
		if !cfg.Enabled {
			return &result{Report: "Consolidation is not enabled: set enabled to run it on a schedule."}, nil
		}
		if slices.Contains(cfg.Namespaces, "*") {
			found, err := c.MemoryNamespaces()
			if err != nil {
				return nil, err
			}
			cfg.Namespaces = found.Namespaces
		}
		for _, namespace := range cfg.Namespaces {
			if _, err := reflected.Enqueue(c, jobConsolidate, consolidateIn{Namespace: namespace}, 0); err != nil {
				return nil, err
			}
		}
		if len(cfg.Namespaces) > 0 {
			return &result{Report: "Each namespace is consolidated by a job of its own."}, nil
		}
	}
	r, err := s.run(c, cfg, in)
	if err != nil {
		return nil, err
	}
	r.shorten(listedByJobs)
	_, err = reflected.AppendRecords(c, reports, "", map[string]any{"namespace": r.Namespace, "changed": r.Changed, "totals": r.Totals, "report": r.Report})
	return r, err
}

type findIn struct {
	Namespace string `json:"namespace"`
	K         int    `json:"k"` // default 20
}

func (in findIn) most() int {
	if in.K <= 0 {
		return 20
	}
	return in.K
}

type duplicatesOut struct {
	Read   int           `json:"read"`
	Total  int           `json:"total"`
	Groups []mergedGroup `json:"groups"`
}

// findDuplicates lists memories that say the same.
func (s *consolidator) findDuplicates(c *alcove.Call, in findIn) (duplicatesOut, error) {
	r, err := s.find(c, in, partDuplicates)
	if err != nil {
		return duplicatesOut{}, err
	}
	return duplicatesOut{r.Read, r.Totals.Groups, r.Merged[:min(len(r.Merged), in.most())]}, nil
}

type contradictionsOut struct {
	Read           int             `json:"read"`
	Total          int             `json:"total"`
	Contradictions []contradiction `json:"contradictions"`
}

// findContradictions lists memories that cannot both be true.
func (s *consolidator) findContradictions(c *alcove.Call, in findIn) (contradictionsOut, error) {
	r, err := s.find(c, in, partContradicts)
	if err != nil {
		return contradictionsOut{}, err
	}
	return contradictionsOut{r.Read, r.Totals.Contradictions, r.Contradictions[:min(len(r.Contradictions), in.most())]}, nil
}

func (s *consolidator) find(c *alcove.Call, in findIn, part string) (*result, error) {
	cfg, err := config(c)
	if err != nil {
		return nil, err
	}
	l, err := s.load(c, in.Namespace)
	if err != nil {
		return nil, err
	}
	return l.result(l.plan(cfg, []string{part})), nil
}

type staleOut struct {
	Read     int           `json:"read"`
	Total    int           `json:"total"`
	Memories []staleMemory `json:"memories"`
}

type staleMemory struct {
	Key      string  `json:"key"`
	Fate     string  `json:"fate"` // archived or pruned
	Score    float64 `json:"score"`
	AgeDays  int     `json:"age_days"`
	Accesses int64   `json:"accesses"`
	Text     string  `json:"text"`
}

// findStale lists memories that would be forgotten.
func (s *consolidator) findStale(c *alcove.Call, in findIn) (staleOut, error) {
	cfg, err := config(c)
	if err != nil {
		return staleOut{}, err
	}
	l, err := s.load(c, in.Namespace)
	if err != nil {
		return staleOut{}, err
	}
	out := staleOut{Read: len(l.items), Memories: []staleMemory{}}
	for i := range l.items {
		fate, score := cfg.Policy.Judge(l.items[i].use)
		if fate == retire.Kept {
			continue
		}
		out.Memories = append(out.Memories, staleMemory{l.items[i].key, string(fate), float64(int(score*1000)) / 1000, int(l.items[i].use.Age), l.items[i].use.Accesses, l.says(i)})
	}
	slices.SortStableFunc(out.Memories, func(a, b staleMemory) int { return cmp.Compare(b.Score, a.Score) })
	out.Total = len(out.Memories)
	out.Memories = out.Memories[:min(out.Total, in.most())]
	return out, nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
