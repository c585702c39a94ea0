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

// FindDuplicates lists memories that say the same. Nothing changes. keep is the memory that says most, of those the most important, most
// used, newest.
//
//alcove:description List memories that say the same, and which one to keep.
//alcove:title Find duplicates
//alcove:tool read-only
type FindDuplicates struct{ find }

type duplicates struct {
	Read   int
	Total  int
	Groups []mergedGroup
}

// Call finds them.
func (in FindDuplicates) Call(c *alcove.Call, cfg Config) (duplicates, error) {
	r, err := in.part(c, cfg, partDuplicates)
	if err != nil {
		return duplicates{}, err
	}
	return duplicates{r.Read, r.Totals.Groups, r.Merged[:min(len(r.Merged), in.K)]}, nil
}

// FindContradictions lists pairs of memories that contradict each other. kind is negated (one says that it is so, the other that it is
// not), opposite, or other value: the same has another number, date, name or value. Nothing changes.
//
//alcove:description List pairs of memories that cannot both be true.
//alcove:title Find contradictions
//alcove:tool read-only
type FindContradictions struct{ find }

type contradictions struct {
	Read           int
	Total          int
	Contradictions []contradiction
}

// Call finds them.
func (in FindContradictions) Call(c *alcove.Call, cfg Config) (contradictions, error) {
	r, err := in.part(c, cfg, partContradicts)
	if err != nil {
		return contradictions{}, err
	}
	return contradictions{r.Read, r.Totals.Contradictions, r.Contradictions[:min(len(r.Contradictions), in.K)]}, nil
}
