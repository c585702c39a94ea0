// Package requestlog keeps calls of tools in files, so that they can be looked at and run again.
package requestlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/durable"
	"github.com/alcove-memory/alcove/host/operator/segments"
)

const (
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
	lines  segments.Log
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
	l := &Log{o: o, lines: segments.Log{Folder: segments.Folder{Dir: o.Dir}}}
	if err := l.lines.Make(); err != nil {
		return nil, fmt.Errorf("make the folder of the request log: %w", err)
	}
	list, err := l.lines.List()
	if err != nil {
		return nil, fmt.Errorf("read the request log: %w", err)
	}
	for _, s := range list {
		if begun, err := time.Parse(nameForm, s.Name()); err == nil {
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
	if !l.lines.IsOpen() || l.lines.Size()+int64(len(line)) > l.o.Bytes/parts || l.old() {
		if err := l.begin(); err != nil {
			return err
		}
	}
	return l.lines.Append(line)
}

// old reports whether the open segment takes no more entries: the first may expire a day before the last.
func (l *Log) old() bool { return l.o.Clock().Sub(l.begun) > longestSegment }

// begin begins a segment, once there is room for it. It is empty: what a crash leaves of it, which Erase does not find, has no entry.
func (l *Log) begin() error {
	if err := l.lines.Close(); err != nil {
		return err
	}
	if err := l.tidy(l.o.Bytes / parts); err != nil {
		return err
	}
	begun := l.o.Clock().UTC().Truncate(time.Microsecond)
	if !begun.After(l.begun) { // the clock stands still or was set back: names are in the order of writing
		begun = l.begun.Add(time.Microsecond)
	}
	l.begun = begun
	return l.lines.Begin(begun.Format(nameForm), nil)
}

// Tidy deletes entries that expired.
func (l *Log) Tidy() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.old() {
		if err := l.lines.Close(); err != nil {
			return err
		}
	}
	return l.tidy(0)
}

// tidy deletes the oldest segments: those that expired, and those in the way of bytes to reserve. The caller holds mu.
func (l *Log) tidy(reserve int64) error {
	if _, err := l.lines.Trim(l.o.Bytes-reserve, l.expired); err != nil {
		return fmt.Errorf("delete old entries of the request log: %w", err)
	}
	return nil
}

// expired reports whether all entries of a segment, by its name, are older than they are kept. A file of another name is none of them.
func (l *Log) expired(s segments.Segment) bool {
	begun, err := time.Parse(nameForm, s.Name())
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
	if err := l.lines.Close(); err != nil {
		return 0, err
	}
	return eraseIn(l.o.Dir, is)
}

func eraseIn(dir string, is func(line []byte) bool) (erased int, err error) {
	list, err := segments.Folder{Dir: dir}.List()
	if err != nil {
		return 0, fmt.Errorf("read the request log: %w", err)
	}
	for _, s := range list {
		n, err := eraseFrom(s.Path, is)
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
	return l.lines.Close()
}

var _ io.Closer = (*Log)(nil)
