package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/regular"
)

// LockState is what a log last said of the lock file. The zero LockState: nothing.
type LockState struct {
	Digest  string // SHA-256 of the lock file that was last accepted, as registry.Encode has it; empty: none was
	Locked  bool   // whether the data directory is locked since
	Before  string // the digest before that one
	Refused string // of the edited lock file that was last refused, if none was accepted since
}

// note takes in an entry.
func (s *LockState) note(e *Entry) {
	if e.Kind == Edited {
		s.Refused = e.Digest
	}
	if e.Lock == "" {
		return
	}
	if e.Lock != s.Digest {
		s.Before, s.Refused = s.Digest, ""
	}
	s.Digest, s.Locked = e.Lock, e.Locked
}

// LastLock returns what the log in a folder last said of the lock file.
func LastLock(dir string) (s LockState, err error) {
	list, err := folder(dir).List()
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(list) == 0 {
		return s, nil
	}
	if err == nil {
		var end tail
		end, err = scanEnd(list[len(list)-1].Path)
		s = end.lock
	}
	if err != nil {
		return s, fmt.Errorf("read the audit log in %s: %w", dir, err)
	}
	return s, nil
}

// LockDigest returns the digest of a lock file.
func LockDigest(lock []byte) string {
	sum := sha256.Sum256(lock)
	return hex.EncodeToString(sum[:])
}

// acceptedFile, beside the log, is a copy of the lock file that was last accepted, so that an edit can be shown as a difference from it.
const acceptedFile = "accepted.lock"

// KeepLock keeps a copy of a lock file that is about to be accepted, in the folder of the log.
func KeepLock(dir string, lock []byte) error {
	if err := durable.WriteFile(filepath.Join(dir, acceptedFile), lock, 0o600); err != nil {
		return fmt.Errorf("keep a copy of the lock file beside the audit log: %w", err)
	}
	return nil
}

// KeptLock returns the copy of the lock file with a digest; nil: there is none, or it was changed.
func KeptLock(dir, digest string, limit int64) []byte {
	data, err := regular.Read(filepath.Join(dir, acceptedFile), limit)
	if err != nil || LockDigest(data) != digest {
		return nil
	}
	return data
}

// Accept records a lock file and the difference that it makes, durably. Whoever calls it then writes the file.
func (l *Log) Accept(lock []byte, locked bool, e Entry, difference []string) error {
	if err := l.lines.Make(); err != nil {
		return err
	}
	if err := KeepLock(l.o.Dir, lock); err != nil {
		return err
	}
	parts := e.WithLines(difference)
	last := &parts[len(parts)-1]
	last.Lock, last.Locked = LockDigest(lock), locked
	for _, part := range parts {
		l.Add(part)
	}
	return l.Flush()
}

// mostParts bounds the entries of one difference.
const mostParts = 32

// WithLines returns the entry with lines as its detail, in as many entries as they need, up to a limit.
func (e Entry) WithLines(lines []string) (parts []Entry) {
	detail := e.Detail
	for i, line := range lines {
		switch {
		case detail == "":
			detail = line
		case len(detail)+1+len(line) <= longestDetail:
			detail += "\n" + line
		case len(parts) == mostParts-1:
			e.Detail = clip(detail, longestDetail-100) + fmt.Sprintf("\n%d more lines", len(lines)-i)
			return append(parts, e)
		default:
			e.Detail = detail
			parts, detail = append(parts, e), line
		}
	}
	e.Detail = detail
	return append(parts, e)
}
