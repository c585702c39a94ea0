// Package lockfile keeps the lock file of a data directory to what its audit log last accepted.
package lockfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/operator/audit"
	"github.com/alcove-memory/alcove/registry"
)

// Names of who changes a lock file, in the audit log.
const (
	Operator = "operator"                      // by commands
	Editor   = "an editor of " + registry.File // otherwise
	Server   = "a server that ended before its change was written"
	Former   = "the server that led the space before"
)

// File is a lock file as it was read, or as a command or server is about to write it.
type File struct {
	Dir     string // the data directory
	Audit   string // the folder of its audit log
	Lock    registry.Lock
	Missing bool // there is no such file: Lock is empty
	write   bool // Lock is not what the file has
}

// Read reads the lock file of a data directory.
func Read(dir, audit string) (File, error) {
	_, err := os.Stat(filepath.Join(dir, registry.File))
	missing := errors.Is(err, fs.ErrNotExist) // before it is read: one that comes meanwhile is no loss
	l, err := registry.Read(dir)
	return File{Dir: dir, Audit: audit, Lock: l, Missing: missing}, err
}

// EditedError means that a lock file is not the one that was last accepted.
type EditedError struct {
	Dir     string
	Missing bool // there is none
}

func (e *EditedError) Error() string {
	path, what := filepath.Join(e.Dir, registry.File), "is not the lock file that was last accepted: alcove audit tail --kind edited shows how it differs"
	if e.Missing {
		what = "is gone, and the last accepted one has guards or a lock"
	}
	return fmt.Sprintf("%s %s. Put the reviewed file back, or accept one with: alcove lock apply FILE --data %q", path, what, e.Dir)
}

// encoded returns the file's bytes in their canonical form, and their digest.
func (f File) encoded() ([]byte, string, error) {
	data, err := registry.Encode(f.Lock)
	return data, audit.LockDigest(data), err
}

// kept returns the lock that was last accepted; ok is false if it is not known.
func (f File) kept(last audit.LockState) (l registry.Lock, ok bool) {
	data := audit.KeptLock(f.Audit, last.Digest, registry.FileLimit)
	if data == nil {
		return l, false
	}
	l, err := registry.Parse(data)
	return l, err == nil
}

// Accept takes the file as a server finds it at its start, and returns what to record of that before anything else happens. A file that was
// edited is an error if the directory is locked or is to be; and so is one that is gone, if it had guards.
func (f *File) Accept(last audit.LockState, lock bool) (entries []audit.Entry, err error) {
	_, digest, err := f.encoded()
	if err != nil {
		return nil, err
	}
	switch accepted, known := f.kept(last); {
	case last.Digest == "":
		entries, err = f.changed(Editor, registry.Lock{}, "the first lock file:")
	case digest == last.Digest:
	case known && digest == last.Before && (lock || last.Locked): // the server ended between the record and the file
		f.Lock, f.write = accepted, true
		entries = []audit.Entry{{Kind: audit.Changed, Agent: Server, Detail: "the lock file that was last accepted was written again"}}
	case lock || last.Locked || f.Missing && (!known || len(accepted.Guards()) > 0):
		return f.refused(last, accepted, known, digest), &EditedError{f.Dir, f.Missing}
	case known:
		entries, err = f.changed(Editor, accepted, "")
	default:
		entries, err = f.changed(Editor, registry.Lock{}, "a lock file in place of one that is no longer known:")
	}
	if err == nil && lock && !f.Lock.Locked {
		before := f.Lock
		f.Lock.Locked, f.write = true, true
		var more []audit.Entry
		more, err = f.changed(Operator, before, "")
		entries = append(entries, more...)
	}
	return entries, err
}

// Choose records the posture of a directory that is new, and returns what to record of that.
func (f *File) Choose(posture registry.Posture) ([]audit.Entry, error) {
	before := f.Lock
	f.Lock.Posture, f.write = posture, true
	if err := f.Lock.Check(); err != nil {
		return nil, fmt.Errorf("choose the posture of %s: %w", f.Dir, err)
	}
	return f.changed(Operator, before, "a new directory:")
}

// changed returns entries that the file differs from another one.
func (f File) changed(by string, before registry.Lock, why string) ([]audit.Entry, error) {
	lines, err := registry.Diff(before, f.Lock)
	if err != nil || len(lines) == 0 {
		return nil, err
	}
	return audit.Entry{Kind: audit.Changed, Agent: by, Detail: why}.WithLines(lines), nil
}

// refused returns entries that an edited file was refused; none if the log has them.
func (f File) refused(last audit.LockState, accepted registry.Lock, known bool, digest string) []audit.Entry {
	if last.Refused == digest {
		return nil
	}
	e := audit.Entry{Kind: audit.Edited, Agent: Editor, Digest: digest}
	if !known {
		e.Detail = "the lock file that was last accepted is no longer known; this one has:"
	}
	lines, err := registry.Diff(accepted, f.Lock)
	if err != nil {
		lines = []string{err.Error()}
	}
	return e.WithLines(lines)
}

// Mark keeps a copy of the file, and sets it in an entry that says that it is in force.
func (f File) Mark(e *audit.Entry) error {
	data, digest, err := f.encoded()
	if err != nil {
		return err
	}
	e.Lock, e.Locked = digest, f.Lock.Locked
	return audit.KeepLock(f.Audit, data)
}

// Finish writes the file if it is not what Lock says. Its record has to be durable.
func (f *File) Finish() error {
	if !f.write {
		return nil
	}
	if err := registry.Write(f.Dir, f.Lock); err != nil {
		return fmt.Errorf("%w: to lock a directory whose %s cannot be written, write \"locked\": true in it", err, registry.File)
	}
	f.write = false
	return nil
}

// SetLocked locks or unlocks a directory that nobody serves, and returns what to record of that.
func (f *File) SetLocked(last audit.LockState, locked bool) ([]audit.Entry, error) {
	entries, err := f.Accept(last, false)
	if err != nil || f.Lock.Locked == locked {
		return entries, err
	}
	before := f.Lock
	f.Lock.Locked, f.write = locked, true
	more, err := f.changed(Operator, before, "")
	return append(entries, more...), err
}

// Before returns the lock that was last accepted, or what the file has where that is not known.
func (f File) Before(last audit.LockState) registry.Lock {
	if l, known := f.kept(last); known {
		return l
	}
	return f.Lock
}

// Replace takes a reviewed lock in place of the file, and returns what to record of that. It unlocks nothing.
func (f *File) Replace(last audit.LockState, next registry.Lock) ([]audit.Entry, error) {
	lines, err := registry.Diff(f.Before(last), next)
	f.Lock, f.write = next, true
	return audit.Entry{Kind: audit.Changed, Agent: Operator, Detail: "a reviewed lock file:"}.WithLines(lines), err
}

// Follow takes the lock that the server which led the space before had accepted, and returns what to record of that.
func (f *File) Follow(last audit.LockState, next registry.Lock) ([]audit.Entry, error) {
	lines, err := registry.Diff(f.Before(last), next)
	f.Lock, f.write = next, true
	return audit.Entry{Kind: audit.Changed, Agent: Former, Detail: "the lock file of the space:"}.WithLines(lines), err
}

// Accepted reports whether the file is the one that was last accepted.
func (f File) Accepted(last audit.LockState) bool {
	_, digest, err := f.encoded()
	return err == nil && digest == last.Digest
}
