package bolt

import (
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// holdLimit is how long old versions are held for dumps while somebody wants to drop some. A dump that takes longer ends
// with ErrChanged when that happens: one whose reader went to sleep must not keep them for ever.
const holdLimit = time.Hour

// hold keeps trims and reclaims, which drop old versions, from running while dumps do, and the other way round.
type hold struct {
	mu      sync.Mutex
	limit   time.Duration
	held    int           // by how many
	drops   int           // that run
	overdue bool          // a drop was kept waiting for longer than the limit
	timer   *time.Timer   // until then; nil when none waits
	free    chan struct{} // closed when drops may try again; nil when none waits
	idle    chan struct{} // closed when no drop runs; nil when nobody waits for that
}

// Hold keeps old versions from being dropped until release is called, which may be more than once.
func (e *Engine) Hold(ctx context.Context) (release func(), err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return e.hold.take(ctx)
}

func (h *hold) take(ctx context.Context) (release func(), err error) {
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

func (h *hold) release() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held--; h.held == 0 {
		h.letDrops()
		h.overdue = false
	}
}

// letDrops has drops that wait try again.
func (h *hold) letDrops() {
	if h.free == nil {
		return
	}
	h.timer.Stop()
	close(h.free)
	h.free = nil
}

// drop begins to drop old versions, or says how long that must wait.
func (h *hold) drop() (done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held > 0 && !h.overdue {
		if h.free == nil {
			h.free = make(chan struct{})
			h.timer = time.AfterFunc(h.limit, h.expire)
		}
		return nil, &store.HeldError{Released: h.free}
	}
	h.drops++
	return h.dropped, nil
}

func (h *hold) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.free != nil {
		h.overdue = h.held > 0
		h.letDrops()
	}
}

func (h *hold) dropped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drops--; h.drops == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}
