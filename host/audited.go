package host

import (
	"cmp"
	"context"
	"time"

	"github.com/alcove-memory/alcove/host/audit"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/owner"
)

// anchorEvery is the default of Options.AnchorEvery.
const anchorEvery = time.Minute

// openAudit opens the audit log, and keeps its heads elsewhere.
func (p *parts) openAudit(ctx context.Context, o Options, closing *closers) error {
	head, err := p.space.Newest(ctx)
	if err != nil {
		return err
	}
	log, err := audit.Open(audit.Options{Dir: owner.AuditPath(o.Dir), Clock: o.Clock, Logger: o.Logger, Head: head, Commits: family.Commits(ctx, p.space)})
	if err != nil {
		return err
	}
	p.audit = log
	closing.later("the audit log", log.Close)
	if o.Anchor != nil {
		closing.later("the anchor of the audit log", running(ctx, func(ctx context.Context) { log.RunAnchor(ctx, o.Anchor, cmp.Or(o.AnchorEvery, anchorEvery)) }))
	}
	closing.later("the writer of the audit log", running(ctx, log.Run))
	return nil
}

// auditing records and counts.
type auditing struct {
	*audit.Log
	called func(audit.Entry)
}

// Add implements family.Audit.
func (a auditing) Add(e audit.Entry) uint64 {
	if e.Kind == audit.Called {
		a.called(e)
	}
	return a.Log.Add(e)
}

func (a acts) AuditHead(context.Context) (operator.AuditHead, error) {
	if a.audit == nil {
		return operator.AuditHead{}, nil
	}
	return a.audit.Head()
}
