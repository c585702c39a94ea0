package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/alcove-memory/alcove/abi"
)

// call is one request that an instance serves, or the start of the instance. It belongs to one goroutine.
type call struct {
	module *Module
	host   Host // nil: every operation is denied
	// caller is passed to host operations. It ends when the caller cancels or at the deadline, and names the families
	// that are being called.
	caller context.Context
	// limits are the request's, at most the module's.
	limits   abi.Limits
	instance *instance
	starting bool // in the start function or in _initialize

	request  []byte // unread part
	response []byte // unread part
	output   []byte

	calls    int64
	began    time.Duration // on the sandbox's clock, as are the next four
	deadline time.Duration
	entered  time.Duration // when the guest started or resumed
	ran      time.Duration // how long it ran before entered
	consumed time.Duration // processor time of this process when the request began
	yielded  time.Duration // when others last had a turn
	holds    bool          // a slot
	fuel     fuel
	log      *lines
	stopped  *stop // why it ends, once known
}

// fuel hands out a budget in small parts, so that the host checks the clock often enough.
type fuel struct {
	left   int64 // of the budget, not yet handed out
	handed int64 // in total
}

// Sizes of parts, in units. A unit usually takes a fraction of a nanosecond, and tens of nanoseconds at worst, when every
// step misses all caches.
const (
	smallestPart = 2_000
	largestPart  = 200_000
	worstUnit    = 100 * time.Nanosecond
)

// begin waits for a slot and starts the clocks.
func (c *call) begin() error {
	if err := c.module.sandbox.slots.acquire(c.caller, c.module.family); err != nil {
		return c.gaveUp()
	}
	c.holds = true
	c.entered = c.module.sandbox.since()
	c.yielded = c.entered
	return nil
}

// end stops the clocks and releases the slot.
func (c *call) end() {
	if c.holds {
		c.leave()
	}
}

// leave pauses the guest: it is not charged for the time that follows, and another guest may run.
func (c *call) leave() {
	now := c.module.sandbox.since()
	c.ran += now - c.entered
	c.holds = false
	c.module.sandbox.slots.release()
}

// enter waits until the guest may resume.
func (c *call) enter() {
	if err := c.begin(); err != nil {
		panic(c.stopped)
	}
	c.check(c.entered)
}

// check ends the request if it reached a time limit or the caller cancelled it.
func (c *call) check(now time.Duration) {
	switch {
	case now >= c.deadline:
		c.halt(abi.ClassWall, abi.LimitWallMS, "the request took longer than %d ms", c.limits.WallMS)
	case c.overran(now):
		c.halt(abi.ClassCPU, abi.LimitCPUMS, "the guest ran for longer than %d ms", c.limits.CPUMS)
	case c.caller.Err() != nil:
		panic(c.gaveUp())
	}
}

// overran reports whether the guest used up its processor time. On a busy machine the clock also counts while other programs have
// the processor, so that the guest is charged for no more than this process got since the request began.
func (c *call) overran(now time.Duration) bool {
	limit := time.Duration(c.limits.CPUMS) * time.Millisecond
	if c.ran+now-c.entered < limit {
		return false
	}
	used := c.module.sandbox.consumed() - c.consumed
	if used < limit {
		c.ran = used - (now - c.entered)
	}
	return used >= limit
}

// pulse calls check from a host function, which a guest could call in an endless loop.
func (c *call) pulse() { c.check(c.module.sandbox.since()) }

// halt ends the request from within a host function.
func (c *call) halt(class abi.Class, limit, format string, args ...any) {
	c.stopped = &stop{class: class, limit: limit, what: fmt.Sprintf(format, args...)}
	panic(c.stopped)
}

// gaveUp returns the stop for a cancelled request or a passed deadline.
func (c *call) gaveUp() *stop {
	if errors.Is(c.caller.Err(), context.DeadlineExceeded) {
		c.stopped = &stop{class: abi.ClassWall, limit: abi.LimitWallMS, what: fmt.Sprintf("the request took longer than %d ms", c.limits.WallMS)}
	} else {
		c.stopped = &stop{class: abi.ClassCancelled, what: "the caller gave up"}
	}
	return c.stopped
}

// tick runs when the guest has used up its fuel. It gives others a turn and hands out more, at least need.
func (c *call) tick(need int64) int64 {
	now := c.module.sandbox.since()
	c.check(now)
	if now-c.yielded >= turn {
		now = c.yield(now)
	}
	return c.refill(now, need)
}

// turn is the minimum time that a guest runs while others wait. Ticks are much more frequent, and passing on a slot
// takes a few microseconds.
const turn = 200 * time.Microsecond

// yield lets other guests and goroutines run.
func (c *call) yield(now time.Duration) time.Duration {
	if c.module.sandbox.slots.waited() {
		c.leave()
		c.enter()
		return c.entered
	}
	runtime.Gosched()
	c.yielded = c.module.sandbox.since()
	c.entered += c.yielded - now // others ran
	return c.yielded
}

// refill hands out fuel for about a third of a millisecond, and never enough for the worst code to run far beyond a
// time limit.
func (c *call) refill(now time.Duration, need int64) int64 {
	f := &c.fuel
	if f.left <= 0 || need > f.left {
		c.halt(abi.ClassFuel, abi.LimitFuel, "the request used up its fuel of %d units", c.limits.Fuel)
	}
	left := min(c.deadline-now, time.Duration(c.limits.CPUMS)*time.Millisecond-(c.ran+now-c.entered))
	part := min(max(int64(left/worstUnit), smallestPart), largestPart)
	part = min(max(part, need), f.left)
	f.left -= part
	f.handed += part
	return part
}
