package bolt

import (
	"context"
	"sync"
	"time"
)

// commitWait is how long a backup lets commits go first, at most: it must end however busy the space is.
const commitWait = 3 * time.Millisecond

// commitGate is closed while a commit is being written: what a backup writes to the disk then would delay the commit.
type commitGate struct {
	mu   sync.Mutex
	idle chan struct{} // closed when the commit is written; nil when there is none
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

// WaitTurn waits until no commit is being written, for 3 ms at most. A backup calls it before it writes to the same disk.
func (e *Engine) WaitTurn(ctx context.Context) { e.writing.wait(ctx) }

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
