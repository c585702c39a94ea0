package space

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/push"
)

// anchorEvery is the default of Options.AnchorEvery.
const anchorEvery = time.Minute

// openAudit opens the audit log, accepts the lock file, and keeps the log's heads elsewhere. nil: nothing is recorded.
func (p *Space) openAudit(ctx context.Context, o Options, a Environment, lock *lockfile.File, closing *Closers) (family.Audit, error) {
	if a.Called == nil || o.NoAudit {
		return nil, nil
	}
	head, err := p.Memory.Newest(ctx)
	if err != nil {
		return nil, err
	}
	former, err := audit.Former(o.Dir)
	if err != nil {
		return nil, err
	}
	log, err := audit.Open(audit.Options{
		Former: former, Dir: owner.AuditPath(o.Dir), Clock: o.Clock, Logger: o.Logger, Keep: o.AuditKeep, Kept: o.AuditBytes, Head: head, Commits: family.Commits(ctx, p.Memory),
		Begin: func(last audit.LockState) ([]audit.Entry, error) {
			return begins(o, lock, last, former != nil && former.Seq > 0)
		},
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(lock.Finish(), audit.ForgetFormer(o.Dir)); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p.Audit = log
	closing.Later("the audit log", log.Close)
	if o.Anchor != nil {
		closing.Later("the anchor of the audit log", Running(ctx, func(ctx context.Context) { log.RunAnchor(ctx, o.Anchor, cmp.Or(o.AnchorEvery, anchorEvery)) }))
	}
	closing.Later("the writer of the audit log", Running(ctx, log.Run))
	if o.AuditTo != (push.To{}) {
		if err := o.AuditTo.Check(); err != nil {
			return nil, err
		}
		closing.Later("what sends the audit log", Running(ctx, func(ctx context.Context) { sendAudit(ctx, o, log) }))
	}
	return auditor{log, a.Called}, nil
}

// sendAudit sends the audit log to collectors until ctx ends.
func sendAudit(ctx context.Context, o Options, log *audit.Log) {
	to := push.Options{To: o.AuditTo, Dir: log.Dir(), Name: o.Name, Version: o.Version, Logger: o.Logger, Flush: log.Flush}
	if err := push.Run(ctx, to); err != nil {
		o.Logger.Error("the audit log is not sent", "error", err)
	}
}

// startEntry is what the audit log has of a server that begins.
type startEntry struct {
	Version   string `json:"version"`
	Catalogue string `json:"catalogue"` // digest of the families that the program carries
	ReadOnly  bool   `json:"read_only,omitempty"`
	PID       int    `json:"pid"`
	UID       int    `json:"uid"` // -1: the system has none
}

// begins returns the entries of a server that begins with a lock file.
func begins(o Options, lock *lockfile.File, last audit.LockState, restored bool) ([]audit.Entry, error) {
	if restored { // the lock file is that of the backup, without what belongs to another machine
		last = audit.LockState{Locked: last.Locked}
	}
	isNew := o.Posture != "" && !restored && lock.Missing && last.Digest == ""
	entries, err := lock.Accept(last, o.Locked)
	if err != nil {
		return entries, err
	}
	if isNew {
		chosen, err := lock.Choose(o.Posture)
		if err != nil {
			return entries, err
		}
		entries = append(entries, chosen...)
	}
	detail, err := json.Marshal(startEntry{o.Version, modules.Catalogue(o.Families), o.ReadOnly, os.Getpid(), os.Getuid()})
	if err != nil {
		return nil, err
	}
	entries = append(entries, audit.Entry{Kind: audit.Began, Detail: string(detail)})
	return entries, lock.Mark(&entries[len(entries)-1])
}

// auditor records and counts.
type auditor struct {
	*audit.Log
	called func(audit.Entry)
}

// Add implements family.Audit.
func (a auditor) Add(e audit.Entry) uint64 {
	if e.Kind == audit.Called {
		a.called(e)
	}
	return a.Log.Add(e)
}
