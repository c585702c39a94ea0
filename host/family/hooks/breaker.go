package hooks

import (
	"sync"
	"time"
)

// A hook that failed FailuresInRow times is not called for Pause: each failure may use up its time limit.
const (
	FailuresInRow = 3
	Pause         = 30 * time.Second
)

// Breaker suspends a family's hooks after several failures in a row. Its methods may be called concurrently; the zero
// Breaker has counted none.
type Breaker struct {
	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // not called before
}

// record records the outcome of a hook.
func (b *Breaker) record(err error, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.failed = 0
		return
	}
	if b.failed++; b.failed >= FailuresInRow {
		b.failed, b.until = 0, now.Add(Pause)
	}
}

// Trip suspends the hooks for Pause.
func (b *Breaker) Trip(now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failed, b.until = 0, now.Add(Pause)
}

// Open reports whether the hooks are suspended. A suspension longer than Pause is over: the clock was put back.
func (b *Breaker) Open(now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := b.until.Sub(now)
	return left > 0 && left <= Pause
}
