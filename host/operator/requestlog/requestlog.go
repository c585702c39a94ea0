// Package requestlog keeps calls of tools in files, so that they can be looked at and run again.
package requestlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
)

const (
	suffix           = ".jsonl"
	nameForm         = "20060102T150405.000000" // of a segment, by the time of its first entry
	defaultBytes     = 16 << 20
	parts            = 4 // segments that a full log has
	defaultKept      = 7 * 24 * time.Hour
	longestArguments = 64 << 10
	longestLine      = longestArguments*6 + 64<<10 // JSON escapes a byte with at most six
	tidyEvery        = time.Hour
	longestSegment   = 24 * time.Hour
)

// Options configures a Log. Dir is required.
type Options struct {
	Dir    string           // made if it does not exist
	Clock  func() time.Time // nil: time.Now
	Logger *slog.Logger     // nil: discards
	Bytes  int64            // of all files; 0: 16 MiB. The oldest entries make room
	Kept   time.Duration    // how long an entry is kept; 0: 7 days. It is deleted up to a day later
}

// Log keeps entries in a folder that only its user can read. Its methods may be called concurrently.
type Log struct {
	o Options

	mu     sync.Mutex
	file   *os.File  // the newest segment; nil: none is open
	size   int64     // of file
	begun  time.Time // the name of the newest segment
	failed bool      // the last write failed, which was reported
}

// Open makes the folder of a log.
func Open(o Options) (*Log, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Bytes == 0 {
		o.Bytes = defaultBytes
	}
	if o.Kept == 0 {
		o.Kept = defaultKept
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the request log: %w", err)
	}
	l := &Log{o: o}
	names, err := segments(o.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if begun, err := time.Parse(nameForm+suffix, name); err == nil {
			l.begun = begun
		}
	}
	return l, l.Tidy()
}

// Add appends an entry. A failure is logged and harms no call.
func (l *Log) Add(e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.add(e)
	if err != nil && !l.failed {
		l.o.Logger.Warn("calls could not be logged", "error", err)
	}
	l.failed = err != nil
}

func (l *Log) add(e Entry) error {
	line, err := e.text()
	if err != nil {
		return fmt.Errorf("encode an entry: %w", err)
	}
	if l.file != nil && (l.size+int64(len(line)) > l.o.Bytes/parts || l.o.Clock().Sub(l.begun) > longestSegment) {
		if err := l.endSegment(); err != nil {
			return err
		}
	}
	if l.file == nil {
		if err := l.beginSegment(); err != nil {
			return err
		}
	}
	n, err := l.file.Write(line)
	l.size += int64(n)
	return err
}

// beginSegment begins a file, once there is room for it.
func (l *Log) beginSegment() error {
	if err := l.tidy(l.o.Bytes / parts); err != nil {
		return err
	}
	begun := l.o.Clock().UTC().Truncate(time.Microsecond)
	if !begun.After(l.begun) { // the clock stands still or was set back: names are in the order of writing
		begun = l.begun.Add(time.Microsecond)
	}
	f, err := os.OpenFile(filepath.Join(l.o.Dir, begun.Format(nameForm)+suffix), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	l.file, l.size, l.begun = f, 0, begun
	return nil
}

func (l *Log) endSegment() error {
	f := l.file
	l.file, l.size = nil, 0
	return f.Close()
}

// Tidy deletes entries that expired.
func (l *Log) Tidy() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil && l.o.Clock().Sub(l.begun) > longestSegment {
		if err := l.endSegment(); err != nil {
			return err
		}
	}
	return l.tidy(0)
}

// tidy deletes the oldest segments: those that expired, and for room. The caller holds mu.
func (l *Log) tidy(room int64) error {
	names, err := segments(l.o.Dir)
	if err != nil {
		return err
	}
	sizes := make([]int64, len(names))
	var sum int64
	for i, name := range names {
		if info, err := os.Stat(filepath.Join(l.o.Dir, name)); err == nil {
			sizes[i] = info.Size()
			sum += info.Size()
		}
	}
	for i, name := range names {
		if l.file != nil && filepath.Base(l.file.Name()) == name || sum+room <= l.o.Bytes && !l.expired(name) {
			continue
		}
		if err := os.Remove(filepath.Join(l.o.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("delete old entries of the request log: %w", err)
		}
		sum -= sizes[i]
	}
	return nil
}

// expired reports whether all entries of a segment, by its name, are older than they are kept.
func (l *Log) expired(name string) bool {
	begun, err := time.Parse(nameForm+suffix, name)
	return err != nil || l.o.Clock().Sub(begun) > l.o.Kept+longestSegment
}

// Run deletes expired entries until ctx ends.
func (l *Log) Run(ctx context.Context) {
	ticker := time.NewTicker(tidyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := l.Tidy(); err != nil {
				l.o.Logger.Warn("expired entries of the request log could not be deleted", "error", err)
			}
		}
	}
}

// Erase deletes the entries for which a function says so, and the digests of results, and returns how many entries there were. It is
// for purges: nothing of an erased line stays in a file of the log.
func (l *Log) Erase(is func(line []byte) bool) (erased int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		if err := l.endSegment(); err != nil {
			return 0, err
		}
	}
	return eraseIn(l.o.Dir, is)
}

// EraseIn is Erase for the log in a folder that no server uses.
func EraseIn(dir string, is func(line []byte) bool) (erased int, err error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	return eraseIn(dir, is)
}

func eraseIn(dir string, is func(line []byte) bool) (erased int, err error) {
	names, err := segments(dir)
	if err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := eraseFrom(filepath.Join(dir, name), is)
		if erased += n; err != nil {
			return erased, fmt.Errorf("erase from the request log: %w", err)
		}
	}
	return erased, nil
}

// eraseFrom rewrites a segment without some lines.
func eraseFrom(path string, is func(line []byte) bool) (erased int, err error) {
	data, err := os.ReadFile(path) // bounded by Options.Bytes
	if err != nil {
		return 0, err
	}
	var left bytes.Buffer
	for line := range bytes.Lines(data) {
		if is(line) {
			erased++
			continue
		}
		withoutResult(&left, line)
	}
	if erased == 0 && left.Len() == len(data) {
		return 0, nil
	}
	if left.Len() == 0 {
		return erased, os.Remove(path)
	}
	return erased, durable.WriteFile(path, left.Bytes(), 0o600)
}

// withoutResult writes a line without the digest of its result.
func withoutResult(to *bytes.Buffer, line []byte) {
	list, err := readFrom(bytes.NewReader(line), "")
	if err != nil || len(list) != 1 || list[0].Result == "" {
		to.Write(line)
		return
	}
	list[0].Result = ""
	if text, err := list[0].text(); err == nil {
		to.Write(text)
	}
}

// Close ends the log.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.endSegment()
}

var _ io.Closer = (*Log)(nil)
