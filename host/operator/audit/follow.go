package audit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/alcove-memory/alcove/host/operator/segments"
)

// Follower reads a log while it is written, from an entry on, through the ends of files and of servers.
type Follower struct {
	Dir   string
	After uint64 // the last entry that was read; 0: none

	path   string // of the file that is read
	offset int64  // of what follows After there
}

// Gap is entries that a follower cannot read any more.
type Gap struct {
	From, To uint64
}

// Next visits the whole entries that are new, oldest first, until visit fails. gap is told of entries that made room before they were
// read; nil: nobody is.
func (f *Follower) Next(ctx context.Context, visit func(line []byte, e Entry) error, gap func(Gap) error) error {
	for {
		s, next, err := f.file()
		if err != nil || s.Path == "" {
			return err
		}
		if err := f.read(ctx, s, visit, gap); err != nil || next == 0 {
			return err
		}
		if err := f.missed(next, gap); err != nil {
			return err
		}
		f.After = max(f.After, next-1) // the file is complete, whatever of it could be read
	}
}

// missed tells of entries that could not be read before another one.
func (f *Follower) missed(next uint64, gap func(Gap) error) error {
	if f.After == 0 || next <= f.After+1 || gap == nil {
		return nil
	}
	return gap(Gap{f.After + 1, next - 1})
}

// file returns the file with the next entry, and the number with which another follows it; 0: none does. The zero Segment: there is none.
func (f *Follower) file() (s segments.Segment, next uint64, err error) {
	list, err := folder(f.Dir).List()
	if errors.Is(err, fs.ErrNotExist) {
		return s, 0, nil
	}
	if err != nil {
		return s, 0, fmt.Errorf("read the audit log: %w", err)
	}
	for i, at := range list {
		if next = 0; i+1 < len(list) {
			next, _ = strconv.ParseUint(list[i+1].Name(), 10, 64)
		}
		if next == 0 || next > f.After+1 {
			if at.Path != f.path {
				f.path, f.offset = at.Path, 0
			}
			return at, next, nil
		}
	}
	return s, 0, nil
}

// read visits the entries of a file behind the last one that was read.
func (f *Follower) read(ctx context.Context, s segments.Segment, visit func([]byte, Entry) error, gap func(Gap) error) error {
	file, err := os.Open(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it made room
	}
	if err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(f.offset, io.SeekStart); err != nil {
		return fmt.Errorf("read the audit log: %w", err)
	}
	for in := bufio.NewReaderSize(file, longestLine); ctx.Err() == nil; {
		line, err := readLine(in)
		if errors.Is(err, io.EOF) {
			return nil // what is left is not written to its end, or will be removed
		}
		if err != nil {
			return fmt.Errorf("read the audit log: %w", err)
		}
		if err := f.visit(line, visit, gap); err != nil {
			return err
		}
		f.offset += int64(len(line))
	}
	return ctx.Err()
}

// visit visits a line, unless it was read before or is no entry.
func (f *Follower) visit(line []byte, visit func([]byte, Entry) error, gap func(Gap) error) error {
	body, _, err := split(line)
	if err != nil {
		return nil
	}
	e, err := decode(body)
	if err != nil || e.Seq <= f.After {
		return nil
	}
	if err := f.missed(e.Seq, gap); err != nil {
		return err
	}
	if err := visit(line, e); err != nil {
		return err
	}
	f.After = e.Seq
	return nil
}

// followEvery is how often a follower looks for entries.
const followEvery = 500 * time.Millisecond

// Run is Next again and again until ctx ends, which is no error.
func (f *Follower) Run(ctx context.Context, visit func(line []byte, e Entry) error, gap func(Gap) error) error {
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if err := f.Next(ctx, visit, gap); err != nil && ctx.Err() == nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
