package family

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/family/grants"
	"github.com/alcove-memory/alcove/host/family/modules"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/registry"
)

// Snapshot opens the lock file and its modules, between two decisions of operators. The caller closes it.
func (f *Families) Snapshot() (*modules.Snapshot, error) {
	defer f.catalogue.Hold()()
	return modules.OpenSnapshot(f.o.Dir)
}

// change writes the lock file, then applies it. The caller holds changing.
func (f *Families) change(do func(*registry.Lock) error) error { return f.changeBy(operatorName, do) }

// changeBy is change for an author other than the operator. The caller holds changing.
func (f *Families) changeBy(by string, do func(*registry.Lock) error) error {
	if err := f.reread(); err != nil {
		return err
	}
	next := grants.CloneLock(f.catalogue.Lock())
	if err := do(&next); err != nil {
		return err
	}
	if err := f.complete(f.catalogue.Lock(), &next); err != nil {
		return err
	}
	if err := f.mayChange(f.catalogue.Lock(), next); err != nil {
		return err
	}
	before := f.catalogue.Lock()
	if err := f.write(by, next); err != nil {
		return err
	}
	f.apply(next)
	f.modules.Release(before, next)
	return nil
}

// write records a lock file and writes it. The caller holds changing.
func (f *Families) write(by string, next registry.Lock) error {
	if err := f.accept(by, f.catalogue.Lock(), next); err != nil {
		return err
	}
	data, err := registry.Encode(next)
	if err == nil {
		err = f.o.Documents.Write(filepath.Join(f.o.Dir, registry.File), data)
	}
	if err != nil {
		return fmt.Errorf("write the lock file: %w", err)
	}
	f.lockFile = statLock(f.o.Dir)
	return nil
}

// apply puts a lock in force. The caller holds changing.
func (f *Families) apply(l registry.Lock) {
	f.catalogue.Apply(l)
	f.jobs.WakeUp()
}

// followLock applies a lock file that an operator edited. While it is malformed, the previous decisions hold.
func (f *Families) followLock() {
	defer f.catalogue.Hold()()
	now := statLock(f.o.Dir)
	if sameLock(f.lockFile, now) || sameLock(f.lockBroken, now) {
		return
	}
	if f.Locked() {
		f.lockBroken = now // logged and recorded once
		f.auditEdit()
		f.o.Logger.Error("the lock file was changed while the server is locked; the accepted content stays in force, and the next server refuses the change: put the accepted file back, or stop the server and take the reviewed file with alcove lock apply FILE")
		return
	}
	if err := f.reread(); err != nil {
		f.lockBroken = now // logged once
		f.o.Logger.Error("the lock file was changed and cannot be read; its previous content stays in force", "error", err)
	}
}

// reread applies edits of the lock file since it was read or written. The caller holds changing.
func (f *Families) reread() error {
	now := statLock(f.o.Dir)
	if sameLock(f.lockFile, now) {
		return nil
	}
	if now == nil && (f.Locked() || len(f.catalogue.Lock().Guards()) > 0) {
		f.o.Logger.Error("the lock file is gone: its content stays in force, because the server is locked or has guards, and the next change writes it again", "guards", f.catalogue.Lock().Guards())
		f.lockFile = nil // logged once
		return nil
	}
	if f.Locked() {
		return &memory.Error{Code: memory.Conflict, Message: "the lock file was changed while the server is locked, and the accepted content stays in force: put the accepted file back, or stop the server and take the reviewed file with alcove lock apply FILE"}
	}
	next, err := registry.Read(f.o.Dir)
	if err != nil {
		return &memory.Error{Code: memory.Unavailable, Message: err.Error()}
	}
	if err := f.accept(editorName, f.catalogue.Lock(), next); err != nil {
		return err
	}
	if err := f.o.Documents.Edited(filepath.Join(f.o.Dir, registry.File)); err != nil {
		return err
	}
	f.lockFile = now
	f.apply(next)
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
