package bolt

import (
	"context"
	"sync"
	"time"
)

// commitWait is how long anybody lets commits go first, at most: a backup comes to its end however busy the store is.
const commitWait = 3 * time.Millisecond

// commitGate tells whether a commit is being written. What a backup writes to the disk at that moment would keep it waiting.
type commitGate struct {
	mu   sync.Mutex
	idle chan struct{} // closed when the commit is written; nil when there is none
}

func (t *commitGate) begin() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle = make(chan struct{})
}

func (t *commitGate) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.idle)
	t.idle = nil
}

// WaitTurn waits until no commit is being written, but not for long: whoever writes to the same disk lets commits go first.
func (e *Engine) WaitTurn(ctx context.Context) { e.writing.wait(ctx) }

// wait waits until no commit is being written.
func (t *commitGate) wait(ctx context.Context) {
	t.mu.Lock()
	idle := t.idle
	t.mu.Unlock()
	if idle == nil {
		return
	}
	limit := time.NewTimer(commitWait)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	case <-ctx.Done():
	}
}
