package bolt

import (
	"context"
	"sync"
	"time"
)

// commitWait bounds a backup's wait for a commit, so that it ends however busy the space is.
const commitWait = 3 * time.Millisecond

// commitGate tracks whether a commit is being written. A backup that writes to the same disk would delay it.
type commitGate struct {
	mu   sync.Mutex
	idle chan struct{} // closed when the commit is written; nil: none
}

func (g *commitGate) begin() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.idle = make(chan struct{})
}

func (g *commitGate) end() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.idle)
	g.idle = nil
}

// YieldToCommits waits until no commit is being written, at most 3 ms. A backup calls it before it writes to the same disk.
func (e *Engine) YieldToCommits(ctx context.Context) { e.writing.wait(ctx) }

// wait waits until no commit is being written.
func (g *commitGate) wait(ctx context.Context) {
	g.mu.Lock()
	idle := g.idle
	g.mu.Unlock()
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
