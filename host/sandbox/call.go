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
	source   []byte // unread part
	output   []byte

	calls    int64
	began    time.Duration // on the sandbox's clock, as are deadline, charged and yielded
	deadline time.Duration
	ran      time.Duration // what the guest was charged
	charged  time.Duration // when it was last charged or resumed
	meter    processor     // at charged, or zero
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
		return c.stopReason()
	}
	c.holds = true
	c.yielded = c.module.sandbox.since()
	c.resume(c.yielded)
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
	c.charge(c.module.sandbox.since())
	c.holds = false
	c.module.sandbox.slots.release()
}

// enter waits until the guest may resume.
func (c *call) enter() {
	if err := c.begin(); err != nil {
		panic(c.stopped)
	}
	c.check(c.charged)
}

// check ends the request if it reached a time limit or the caller cancelled it.
func (c *call) check(now time.Duration) {
	switch {
	case now >= c.deadline:
		c.halt(abi.ClassWall, abi.LimitWallMS, "the request took longer than %d ms", c.limits.WallMS)
	case c.overran(now):
		c.halt(abi.ClassCPU, abi.LimitCPUMS, "the guest ran for longer than %d ms", c.limits.CPUMS)
	case c.caller.Err() != nil:
		panic(c.stopReason())
	}
}

// overran reports whether the guest used up its processor time.
func (c *call) overran(now time.Duration) bool {
	if c.ran+now-c.charged < c.cpu() {
		return false
	}
	c.charge(now)
	c.resume(now)
	return c.ran >= c.cpu()
}

// cpu is the guest's limit of processor time.
func (c *call) cpu() time.Duration { return millis(c.limits.CPUMS) }

// resume starts an interval that the guest will be charged for. Reading the processor's time costs as much as a short call of the host, so
// that it is not done before the guest has used an eighth of its limit.
func (c *call) resume(now time.Duration) {
	c.charged, c.meter = now, processor{}
	if c.ran >= c.cpu()/8 {
		c.meter = c.module.sandbox.processor()
	}
}

// charge ends an interval. On a busy machine the clock also counts while other programs, and other threads of this one, have the processor,
// so that the guest is charged for no more than its thread got. A guest that changed threads is charged by the clock.
func (c *call) charge(now time.Duration) {
	passed := now - c.charged
	if c.meter != (processor{}) {
		if m := c.module.sandbox.processor(); m.thread == c.meter.thread {
			passed = min(passed, max(0, m.used-c.meter.used))
		}
	}
	c.ran += passed
}

// pulse calls check from a host function, which a guest could call in an endless loop.
func (c *call) pulse() { c.check(c.module.sandbox.since()) }

// halt ends the request from within a host function.
func (c *call) halt(class abi.Class, limit, format string, args ...any) {
	c.stopped = &stop{class: class, limit: limit, what: fmt.Sprintf(format, args...)}
	panic(c.stopped)
}

// stopReason returns the stop for a cancelled request or a passed deadline.
func (c *call) stopReason() *stop {
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
		return c.charged
	}
	c.charge(now)
	runtime.Gosched()
	c.yielded = c.module.sandbox.since()
	c.resume(c.yielded)
	return c.yielded
}

// refill hands out fuel for about a third of a millisecond, and never enough for the worst code to run far beyond a
// time limit.
func (c *call) refill(now time.Duration, need int64) int64 {
	f := &c.fuel
	if f.left <= 0 || need > f.left {
		c.halt(abi.ClassFuel, abi.LimitFuel, "the request used up its fuel of %d units", c.limits.Fuel)
	}
	left := min(c.deadline-now, c.cpu()-(c.ran+now-c.charged))
	part := min(max(int64(left/worstUnit), smallestPart), largestPart)
	part = min(max(part, need), f.left)
	f.left -= part
	f.handed += part
	return part
}
