package consolidation

import (
	"slices"

	alcove "github.com/alcove-memory/alcove/sdk/go"
)

// Consolidation consolidates a namespace, or all that are configured. It resumes behind the memories that a run has committed.
//
//alcove:description Consolidates namespaces, where enabled is set
//alcove:job consolidate every=1d
type Consolidation struct {
	Namespace string
	Only      []string // parts; empty: all
	DryRun    bool
	alcove.Sweep
	extent
}

// reports are of what jobs did.
var reports = alcove.Records[report]{Name: "consolidation-reports", Per: "space", Expires: "90d"}

type report struct {
	Changed   int
	Namespace string
	Report    string
	Totals    totals
}

// Run consolidates a namespace. On schedule, where that is enabled, each namespace is a job of its own.
func (j Consolidation) Run(c *alcove.Call, cfg Config) (*result, error) {
	if j.scheduled() {
		if !cfg.Enabled {
			return &result{Report: "Consolidation is not enabled: set enabled to run it on a schedule."}, nil
		}
		if queued, err := queueAll(c, cfg.Namespaces); queued > 0 || err != nil {
			return &result{Report: "Each namespace is consolidated by a job of its own."}, err
		}
	}
	r, l, err := j.consolidate(c, cfg)
	if err != nil {
		return nil, err
	}
	r.shorten(listedByJobs)
	if _, err := reports.Append(c, report{r.Changed, r.Namespace, r.Report, r.Totals}); err != nil {
		return nil, err
	}
	if l.more {
		j.Namespace, j.After, j.Done, j.Changed = l.namespace, l.last, j.Done+r.Read, j.Changed+r.Changed
		r.Job, err = c.Enqueue(j, 0)
	}
	return r, err
}

// scheduled reports whether nobody queued the job: it has no payload then.
func (j Consolidation) scheduled() bool { return j.Namespace == "" && len(j.Only) == 0 && !j.DryRun }

// queueAll queues a job for each of some namespaces, of which * is all, and returns how many there are.
func queueAll(c *alcove.Call, namespaces []string) (queued int, err error) {
	if slices.Contains(namespaces, "*") {
		found, err := c.MemoryNamespaces()
		if err != nil {
			return 0, err
		}
		namespaces = found.Namespaces
	}
	for _, namespace := range namespaces {
		if _, err := c.Enqueue(Consolidation{Namespace: namespace}, 0); err != nil {
			return 0, err
		}
	}
	return len(namespaces), nil
}

// consolidate consolidates as much of the namespace as is compared at once.
func (j Consolidation) consolidate(c *alcove.Call, cfg Config) (*result, *loaded, error) {
	l, err := j.load(c, j.Namespace, j.After)
	if err != nil {
		return nil, nil, err
	}
	if err := c.Progress(l.compared, l.compared, "comparing"); err != nil {
		return nil, nil, err
	}
	p, err := l.plan(c, cfg, j.Only, false)
	if err != nil {
		return nil, nil, err
	}
	r := l.result(p)
	r.DryRun = j.DryRun || c.DryRun
	if !r.DryRun {
		rights, err := c.CallerGet()
		if err != nil {
			return nil, nil, err
		}
		r.Proposed = rights.Proposes
		if r.Changed, err = l.stage(c, cfg, p); err != nil {
			return nil, nil, err
		}
	}
	r.write()
	return r, l, nil
}
