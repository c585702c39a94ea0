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
	// caller is what host operations get. It ends when the caller gives up and at the deadline, and names the families
	// that are being called.
	caller context.Context
	// caller ends when the caller gives up or at the deadline, and is what host operations get.
	limits   abi.Limits
	instance *instance
	starting bool // in the start function or in _initialize

	request  []byte // what is left of it
	response []byte // what is left of it
	output   []byte

	calls    int64
	began    time.Duration // of the sandbox's clock, as the next three
	deadline time.Duration
	entered  time.Duration // when the guest began to run, or went on
	ran      time.Duration // how long it ran before that
	yielded  time.Duration // when others had a turn
	holds    bool          // a slot
	fuel     fuel
	log      *lines
	stopped  *stop // why it ends, once that is known
}

// fuel is how a budget is handed out in small parts, so that the host looks at the clock often enough.
type fuel struct {
	left   int64 // of the budget, not handed out yet
	handed int64 // in all
}

// Sizes of parts, in units. A unit is a fraction of a nanosecond as a rule, and some tens of nanoseconds at worst,
// where every step misses all caches.
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

// end stops the clocks and gives the slot back.
func (c *call) end() {
	if c.holds {
		c.leave()
	}
}

// leave is called when the guest stops running for a while: time that passes now is not its own, and another
// guest may run.
func (c *call) leave() {
	now := c.module.sandbox.since()
	c.ran += now - c.entered
	c.holds = false
	c.module.sandbox.slots.release()
}

// enter waits until the guest may go on.
func (c *call) enter() {
	if err := c.begin(); err != nil {
		panic(c.stopped)
	}
	c.check(c.entered)
}

// check ends the request when a limit of time was reached, or the caller gave up.
func (c *call) check(now time.Duration) {
	switch {
	case now >= c.deadline:
		c.halt(abi.ClassWall, abi.LimitWallMS, "the request took longer than %d ms", c.limits.WallMS)
	case c.ran+now-c.entered >= time.Duration(c.limits.CPUMS)*time.Millisecond:
		c.halt(abi.ClassCPU, abi.LimitCPUMS, "the guest ran for longer than %d ms", c.limits.CPUMS)
	case c.caller.Err() != nil:
		panic(c.gaveUp())
	}
}

// pulse is check for the host's functions, which a guest could call all day.
func (c *call) pulse() { c.check(c.module.sandbox.since()) }

// halt ends the request from within one of the host's functions.
func (c *call) halt(class abi.Class, limit, format string, args ...any) {
	c.stopped = &stop{class: class, limit: limit, what: fmt.Sprintf(format, args...)}
	panic(c.stopped)
}

// gaveUp says that the caller did, or that the deadline passed.
func (c *call) gaveUp() *stop {
	if errors.Is(c.caller.Err(), context.DeadlineExceeded) {
		c.stopped = &stop{class: abi.ClassWall, limit: abi.LimitWallMS, what: fmt.Sprintf("the request took longer than %d ms", c.limits.WallMS)}
	} else {
		c.stopped = &stop{class: abi.ClassCancelled, what: "the caller gave up"}
	}
	return c.stopped
}

// tick is called when the guest has used up the fuel it was handed. It gives others a turn, and hands out more.
// need is the least that helps.
func (c *call) tick(need int64) int64 {
	now := c.module.sandbox.since()
	c.check(now)
	if now-c.yielded >= turn {
		now = c.yield(now)
	}
	return c.refill(now, need)
}

// turn is how long a guest runs at least while others wait; a tick comes much more often, and giving up a slot for
// another takes some microseconds.
const turn = 200 * time.Microsecond

// yield lets other guests and other goroutines run.
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

// refill hands out fuel for about a third of a millisecond, and never so much that the worst code could run far
// beyond a limit of time with it.
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
