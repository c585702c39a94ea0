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

// Rest counts the failures of a family's hooks. Its methods may be called concurrently; the zero Rest has none.
type Rest struct {
	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // not called before
}

// asked records the outcome of a hook.
func (r *Rest) asked(err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		r.failed = 0
		return
	}
	if r.failed++; r.failed >= FailuresInRow {
		r.failed, r.until = 0, now.Add(Pause)
	}
}

// Begin suspends the hooks for Pause.
func (r *Rest) Begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.until = 0, now.Add(Pause)
}

// Resting reports whether the hooks are suspended. A rest longer than Pause is over: the clock was put back.
func (r *Rest) Resting(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.until.Sub(now)
	return left > 0 && left <= Pause
}
