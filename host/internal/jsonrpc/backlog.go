package jsonrpc

import (
	"context"
	"sync"
)

// Backlog bounds the answers that a client has not read yet. A client that asks but does not read would otherwise make the
// server hold them all.
type Backlog struct {
	limit int // bytes
	less  chan struct{}

	mu    sync.Mutex
	bytes int
}

// NewBacklog returns a backlog with a limit in bytes.
func NewBacklog(limit int) *Backlog { return &Backlog{limit: limit, less: make(chan struct{}, 1)} }

// Add adds bytes that wait to be written, or, if negative, were written.
func (b *Backlog) Add(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += bytes
	select {
	case b.less <- struct{}{}:
	default:
	}
}

// Wait blocks until the backlog is within its limit. One caller at a time may wait.
func (b *Backlog) Wait(ctx context.Context) {
	for !b.Within() {
		select {
		case <-b.less:
		case <-ctx.Done():
			return
		}
	}
}

// Within reports whether the backlog is within its limit.
func (b *Backlog) Within() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes <= b.limit
}
