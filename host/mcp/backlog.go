package mcp

import (
	"context"
	"sync"
)

// backlog bounds the answers that a client has not read yet. A client that asks but does not read would otherwise make the
// server hold them all.
type backlog struct {
	limit int // bytes
	less  chan struct{}

	mu    sync.Mutex
	bytes int
}

// add adds bytes that wait to be written, or, if negative, were written.
func (b *backlog) add(bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes += bytes
	select {
	case b.less <- struct{}{}:
	default:
	}
}

// wait blocks until the backlog is within its limit. One caller at a time may wait.
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
