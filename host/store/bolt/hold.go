package bolt

import (
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// pinLimit is how long old versions are held for dumps while somebody wants to drop some. A dump that takes longer ends
// with ErrChanged when that happens: one whose reader went to sleep must not keep them for ever.
const pinLimit = time.Hour

// pins keeps trims and reclaims, which drop old versions, from running while dumps do, and the other way round.
type pins struct {
	mu          sync.Mutex
	limit       time.Duration
	pinned      int           // by how many
	drops       int           // that run
	overdue     bool          // a drop was kept waiting for longer than the limit
	timer       *time.Timer   // until then; nil when none waits
	dropsMayRun chan struct{} // closed when drops may try again; nil when none waits
	idle        chan struct{} // closed when no drop runs; nil when nobody waits for that
}

// Hold keeps old versions from being dropped until release is called, which may be more than once.
func (e *Engine) Hold(ctx context.Context) (release func(), err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return e.pins.pin(ctx)
}

func (h *pins) pin(ctx context.Context) (release func(), err error) {
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
	h.pinned++
	return sync.OnceFunc(h.unpin), nil
}

func (h *pins) unpin() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pinned--; h.pinned == 0 {
		h.wakeDrops()
		h.overdue = false
	}
}

// wakeDrops has drops that wait try again.
func (h *pins) wakeDrops() {
	if h.dropsMayRun == nil {
		return
	}
	h.timer.Stop()
	close(h.dropsMayRun)
	h.dropsMayRun = nil
}

// beginDrop begins to drop old versions, or says how long that must wait.
func (h *pins) beginDrop() (done func(), err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pinned > 0 && !h.overdue {
		if h.dropsMayRun == nil {
			h.dropsMayRun = make(chan struct{})
			h.timer = time.AfterFunc(h.limit, h.expire)
		}
		return nil, &store.HeldError{Released: h.dropsMayRun}
	}
	h.drops++
	return h.endDrop, nil
}

func (h *pins) expire() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dropsMayRun != nil {
		h.overdue = h.pinned > 0
		h.wakeDrops()
	}
}

func (h *pins) endDrop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.drops--; h.drops == 0 && h.idle != nil {
		close(h.idle)
		h.idle = nil
	}
}
