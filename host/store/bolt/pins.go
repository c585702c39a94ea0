package bolt

import (
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// pinLimit is how long dumps block trims and reclaims. A longer dump ends with ErrChanged: a stalled reader must not
// retain old versions forever.
const pinLimit = time.Hour

// pins is the mutual exclusion of dumps and of drops of old versions by Trim and Reclaim.
type pins struct {
	mu          sync.Mutex
	limit       time.Duration
	pinned      int           // running dumps
	drops       int           // running drops
	overdue     bool          // a drop has waited longer than the limit
	timer       *time.Timer   // of the limit; nil: no drop waits
	dropsMayRun chan struct{} // closed when drops may retry; nil: no drop waits
	idle        chan struct{} // closed when no drop runs; nil: no dump waits
}

// HoldVersions prevents drops of old versions until release is called. release is idempotent.
func (e *Engine) HoldVersions(ctx context.Context) (release func(), err error) {
	end, err := e.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return e.pins.pin(ctx)
}

func (p *pins) pin(ctx context.Context) (release func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.drops > 0 {
		if p.idle == nil {
			p.idle = make(chan struct{})
		}
		idle := p.idle
		p.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	p.pinned++
	return sync.OnceFunc(p.unpin), nil
}

func (p *pins) unpin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinned--; p.pinned == 0 {
		p.wakeDrops()
		p.overdue = false
	}
}

// wakeDrops lets waiting drops retry.
func (p *pins) wakeDrops() {
	if p.dropsMayRun == nil {
		return
	}
	p.timer.Stop()
	close(p.dropsMayRun)
	p.dropsMayRun = nil
}

// beginDrop begins a drop of old versions, or returns a HeldError.
func (p *pins) beginDrop() (done func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pinned > 0 && !p.overdue {
		if p.dropsMayRun == nil {
			p.dropsMayRun = make(chan struct{})
			p.timer = time.AfterFunc(p.limit, p.expire)
		}
		return nil, &store.HeldError{Released: p.dropsMayRun}
	}
	p.drops++
	return p.endDrop, nil
}

func (p *pins) expire() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dropsMayRun != nil {
		p.overdue = p.pinned > 0
		p.wakeDrops()
	}
}

func (p *pins) endDrop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.drops--; p.drops == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}
