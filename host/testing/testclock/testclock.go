// Package testclock is a clock that tests set. Background transactions read the clock as well, so that it is safe for them.
package testclock

import (
	"sync/atomic"
	"time"
)

// Clock stands still until it is set.
type Clock struct{ now atomic.Pointer[time.Time] }

// At returns a clock that stands at t.
func At(t time.Time) *Clock {
	c := &Clock{}
	c.Set(t)
	return c
}

// Now is what the clock shows.
func (c *Clock) Now() time.Time { return *c.now.Load() }

// Set puts the clock forward or back to t.
func (c *Clock) Set(t time.Time) { c.now.Store(&t) }

// Add puts the clock forward by d. One goroutine at a time may do so.
func (c *Clock) Add(d time.Duration) { c.Set(c.Now().Add(d)) }
