package bolt

import (
	"context"
	"sync"
	"time"

	"github.com/alcove-memory/alcove/host/store"
)

// pinLimit is how long dumps keep a trim or reclaim waiting. A dump that takes longer ends with ErrChanged: one whose reader sleeps
// must not keep old versions for ever.
const pinLimit = time.Hour

// pins excludes drops of old versions, by Trim and Reclaim, while a dump has them pinned, and dumps while a drop runs.
type pins struct {
	mu          sync.Mutex
	limit       time.Duration
	pinned      int           // dumps
	drops       int           // running
	overdue     bool          // a drop has waited longer than the limit
	timer       *time.Timer   // of the limit; nil when no drop waits
	dropsMayRun chan struct{} // closed when drops may try again; nil when no drop waits
	idle        chan struct{} // closed when no drop runs; nil when no dump waits
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

// wakeDrops lets waiting drops try again.
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
