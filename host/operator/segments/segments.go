// Package segments keeps a log in files of one folder: the newest takes further lines, and the oldest make room.
package segments

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/alcove-memory/alcove/host/durable"
)

// suffix ends the names of segments.
const suffix = ".jsonl"

// Folder is where a log's segments are. Their names are in the order in which they were begun.
type Folder struct {
	Dir  string
	Name int // length of a segment's name without suffix: other files are not the log's; 0: any
}

// Segment is a file of a log.
type Segment struct {
	Path string
	Size int64 // bytes
}

// Name is the segment's name without suffix.
func (s Segment) Name() string { return strings.TrimSuffix(filepath.Base(s.Path), suffix) }

// Path is that of the segment with a name.
func (f Folder) Path(name string) string { return filepath.Join(f.Dir, name+suffix) }

// Make makes the folder, for its user alone, if it does not exist.
func (f Folder) Make() error { return os.MkdirAll(f.Dir, 0o700) }

// List lists the segments, oldest first.
func (f Folder) List() (list []Segment, err error) {
	all, err := os.ReadDir(f.Dir) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if !ok || !e.Type().IsRegular() || f.Name != 0 && len(name) != f.Name {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // deleted meanwhile, to make room
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Segment{f.Path(name), info.Size()})
	}
	return list, nil
}

// Each opens the segments, oldest first.
func (f Folder) Each(do func(path string, r io.Reader) error) error {
	list, err := f.List()
	for _, s := range list {
		file, missing := os.Open(s.Path)
		if errors.Is(missing, fs.ErrNotExist) {
			continue // deleted meanwhile, to make room
		}
		if missing != nil {
			return missing
		}
		if err := errors.Join(do(s.Path, file), file.Close()); err != nil {
			return err
		}
	}
	return err
}

// Log appends to the newest segment of a folder.
type Log struct {
	Folder

	file  *os.File // nil: the next line begins a segment
	size  int64
	dirty bool // it was written to since it was synced
}

// Begin begins a segment with lines, durably, in place of the open one.
func (l *Log) Begin(name string, lines []byte) error {
	if err := l.Sync(); err != nil {
		return err
	}
	path := l.Path(name)
	if err := durable.WriteFile(path, lines, 0o600); err != nil {
		return err
	}
	return l.Continue(path, int64(len(lines)))
}

// Continue opens a segment to append after its first bytes, in place of the open one; what follows them is cut off.
func (l *Log) Continue(path string, size int64) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(size), l.Close()); err != nil {
		return errors.Join(err, file.Close())
	}
	l.file, l.size = file, size
	return nil
}

// IsOpen reports whether Append has a segment.
func (l *Log) IsOpen() bool { return l.file != nil }

// Size is the number of bytes of the open segment.
func (l *Log) Size() int64 { return l.size }

// Append appends lines to the open segment, or nothing.
func (l *Log) Append(lines []byte) error {
	if _, err := l.file.Write(lines); err != nil {
		return errors.Join(err, os.Truncate(l.file.Name(), l.size))
	}
	l.size, l.dirty = l.size+int64(len(lines)), true
	return nil
}

// Trim deletes the oldest segments but for the open one: those beyond most bytes, and all that are obsolete. Nil: none is obsolete. What
// it returns it deleted, also beside an error.
func (l *Log) Trim(most int64, obsolete func(Segment) bool) (deleted []Segment, err error) {
	list, err := l.List()
	sum := int64(0)
	for _, s := range list {
		sum += s.Size
	}
	for _, s := range list {
		if l.file != nil && s.Path == l.file.Name() || sum <= most && (obsolete == nil || !obsolete(s)) {
			continue
		}
		if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return deleted, err
		}
		sum, deleted = sum-s.Size, append(deleted, s)
	}
	return deleted, err
}

// Delete deletes segments, but never the open one.
func (l *Log) Delete(list []Segment) error {
	for _, s := range list {
		if l.file != nil && s.Path == l.file.Name() {
			continue
		}
		if err := os.Remove(s.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Present returns an error while the open segment is not where readers look for it: what was appended to it would be lost.
func (l *Log) Present() error {
	if l.file == nil {
		return nil
	}
	open, err := l.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(l.file.Name())
	if err != nil {
		return fmt.Errorf("its newest file was moved or deleted: put it back, or restart the server, which begins another: %w", err)
	}
	if !os.SameFile(open, there) {
		return fmt.Errorf("its newest file %s was replaced: restart the server", l.file.Name())
	}
	return nil
}

// Dirty reports whether something was appended since the last Sync.
func (l *Log) Dirty() bool { return l.dirty }

// Sync makes what was appended durable.
func (l *Log) Sync() error {
	if !l.dirty {
		return nil
	}
	if err := l.file.Sync(); err != nil {
		return err
	}
	l.dirty = false
	return nil
}

// Close closes the open segment, if there is one, without a Sync.
func (l *Log) Close() error {
	file := l.file
	if l.file, l.size, l.dirty = nil, 0, false; file == nil {
		return nil
	}
	return file.Close()
}
