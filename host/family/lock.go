package family

import (
	"context"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// change writes the lock file, then applies it. The caller holds changing.
func (f *Families) change(do func(*registry.Lock) error) error {
	if err := f.reread(); err != nil {
		return err
	}
	next := cloneLock(f.lock)
	if err := do(&next); err != nil {
		return err
	}
	if err := f.complete(f.lock, &next); err != nil {
		return err
	}
	if err := f.mayChange(f.lock, next); err != nil {
		return err
	}
	if err := f.auditChange(operatorName, f.lock, next); err != nil {
		return err
	}
	if err := registry.Write(f.o.Dir, next); err != nil {
		return err
	}
	before := f.lock
	f.lockFile = statLock(f.o.Dir)
	f.hold(next)
	f.release(before, next)
	return nil
}

// hold applies an operator's decisions. The caller holds changing.
func (f *Families) hold(l registry.Lock) {
	f.mu.Lock()
	f.lock = l
	f.mu.Unlock()
	f.scanLocked()
	f.mu.Lock()
	f.assignTools()
	f.announce()
	f.mu.Unlock()
	f.preload(context.Background())
	f.jobs.WakeUp()
}

// followLock applies a lock file that an operator edited. While it is malformed, the previous decisions hold.
func (f *Families) followLock() {
	f.changing.Lock()
	defer f.changing.Unlock()
	now := statLock(f.o.Dir)
	if sameLock(f.lockFile, now) || sameLock(f.lockBroken, now) {
		return
	}
	if f.o.Locked {
		f.lockBroken = now // logged once
		f.o.Logger.Error("the lock file was changed while the server is locked; what it said at the start holds on: compare it with a copy, and restart the server")
		return
	}
	if err := f.reread(); err != nil {
		f.lockBroken = now // logged once
		f.o.Logger.Error("the lock file was changed and cannot be read; what it said before holds on", "error", err)
	}
}

// reread applies edits of the lock file since it was read or written. The caller holds changing.
func (f *Families) reread() error {
	now := statLock(f.o.Dir)
	if sameLock(f.lockFile, now) {
		return nil
	}
	if f.o.Locked {
		return &memory.Error{Code: memory.Conflict, Message: "the lock file was changed while the server is locked, and what it said at the start holds on: compare it with a copy, and restart the server"}
	}
	if now == nil && len(f.lock.Guards()) > 0 {
		f.o.Logger.Error("the lock file is gone, and families have to be asked before anything is stored: what it said holds on, and the next change writes it again", "families", f.lock.Guards())
		f.lockFile = nil // logged once
		return nil
	}
	next, err := registry.Read(f.o.Dir)
	if err != nil {
		return &memory.Error{Code: memory.Unavailable, Message: err.Error()}
	}
	if err := f.auditChange(editorName, f.lock, next); err != nil {
		return err
	}
	f.lockFile = now
	f.hold(next)
	return nil
}

// statLock returns the present state of the lock file; nil without one.
func statLock(dir string) os.FileInfo {
	now, err := os.Stat(filepath.Join(dir, registry.File))
	if err != nil {
		return nil
	}
	return now
}

func sameLock(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
