package family

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/family/catalogue"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/registry"
)

// Audit records what families do and what operators allow them. An *audit.Log is one.
type Audit interface {
	// Add appends an entry and returns its number.
	Add(e audit.Entry) uint64
	// Committing begins a commit of a call; done reports what it wrote. If that is unknown, done is not called.
	Committing(call audit.Entry) (done func(version uint64, branch string))
	// Ready returns an error while entries cannot be written.
	Ready() error
	// Flush makes the entries durable.
	Flush() error
	// Accept records a lock file that is about to be written, whether the directory is locked from then on, and the difference, durably.
	Accept(lock []byte, locked bool, e audit.Entry, difference []string) error
}

// unaudited is the error of work that would not be recorded.
func unaudited(err error) error {
	return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("families are not called while the audit log cannot be written (%v): an operator has to make room in the data directory", err)}
}

// run sends a request to the guest, and records it.
func (w *request) run(ctx context.Context, m catalogue.Guest, r sandbox.Request) (*sandbox.Result, error) {
	log := w.families.o.Audit
	if log == nil {
		return m.Call(ctx, r)
	}
	if err := log.Ready(); err != nil {
		return nil, unaudited(err)
	}
	c := w.Caller
	w.called = audit.Entry{Kind: audit.Called, Family: w.family.Name, Digest: w.family.Digest, Work: w.work, Agent: c.Agent, Key: c.Key, Client: c.Client, Session: c.Session,
		Call: c.Call, Namespace: w.Namespace, Branch: w.Stage.Branch(), DryRun: w.DryRun}
	result, err := m.Call(ctx, r)
	if err != nil {
		w.called.Outcome = "not served"
	} else {
		w.called.Fuel, w.called.Memory, w.called.Took, w.called.Outcome = result.Fuel, result.Memory, int64(result.Time/time.Microsecond), string(result.Class)
	}
	w.called.Seq = log.Add(w.called)
	return result, err
}

// served records an operation of the guest.
func (w *request) served(op abi.Op, err error) {
	if w.families.o.Audit == nil {
		return
	}
	w.called.Used(string(op))
	var e *abi.Error
	if errors.As(err, &e) && e.Code == abi.CodeDenied {
		w.called.Deny(string(op), e.Message)
	}
}

// committing begins a commit; ended records its outcome.
func (w *request) committing() (ended func(memory.Committed, error)) {
	done := w.families.o.Audit.Committing(w.called)
	return func(c memory.Committed, err error) {
		var known *memory.Error
		switch {
		case err == nil && !c.Replayed:
			done(c.Version, c.Branch)
		case err == nil, errors.As(err, &known) && known.Code != memory.Internal && known.Code != memory.Timeout && known.Code != memory.Unavailable:
			done(0, "")
		}
	}
}

// auditGrant records a decision of an operator before it takes effect: there is none without its record.
func (f *Families) auditGrant(name string, g registry.Grant) error {
	return f.auditAct(audit.Entry{Kind: audit.Granted, Family: name, Digest: g.Digest}, g)
}

// Authors of changes of the lock file, beside operators.
const (
	editorName  = lockfile.Editor
	programName = "this program" // which is newer than the file
)

// accept records a lock file durably, before it takes effect.
func (f *Families) accept(by string, before, next registry.Lock) error {
	if f.o.Audit == nil {
		return nil
	}
	lines, err := registry.Diff(before, next)
	if err != nil {
		return err
	}
	data, err := registry.Encode(next)
	if err != nil {
		return err
	}
	digest := audit.LockDigest(data)
	if len(lines) == 0 && digest == f.accepted {
		return nil
	}
	lines = append(lines, f.meaning(before, next)...)
	if err := f.o.Audit.Accept(data, next.Locked, audit.Entry{Kind: audit.Changed, Agent: by}, lines); err != nil {
		return unrecorded(err)
	}
	f.accepted = digest
	return nil
}

func unrecorded(err error) error {
	return &memory.Error{Code: memory.Unavailable, Retryable: true, Message: fmt.Sprintf("nothing was changed, because the audit log could not record it: %v", err)}
}

// auditEdit records a lock file that a locked server does not take.
func (f *Families) auditEdit() {
	if f.o.Audit == nil {
		return
	}
	e := audit.Entry{Kind: audit.Edited, Agent: editorName}
	next, err := registry.Read(f.o.Dir)
	var data []byte
	if err == nil {
		data, err = registry.Encode(next)
	}
	var lines []string
	if err == nil {
		e.Digest = audit.LockDigest(data)
		lines, err = registry.Diff(f.catalogue.Lock(), next)
	}
	if err != nil {
		lines = []string{err.Error()}
	}
	for _, part := range e.WithLines(lines) {
		f.o.Audit.Add(part)
	}
}

// auditAct records an act of an operator durably, before it takes effect.
func (f *Families) auditAct(e audit.Entry, detail any) error {
	if f.o.Audit == nil {
		return nil
	}
	if detail != nil {
		text, err := json.Marshal(detail)
		if err != nil {
			return fmt.Errorf("record it: %w", err)
		}
		e.Detail = string(text)
	}
	return f.auditText(e)
}

func (f *Families) auditText(e audit.Entry) error {
	f.o.Audit.Add(e)
	if err := f.o.Audit.Flush(); err != nil {
		return unrecorded(err)
	}
	return nil
}

// Commits returns the visitor of the commits of families' requests after a version, as entries: audit.Options.Commits.
func Commits(ctx context.Context, space *memory.Space) func(after uint64, visit func(audit.Entry)) error {
	return func(after uint64, visit func(audit.Entry)) error {
		for c, err := range space.Accounts(ctx, after) {
			if err != nil {
				return err
			}
			visit(entryOf(c))
		}
		return nil
	}
}

// entryOf returns the entry of a commit from its account. Of one that cannot be read, author and version are known.
func entryOf(c memory.CommittedBy) audit.Entry {
	e, err := audit.Restored(c.Caller.Account)
	if err != nil {
		e = audit.Entry{}
	}
	by := c.Caller
	e.Of, e.Time, e.Version = 0, c.Timestamp, c.Version
	e.Family, e.Agent, e.Client, e.Session, e.Call, e.Branch = by.Family, by.Agent, by.Client, by.Session, by.Call, c.Branch
	return e
}
