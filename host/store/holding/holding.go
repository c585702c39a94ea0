// Package holding excludes drops of old versions while a dump of them runs.
package holding

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// DefaultLimit is how long dumps block drops. A longer dump ends with store.ErrChanged: a stalled reader must not retain old
// versions forever.
const DefaultLimit = time.Hour

// Holds is the mutual exclusion of dumps and of drops of old versions by Trim and Reclaim. The zero value is ready for use.
type Holds struct {
	Limit time.Duration // of a hold that drops wait for; 0: DefaultLimit. It is set before the first call

	mu          sync.Mutex
	held        int           // running dumps
	drops       int           // running drops
	overdue     bool          // a drop has waited longer than the limit
	timer       *time.Timer   // of the limit; nil: no drop waits
	dropsMayRun chan struct{} // closed when drops may retry; nil: no drop waits
	idle        chan struct{} // closed when no drop runs; nil: no dump waits
}

// Hold prevents drops until release is called. It waits for running drops. release is idempotent.
func (h *Holds) Hold(ctx context.Context) (release func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.drops > 0 {
		if h.idle == nil {
			h.idle = make(chan struct{})
		}
		idle := h.idle
		h.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
		}
		h.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	h.held++
	return sync.OnceFunc(h.release), nil
}

func (h *Holds) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held--; h.held == 0 {
		h.retryDrops()
		h.overdue = false
	}
}

// retryDrops lets waiting drops retry.
func (h *Holds) retryDrops() {
	if h.dropsMayRun == nil {
		return
	}
	h.timer.Stop()
	close(h.dropsMayRun)
	h.dropsMayRun = nil
}

// BeginDrop begins a drop of old versions, or returns a HeldError.
func (h *Holds) BeginDrop() (done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held > 0 && !h.overdue {
		if h.dropsMayRun == nil {
			h.dropsMayRun = make(chan struct{})
			h.timer = time.AfterFunc(cmp.Or(h.Limit, DefaultLimit), h.expire)
		}
		return nil, &store.HeldError{Released: h.dropsMayRun}
	}
	h.drops++
	return h.endDrop, nil
}

func (h *Holds) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dropsMayRun != nil {
		h.overdue = h.held > 0
		h.retryDrops()
	}
}

func (h *Holds) endDrop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drops--; h.drops == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}
