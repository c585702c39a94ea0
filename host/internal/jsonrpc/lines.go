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
	Account *Account      // charged for each line until Release; nil: none
	Within  time.Duration // how long a line over 64 KiB may take to arrive; 0: unlimited

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

// Release returns a line's bytes to the Account.
func (l *Lines) Release(line []byte) { l.Account.Release(int64(len(line))) }

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
	if err := l.Account.Reserve(ctx, int64(len(part))); err != nil {
		return nil, refused(FindID(part), err)
	}
	line := make([]byte, len(part), len(part)+1) // room for an end
	copy(line, part)
	return line, err
}

// refused makes a refusal of the Budget one of a single line.
func refused(id []byte, err error) error {
	if errors.As(err, new(*BusyError)) {
		return &Skipped{id, err}
	}
	return err
}

// readLong reads a line that begins with part and does not fit into the reader's buffer. Room for the longest line is
// reserved at once: those who would each wait for a little more would wait for one another.
func (l *Lines) readLong(ctx context.Context, part []byte) ([]byte, error) {
	reserved := &reservation{account: l.Account, bytes: l.limit}
	g := &growing{limit: l.limit, reserved: reserved}
	if err := l.Account.Reserve(ctx, l.limit); err != nil {
		if !errors.As(err, new(*BusyError)) {
			return nil, err
		}
		reserved.bytes = 0
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

// reservation is bytes of an account.
type reservation struct {
	account *Account
	bytes   int64
}

// shrink gives all but some bytes back.
func (r *reservation) shrink(to int64) {
	if r.bytes > to {
		r.account.Release(r.bytes - to)
		r.bytes = to
	}
}

// growing is a long line that has no end yet. It may be dropped while its reader waits for more of it.
type growing struct {
	limit    int64
	reserved *reservation

	mu      sync.Mutex
	line    []byte
	over    bool
	dropped error
	finder  idFinder // of a line that was dropped
}

func (g *growing) add(part []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dropped == nil && int64(len(g.line)+len(part)) > g.limit {
		g.discard(&TooLongError{g.limit})
	}
	if g.dropped != nil {
		g.finder.read(part)
		return
	}
	if room := cap(g.line) - len(g.line); room <= len(part) {
		grown := make([]byte, len(g.line), min(max(2*cap(g.line), 2*shortLine, len(g.line)+len(part)+1), int(g.limit)+1))
		copy(grown, g.line)
		g.line = grown
	}
	g.line = append(g.line, part...)
}

// drop discards the input so far.
func (g *growing) drop(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dropped == nil && !g.over {
		g.discard(why)
	}
}

func (g *growing) discard(why error) {
	g.dropped = why
	g.finder.read(g.line)
	g.line = nil
	g.reserved.shrink(0)
}

// end is the whole line, of which no more is reserved than there is.
func (g *growing) end() ([]byte, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over = true
	if g.dropped != nil {
		return nil, &Skipped{g.finder.found(), g.dropped}
	}
	g.reserved.shrink(int64(len(g.line)))
	return g.line, nil
}
