package listen

import (
	"context"
	"sync"
	"time"
)

// Use detects when a server is idle. The zero value is ready for use.
type Use struct {
	mu     sync.Mutex
	now    int // clients and requests being served
	latest time.Time
}

// Begin counts a running request or client until the returned function is called.
func (u *Use) Begin() (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.now--
		u.latest = time.Now()
	}
}

// None reports whether nothing is running.
func (u *Use) None() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.now == 0
}

// Last returns when something last ended; zero: nothing has.
func (u *Use) Last() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.latest
}

// left returns how much longer the server must stay unused to count as idle; zero or less: it is idle.
func (u *Use) left(idle time.Duration) time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now > 0 {
		return idle
	}
	return idle - time.Since(u.latest)
}

// Idle blocks until nothing was served for the given time, or ctx ends.
func (u *Use) Idle(ctx context.Context, idle time.Duration) {
	u.Begin()() // starts the clock
	for {
		wait := u.left(idle)
		if wait <= 0 {
			return
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
