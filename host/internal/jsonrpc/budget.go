package jsonrpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

// DefaultPatience is how long a large message waits for room in a Budget, unless it says otherwise.
const DefaultPatience = 30 * time.Second

// Budget bounds the large messages that a server holds for all clients together, in bytes: lines and bodies of 64 KiB and more, from
// when they are read until they are served. A nil Budget has no bound.
type Budget struct {
	limit    int64
	patience time.Duration
	room     *semaphore.Weighted
	used     atomic.Int64
}

// BusyError means that a message did not fit in the Budget.
type BusyError struct {
	Limit int64         // bytes of the Budget
	After time.Duration // that a message waits
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("the server holds %d bytes (%d MiB) of large messages of all clients, which is the limit, and had no room for this one within %s: "+
		"send it again later, or less at once", e.Limit, e.Limit>>20, e.After)
}

// UnreadError means that the rest of a message could not be read.
type UnreadError struct{ Err error }

func (e *UnreadError) Error() string { return "the message could not be read" }
func (e *UnreadError) Unwrap() error { return e.Err }

// NewBudget returns a budget in bytes. patience is how long a message waits for room; 0: DefaultPatience.
func NewBudget(limit int64, patience time.Duration) *Budget {
	return &Budget{limit: limit, patience: cmp.Or(patience, DefaultPatience), room: semaphore.NewWeighted(limit)}
}

// Used returns the bytes that count.
func (b *Budget) Used() int64 { return b.used.Load() }

// Release gives the bytes of a message back that was read within the budget.
func (b *Budget) Release(message []byte) { b.give(large(int64(len(message)))) }

// large returns how many bytes count of a message of some length.
func large(length int64) int64 {
	if length < shortLine {
		return 0
	}
	return length
}

// wait counts bytes once there is room for them. The error is a BusyError, or that of ctx.
func (b *Budget) wait(ctx context.Context, bytes int64) error {
	if b == nil || bytes == 0 {
		return nil
	}
	patient, stop := context.WithTimeout(ctx, b.patience)
	defer stop()
	if err := b.room.Acquire(patient, bytes); err == nil {
		b.used.Add(bytes)
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &BusyError{b.limit, b.patience}
}

// take counts bytes if there is room. Messages that are half read do not wait: they would wait for one another.
func (b *Budget) take(bytes int64) error {
	switch {
	case b == nil || bytes == 0:
		return nil
	case !b.room.TryAcquire(bytes):
		return &BusyError{b.limit, b.patience}
	}
	b.used.Add(bytes)
	return nil
}

func (b *Budget) give(bytes int64) {
	if b == nil || bytes == 0 {
		return
	}
	b.used.Add(-bytes)
	b.room.Release(bytes)
}

// ReadAll reads a message of at most limit bytes. length is how long it is said to be; negative: unknown. The caller releases it. The error
// is a TooLongError, an UnreadError, a BusyError, or that of ctx.
func (b *Budget) ReadAll(ctx context.Context, r io.Reader, length, limit int64) ([]byte, error) {
	if length > limit {
		return nil, &TooLongError{limit}
	}
	m := partialMessage{budget: b, limit: limit}
	if err := m.wait(ctx, max(0, length)); err != nil {
		return nil, err
	}
	for {
		if err := m.room(0); err != nil {
			m.drop()
			return nil, err
		}
		n, err := r.Read(m.bytes[len(m.bytes):cap(m.bytes)])
		m.bytes = m.bytes[:len(m.bytes)+n]
		switch {
		case int64(len(m.bytes)) > limit:
			m.drop()
			return nil, &TooLongError{limit}
		case errors.Is(err, io.EOF):
			return m.whole(), nil
		case err != nil:
			m.drop()
			return nil, &UnreadError{err}
		}
	}
}

// partialMessage is a message that is being read.
type partialMessage struct {
	budget  *Budget
	limit   int64 // bytes
	bytes   []byte
	counted int64
}

// wait makes room for a message of some length, once the budget has it.
func (m *partialMessage) wait(ctx context.Context, length int64) error {
	if err := m.budget.wait(ctx, large(length)); err != nil {
		return err
	}
	m.counted, m.bytes = large(length), make([]byte, 0, length+1) // and for its end
	return nil
}

func (m *partialMessage) add(part []byte) error {
	if int64(len(m.bytes)+len(part)) > m.limit {
		return &TooLongError{m.limit}
	}
	if err := m.room(len(part)); err != nil {
		return err
	}
	m.bytes = append(m.bytes, part...)
	return nil
}

// room makes room for more bytes and one.
func (m *partialMessage) room(more int) error {
	length := int64(len(m.bytes) + more)
	if length < int64(cap(m.bytes)) {
		return nil
	}
	length = min(max(length, 2*int64(cap(m.bytes)), 1<<10), m.limit)
	if err := m.budget.take(large(length) - m.counted); err != nil {
		return err
	}
	m.counted, m.bytes = large(length), append(make([]byte, 0, length+1), m.bytes...)
	return nil
}

// whole returns the message, of which no more counts than there is.
func (m *partialMessage) whole() []byte {
	m.budget.give(m.counted - large(int64(len(m.bytes))))
	return m.bytes
}

func (m *partialMessage) drop() {
	m.budget.give(m.counted)
	m.bytes, m.counted = nil, 0
}
