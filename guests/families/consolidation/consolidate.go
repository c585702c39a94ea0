package consolidation

import (
	"cmp"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Consolidate consolidates a namespace. only limits it to some parts. dry_run changes nothing and says what would be done. background queues
// a job and answers at once. Merged is what says the same in its words; memory_find_duplicates also lists what may say it in others. The part stale is one of the family lifecycle now, and changes nothing. The result lists up to 50 of each, with totals, and has a report for people.
//
//alcove:description Merge duplicate memories, report contradictions and clusters. Proposes changes unless granted direct.
//alcove:title Consolidate memories
//alcove:tool destructive idempotent
type Consolidate struct {
	Namespace  string
	Only       []string `alcove:"enum=duplicates|contradictions|clusters|stale"`
	DryRun     bool     `alcove:"default=false"`
	Background bool     `alcove:"default=false"`
	extent
}

// Call consolidates at once, or queues a job that does.
func (in Consolidate) Call(c *alcove.Call, cfg Config) (*result, error) {
	job := Consolidation{Namespace: in.Namespace, Only: in.Only, DryRun: in.DryRun, extent: in.extent}
	if !in.Background {
		r, _, err := job.consolidate(c, cfg)
		return r, err
	}
	job.Namespace = cmp.Or(in.Namespace, c.Namespace)
	id, err := c.Enqueue(job, 0)
	return &result{Namespace: job.Namespace, DryRun: in.DryRun, Job: id, Report: "The job " + id + " consolidates " + job.Namespace + "."}, err
}

// find is what tools find things in.
type find struct {
	Namespace string
	K         int `alcove:"min=1,max=50,default=20"`
	extent
}

// part is a part of what consolidation of the namespace would do.
func (in find) part(c *alcove.Call, cfg Config, part string) (*result, error) {
	l, err := in.load(c, in.Namespace, "")
	if err != nil {
		return nil, err
	}
	p, err := l.plan(c, cfg, []string{part}, true)
	if err != nil {
		return nil, err
	}
	return l.result(p), nil
}
