package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/operator/keys"
)

// anchorEvery is the default of Options.AnchorEvery.
const anchorEvery = time.Minute

// openAudit opens the audit log, accepts the lock file, and keeps the log's heads elsewhere. nil: nothing is recorded.
func (p *parts) openAudit(ctx context.Context, o Options, a assembly, lock *lockfile.File, closing *closers) (family.Audit, error) {
	if a.called == nil || o.NoAudit {
		return nil, nil
	}
	head, err := p.space.Newest(ctx)
	if err != nil {
		return nil, err
	}
	former, err := audit.Former(o.Dir)
	if err != nil {
		return nil, err
	}
	log, err := audit.Open(audit.Options{
		Former: former, Dir: owner.AuditPath(o.Dir), Clock: o.Clock, Logger: o.Logger, Head: head, Commits: family.Commits(ctx, p.space),
		Begin: func(last audit.LockState) ([]audit.Entry, error) { return begins(o, lock, last) },
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(lock.Finish(), audit.ForgetFormer(o.Dir)); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	p.audit = log
	closing.later("the audit log", log.Close)
	if o.Anchor != nil {
		closing.later("the anchor of the audit log", running(ctx, func(ctx context.Context) { log.RunAnchor(ctx, o.Anchor, cmp.Or(o.AnchorEvery, anchorEvery)) }))
	}
	closing.later("the writer of the audit log", running(ctx, log.Run))
	return auditing{log, a.called}, nil
}

// beginning is what the audit log has of a server that begins.
type beginning struct {
	Version   string `json:"version"`
	Catalogue string `json:"catalogue"` // digest of the families that the program carries
	ReadOnly  bool   `json:"read_only,omitempty"`
	PID       int    `json:"pid"`
	UID       int    `json:"uid"` // -1: the system has none
}

// begins returns the entries of a server that begins with a lock file.
func begins(o Options, lock *lockfile.File, last audit.LockState) ([]audit.Entry, error) {
	entries, err := lock.Accept(last, o.Locked)
	if err != nil {
		return entries, err
	}
	detail, err := json.Marshal(beginning{o.Version, family.Catalogue(o.Families), o.ReadOnly, os.Getpid(), os.Getuid()})
	if err != nil {
		return nil, err
	}
	entries = append(entries, audit.Entry{Kind: audit.Began, Detail: string(detail)})
	return entries, lock.Mark(&entries[len(entries)-1])
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

// change is what an act changes, as the audit log has it.
type change[T any] struct {
	Before T `json:"before"`
	After  T `json:"after"`
}

// keyLimits are limits of keys as the audit log has them.
type keyLimits struct {
	keys.Limits // that apply
	// Set are those that an operator set, where defaults are among those that apply.
	Set keys.Limits `json:"set,omitzero"`
}

func keyLimitsOf(set keys.Limits) keyLimits {
	l := keyLimits{Limits: set.Effective(), Set: set}
	if l.Set == l.Limits {
		l.Set = keys.Limits{}
	}
	return l
}

// changeKeys records an operator's act on API keys before it takes effect, and that it failed.
func (a acts) changeKeys(act string, about any, do func() error) error {
	if err := a.auditKey(act, about); err != nil {
		return err
	}
	err := do()
	if err != nil {
		_ = a.auditKey(act+" failed", err.Error()) // the log reports a failed write
	}
	return err
}

// auditKey records an operator's act on API keys. What it is about has no secret.
func (a acts) auditKey(act string, about any) error {
	if a.audit == nil {
		return nil
	}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	a.audit.Add(audit.Entry{Kind: audit.Changed, Agent: operatorAgent, Detail: "API keys: " + act + " " + string(text)})
	if err := a.audit.Flush(); err != nil {
		return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("nothing was changed, because the audit log could not record it: %v", err)}
	}
	return nil
}

// keyWith returns the key with an id as it is, or the id of an unknown one.
func (a acts) keyWith(id string) any {
	for _, k := range a.keys.List() {
		if k.ID == id {
			return k
		}
	}
	return id
}
