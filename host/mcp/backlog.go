package mcp

import (
	"context"
	"sync"
)

// backlog is the answers that a client has not read yet. A client that asks and does not read would otherwise have the
// server hold all that it asked for.
type backlog struct {
	limit int // bytes
	less  chan struct{}

	mu    sync.Mutex
	bytes int
}

// add counts bytes that wait to be written, or, below zero, that were.
func (b *backlog) add(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += bytes
	select {
	case b.less <- struct{}{}:
	default:
	}
}

// wait waits until no more bytes wait than the limit. One caller at a time may wait.
func (b *backlog) wait(ctx context.Context) {
	for !b.within() {
		select {
		case <-b.less:
		case <-ctx.Done():
			return
		}
	}
}

func (b *backlog) within() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bytes <= b.limit
}
