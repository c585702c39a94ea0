package datadir

import (
	"errors"
	"fmt"
	"time"

	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/family"
	"github.com/alcove-memory/alcove/host/family/lockfile"
	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/registry"
)

// LockChange is what a command did to a lock file.
type LockChange struct {
	Lines   []string `json:"lines"`             // as registry.Diff has them; none: it stays as it is
	Locked  bool     `json:"locked"`            // whether the directory is locked from now on
	Modules []string `json:"modules,omitempty"` // digests of modules that were verified
}

// SetLocked locks or unlocks the directory.
func (d Directory) SetLocked(locked bool) (c LockChange, err error) {
	err = d.locked(func() error {
		file, err := lockfile.Read(d.Path, owner.AuditPath(d.Path))
		if err != nil {
			return err
		}
		return d.record(&file, func(last audit.LockState) ([]audit.Entry, error) {
			before := file.Before(last)
			entries, err := file.SetLocked(last, locked)
			if err != nil {
				return entries, err
			}
			c.Locked = file.Lock.Locked
			c.Lines, err = registry.Diff(before, file.Lock)
			return entries, err
		})
	})
	return c, err
}

// ApplyOptions say how a reviewed lock file is taken.
type ApplyOptions struct {
	Modules string // a folder of modules that it names, beside those that the directory has; empty: none
	DryRun  bool   // verify, and change nothing
	Clock   func() time.Time
}

// ApplyLock takes a reviewed lock file, after its modules are verified. A locked directory stays locked, whatever the file says.
func (d Directory) ApplyLock(data []byte, o ApplyOptions) (c LockChange, err error) {
	next, err := registry.Parse(data)
	if err != nil {
		return c, fmt.Errorf("read the reviewed lock file: %w", err)
	}
	err = d.locked(func() error {
		file, unreadable := lockfile.Read(d.Path, owner.AuditPath(d.Path)) // one that cannot be read is replaced
		last, err := audit.LastLock(owner.AuditPath(d.Path))
		if err != nil {
			return err
		}
		next.Locked = next.Locked || last.Locked || file.Lock.Locked
		c.Locked = next.Locked
		if c.Lines, err = registry.Diff(file.Before(last), next); err != nil {
			return err
		}
		list, err := family.Review(next, d.Path, o.Modules, o.Clock)
		if err != nil {
			return fmt.Errorf("nothing was changed: %w", err)
		}
		for _, m := range list {
			c.Modules = append(c.Modules, m.Digest)
		}
		if o.DryRun || len(c.Lines) == 0 && unreadable == nil && file.Accepted(last) {
			return nil
		}
		if err := family.Keep(d.Path, list); err != nil {
			return err
		}
		return d.record(&file, func(last audit.LockState) ([]audit.Entry, error) { return file.Replace(last, next) })
	})
	return c, err
}

// FollowLock takes the lock file that the server which led the space before had accepted; nil data: there was none. The caller holds the
// directory's lock.
func (d Directory) FollowLock(data []byte) error {
	var next registry.Lock
	if data != nil {
		var err error
		if next, err = registry.Parse(data); err != nil {
			return fmt.Errorf("read the lock file of the space: %w", err)
		}
	}
	last, err := audit.LastLock(owner.AuditPath(d.Path))
	if err != nil {
		return err
	}
	file := lockfile.File{Dir: d.Path, Audit: owner.AuditPath(d.Path)}
	if last.Digest == "" { // no server of this directory accepted any
		return registry.Write(d.Path, next)
	}
	return d.record(&file, func(last audit.LockState) ([]audit.Entry, error) { return file.Follow(last, next) })
}

// record adds entries about the lock file to the audit log before the file is written.
func (d Directory) record(file *lockfile.File, do func(audit.LockState) ([]audit.Entry, error)) (err error) {
	last, err := audit.LastLock(owner.AuditPath(d.Path))
	if err != nil {
		return err
	}
	log, err := audit.Open(audit.Options{Dir: owner.AuditPath(d.Path), Aside: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	entries, failed := do(last)
	if failed == nil && len(entries) > 0 {
		failed = file.Mark(&entries[len(entries)-1])
	}
	for _, e := range entries {
		if e.Agent == lockfile.Operator {
			e.Person, e.Reason = d.Person, d.Reason
		}
		log.Add(e)
	}
	if err := errors.Join(failed, log.Flush()); err != nil {
		return err
	}
	return file.Finish()
}

// operated adds an act of the person to the audit log, if the directory has one.
func (d Directory) operated(act string) error {
	dir := owner.AuditPath(d.Path)
	if has, err := audit.Has(dir); !has || err != nil {
		return err
	}
	log, err := audit.Open(audit.Options{Dir: dir, Aside: true})
	if err != nil {
		return fmt.Errorf("record the act %s: %w", act, err)
	}
	log.Add(audit.Entry{Kind: audit.Operated, Agent: lockfile.Operator, Person: d.Person, Reason: d.Reason, Work: "act " + act})
	if err := log.Close(); err != nil {
		return fmt.Errorf("record the act %s: %w", act, err)
	}
	return nil
}
