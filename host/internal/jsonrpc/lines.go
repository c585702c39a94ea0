package jsonrpc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// shortLine is up to how many bytes a line waits for its end in the reader's own buffer.
const shortLine = 64 << 10

// Skipped is the error of a skipped line; reading continues with the next one.
type Skipped struct {
	ID  []byte // the message's id, for an answer; nil: none found
	Err error  // a TooLongError, a SlowError or a BusyError
}

func (s *Skipped) Error() string { return s.Err.Error() }
func (s *Skipped) Unwrap() error { return s.Err }

// TooLongError means that a line exceeds the limit.
type TooLongError struct{ Limit int64 }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the message is longer than %d bytes (%d MiB), which is the limit, and was skipped: send less at once, for example by storing parts under several keys",
		e.Limit, e.Limit>>20)
}

// SlowError means that a line did not end in time.
type SlowError struct{ Within time.Duration }

func (e *SlowError) Error() string {
	return fmt.Sprintf("the message is longer than %d bytes and had not arrived within %s, which is the limit, and was skipped: send it again", shortLine, e.Within)
}

// Lines reads lines from a peer within limits of size, time and memory.
type Lines struct {
	Budget *Budget       // of the lines that were not released; nil: unlimited
	Within time.Duration // how long a line over 64 KiB may take to arrive; 0: unlimited

	r     *bufio.Reader
	limit int64
}

// NewLines returns a reader of lines of at most limit bytes without their ends.
func NewLines(r io.Reader, limit int64) *Lines {
	return &Lines{r: bufio.NewReaderSize(r, shortLine), limit: limit}
}

// Next returns the next line that is not blank, without its end. The caller owns it, and passes it to Release. The last
// line needs no end. After any error but a Skipped, reading ends.
func (l *Lines) Next(ctx context.Context) ([]byte, error) {
	for {
		line, err := l.read(ctx)
		cut := errors.Is(err, io.EOF) && len(line) > 0
		if err != nil && !cut {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
		l.Release(line)
	}
}

// NextWhole is Next for a connection that may break within a line: a line without an end is dropped.
func (l *Lines) NextWhole(ctx context.Context) ([]byte, error) {
	for {
		line, err := l.read(ctx)
		if err != nil {
			l.Release(line)
			return nil, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return line, nil
		}
		l.Release(line)
	}
}

// First returns the first line of an unauthenticated peer. A line that is too long is not read to its end. The limit is
// at most 64 KiB.
func (l *Lines) First() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) || int64(len(line)) > l.limit {
		return nil, &TooLongError{l.limit}
	}
	if err != nil {
		return nil, err
	}
	return bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))), nil
}

// Release gives a line back to the Budget.
func (l *Lines) Release(line []byte) { l.Budget.Release(line) }

// read reads a line. With io.EOF it may give one that has no end.
func (l *Lines) read(ctx context.Context) ([]byte, error) {
	part, err := l.r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l.readLong(ctx, part)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	part = bytes.TrimSuffix(part, []byte("\n"))
	if int64(len(part)) > l.limit {
		return nil, &Skipped{FindID(part), &TooLongError{l.limit}}
	}
	line := make([]byte, len(part), len(part)+1) // room for an end
	copy(line, part)
	return line, err
}

// readLong reads a line that begins with part and does not fit into the reader's buffer. It waits for room for its beginning alone.
func (l *Lines) readLong(ctx context.Context, part []byte) ([]byte, error) {
	g := &partialLine{line: partialMessage{budget: l.Budget, limit: l.limit}}
	if err := g.line.wait(ctx, min(2*shortLine, l.limit)); err != nil {
		if !errors.As(err, new(*BusyError)) {
			return nil, err
		}
		g.drop(err)
	}
	if l.Within > 0 {
		late := time.AfterFunc(l.Within, func() { g.drop(&SlowError{l.Within}) })
		defer late.Stop()
	}
	g.add(part)
	err := bufio.ErrBufferFull
	for errors.Is(err, bufio.ErrBufferFull) {
		part, err = l.r.ReadSlice('\n')
		g.add(bytes.TrimSuffix(part, []byte("\n")))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		g.drop(err)
		return nil, err
	}
	line, skipped := g.end()
	if skipped != nil {
		return nil, skipped
	}
	return line, err
}

// partialLine is a long line that has no end yet. It may be dropped while its reader waits for more of it.
type partialLine struct {
	mu      sync.Mutex
	line    partialMessage
	over    bool
	dropped error
	finder  idFinder // of a line that was dropped
}

func (g *partialLine) add(part []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dropped == nil {
		if err := g.line.add(part); err != nil {
			g.discard(err)
		}
	}
	if g.dropped != nil {
		g.finder.read(part)
	}
}

// drop discards the input so far.
func (g *partialLine) drop(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dropped == nil && !g.over {
		g.discard(why)
	}
}

func (g *partialLine) discard(why error) {
	g.dropped = why
	g.finder.read(g.line.bytes)
	g.line.drop()
}

func (g *partialLine) end() ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.dropped != nil {
		return nil, &Skipped{g.finder.found(), g.dropped}
	}
	return g.line.whole(), nil
}
