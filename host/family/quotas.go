package family

import (
	"context"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/hooks"
	"github.com/alcove-memory/alcove/host/family/jobs"
	"github.com/alcove-memory/alcove/host/memory"
)

// Use is a family's use of storage, and its quotas.
type Use struct {
	Family string `json:"family"`
	memory.Use
	jobs.Backlog
	Quotas map[string]int64 `json:"quotas"`          // by name
	Spent  []Spending       `json:"spent,omitempty"` // of budgets for a period
	Cut    *hooks.Cut       `json:"cut,omitempty"`   // what its hooks missed; nil: nothing
	// Troubles went wrong since the server began, the latest first.
	Troubles []Trouble `json:"troubles,omitempty"`
	Resting  bool      `json:"resting,omitempty"` // its hooks failed again and again, and are not called for a while
}

// Uses returns the families' use of storage, in the order of All.
func (f *Families) Uses(ctx context.Context) ([]Use, error) {
	var list []Use
	spent := f.allSpending()
	for _, d := range f.All() {
		u := Use{Family: d.Manifest.Name, Backlog: f.jobs.Backlog(d.Manifest.Name), Quotas: map[string]int64{}, Troubles: f.troubles.of(d.Manifest.Name), Resting: f.hooksSuspended(d.Manifest.Name)}
		for _, name := range []string{abi.QuotaRecords, abi.QuotaRecordBytes, abi.QuotaJobs, abi.QuotaJobBytes} {
			u.Quotas[name] = grants.Quota(d.Grant, name)
		}
		var err error
		if u.Use, err = f.o.Space.UseOf(ctx, u.Family); err != nil {
			return nil, err
		}
		u.Spent = spent[u.Family]
		if u.Cut, err = f.hooks.CutOf(ctx, u.Family); err != nil {
			return nil, err
		}
		list = append(list, u)
	}
	return list, nil
}

// commitStage commits the staged work with the jobs that it queued.
func (w *request) commitStage(ctx context.Context, c memory.Commit) (memory.Committed, error) {
	if w.families.o.Audit == nil || !w.Stage.Writes(c) {
		return w.families.jobs.Commit(ctx, w.Stage, c, w.queued)
	}
	c.Account = w.called.Account()
	ended := w.committing()
	done, err := w.families.jobs.Commit(ctx, w.Stage, c, w.queued)
	ended(done, err)
	return done, err
}

// raiser says how an operator raises the quotas of a family now.
func (f *Families) raiser(family string) grants.Raiser {
	return grants.Raiser{Family: family, Advice: f.catalogue.Advice()}
}
