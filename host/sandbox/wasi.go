package sandbox

import (
	"encoding/binary"
	"io"
	"runtime"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/alcove-memory/alcove/abi"
)

// errno is a WASI error number.
type errno = uint64

const (
	errnoSuccess errno = 0
	errnoBadFile errno = 8
	errnoFault   errno = 21
	errnoInvalid errno = 28
	errnoIO      errno = 29
	errnoNoSup   errno = 58
)

// wasiFunctions returns the subset of WASI that Go guests need: clocks, randomness, exit and output. There are no
// files, arguments or environment.
func wasiFunctions() map[string]function {
	badFile := func(_ *call, _ api.Module, stack []uint64) { stack[0] = errnoBadFile }
	return map[string]function{
		"args_get":            func(_ *call, _ api.Module, stack []uint64) { stack[0] = errnoSuccess },
		"environ_get":         func(_ *call, _ api.Module, stack []uint64) { stack[0] = errnoSuccess },
		"args_sizes_get":      wasiNoSizes,
		"environ_sizes_get":   wasiNoSizes,
		"clock_time_get":      wasiClock,
		"random_get":          wasiRandom,
		"sched_yield":         wasiYield,
		"proc_exit":           wasiExit,
		"poll_oneoff":         wasiPoll,
		"fd_write":            wasiWrite,
		"fd_read":             wasiRead,
		"fd_close":            wasiClose,
		"fd_fdstat_get":       wasiStat,
		"fd_fdstat_set_flags": wasiClose,
		"fd_prestat_get":      badFile,
		"fd_prestat_dir_name": badFile,
	}
}

// standard reports whether fd is standard input, output or error.
func standard(fd uint64) bool { return uint32(fd) <= 2 }

// wasiNoSizes implements args_sizes_get(count, bytes) and environ_sizes_get.
func wasiNoSizes(_ *call, m api.Module, stack []uint64) {
	if !m.Memory().WriteUint32Le(uint32(stack[0]), 0) || !m.Memory().WriteUint32Le(uint32(stack[1]), 0) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// WASI clocks.
const (
	clockReal      = 0
	clockMonotonic = 1
)

// wasiClock implements clock_time_get(clock, precision, time).
func wasiClock(c *call, m api.Module, stack []uint64) {
	c.pulse()
	var now uint64
	switch uint32(stack[0]) {
	case clockReal:
		now = uint64(c.module.sandbox.now().UnixNano())
	case clockMonotonic:
		now = uint64(c.module.sandbox.since())
	default:
		stack[0] = errnoInvalid
		return
	}
	if !m.Memory().WriteUint64Le(uint32(stack[2]), now) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// randomChunk is the number of bytes generated between checks of the clock.
const randomChunk = 64 << 10

// wasiRandom implements random_get(pointer, length).
func wasiRandom(c *call, m api.Module, stack []uint64) {
	c.pulse()
	to, ok := m.Memory().Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		stack[0] = errnoFault
		return
	}
	for len(to) > 0 {
		n := min(len(to), randomChunk)
		if _, err := io.ReadFull(c.module.sandbox.rand, to[:n]); err != nil {
			stack[0] = errnoIO
			return
		}
		to = to[n:]
		c.pulse()
	}
	stack[0] = errnoSuccess
}

// wasiYield implements sched_yield(). The next tick gives others a turn.
func wasiYield(c *call, _ api.Module, stack []uint64) {
	c.pulse()
	runtime.Gosched()
	stack[0] = errnoSuccess
}

// wasiExit implements proc_exit(code).
func wasiExit(c *call, _ api.Module, stack []uint64) {
	if code := uint32(stack[0]); code != 0 && c.instance.wasRefused() {
		c.halt(abi.ClassMemory, abi.LimitMemoryPages, "the guest exited with code %d after it was refused more memory than %d pages, or a larger table", code, c.limits.MemoryPages)
	}
	c.halt(abi.ClassExit, "", "the guest exited with code %d", uint32(stack[0]))
}

// wasiClose implements fd_close(fd) and fd_fdstat_set_flags(fd, flags), which change nothing.
func wasiClose(c *call, _ api.Module, stack []uint64) {
	c.pulse()
	if !standard(stack[0]) {
		stack[0] = errnoBadFile
		return
	}
	stack[0] = errnoSuccess
}

// wasiStat implements fd_fdstat_get(fd, stat): the standard files are character devices without any rights.
func wasiStat(c *call, m api.Module, stack []uint64) {
	c.pulse()
	if !standard(stack[0]) {
		stack[0] = errnoBadFile
		return
	}
	const characterDevice = 2
	if !m.Memory().Write(uint32(stack[1]), append([]byte{characterDevice}, make([]byte, 23)...)) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// Bounds of one write: the buffers it accepts, and the bytes logged of each.
const (
	maxVectors = 256
	maxPrint   = 1 << 20
)

// wasiRead implements fd_read(fd, vectors, count, read): standard input is empty.
func wasiRead(c *call, m api.Module, stack []uint64) {
	c.pulse()
	switch {
	case uint32(stack[0]) != 0:
		stack[0] = errnoBadFile
	case !m.Memory().WriteUint32Le(uint32(stack[3]), 0):
		stack[0] = errnoFault
	default:
		stack[0] = errnoSuccess
	}
}

// wasiWrite implements fd_write(fd, vectors, count, written): output goes to the log.
func wasiWrite(c *call, m api.Module, stack []uint64) {
	c.pulse()
	fd := uint32(stack[0])
	if fd != 1 && fd != 2 {
		stack[0] = errnoBadFile
		return
	}
	vectors, ok := m.Memory().Read(uint32(stack[1]), min(uint32(stack[2]), maxVectors)*8) // the guest retries the rest
	if !ok {
		stack[0] = errnoFault
		return
	}
	var written uint32
	for ; len(vectors) > 0; vectors = vectors[8:] {
		data, ok := m.Memory().Read(binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:]))
		if !ok {
			stack[0] = errnoFault
			return
		}
		c.log.print(fd, data[:min(len(data), maxPrint)])
		c.pulse()
		written += uint32(len(data))
	}
	if !m.Memory().WriteUint32Le(uint32(stack[3]), written) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// Sizes of poll_oneoff's records in bytes, a bound on their number, and the flag for absolute times.
const (
	subscriptionSize = 48
	eventSize        = 32
	maxSubscriptions = 64
	absoluteTime     = 1
)

// subscription is an event that poll_oneoff waits for.
type subscription struct {
	userdata uint64
	kind     byte // 0: clock; others: files
	wait     time.Duration
	errno    errno
}

// wasiPoll implements poll_oneoff(subscriptions, events, count, happened). Guests can wait for clocks only.
func wasiPoll(c *call, m api.Module, stack []uint64) {
	c.pulse()
	count := uint32(stack[2])
	if count == 0 || count > maxSubscriptions {
		stack[0] = errnoInvalid
		return
	}
	in, ok := m.Memory().Read(uint32(stack[0]), count*subscriptionSize)
	out, ok2 := m.Memory().Read(uint32(stack[1]), count*eventSize)
	if !ok || !ok2 {
		stack[0] = errnoFault
		return
	}
	subscriptions := make([]subscription, count)
	shortest := time.Duration(1<<63 - 1)
	for i := range subscriptions {
		subscriptions[i] = c.subscription(in[i*subscriptionSize:])
		shortest = min(shortest, subscriptions[i].wait)
	}
	c.sleep(shortest)
	if !m.Memory().WriteUint32Le(uint32(stack[3]), writeEvents(subscriptions, shortest, out)) {
		stack[0] = errnoFault
		return
	}
	stack[0] = errnoSuccess
}

// subscription decodes one subscription. An unsupported one fires at once, with an error.
func (c *call) subscription(raw []byte) subscription {
	s := subscription{userdata: binary.LittleEndian.Uint64(raw), kind: raw[8]}
	clock, timeout, flags := binary.LittleEndian.Uint32(raw[16:]), binary.LittleEndian.Uint64(raw[24:]), binary.LittleEndian.Uint16(raw[40:])
	var now time.Duration
	switch {
	case s.kind != 0:
		s.errno = errnoNoSup
		return s
	case clock == clockReal:
		now = time.Duration(c.module.sandbox.now().UnixNano())
	case clock == clockMonotonic:
		now = c.module.sandbox.since()
	default:
		s.errno = errnoInvalid
		return s
	}
	s.wait = time.Duration(min(timeout, 1<<62))
	if flags&absoluteTime != 0 {
		s.wait -= now
	}
	s.wait = max(s.wait, 0)
	return s
}

// writeEvents writes an event for each subscription whose wait is at most shortest, and returns their number.
func writeEvents(subscriptions []subscription, shortest time.Duration, out []byte) uint32 {
	var n uint32
	for _, s := range subscriptions {
		if s.wait > shortest {
			continue
		}
		event := out[n*eventSize : (n+1)*eventSize]
		clear(event)
		binary.LittleEndian.PutUint64(event, s.userdata)
		binary.LittleEndian.PutUint16(event[8:], uint16(s.errno))
		event[10] = s.kind
		n++
	}
	return n
}

// sleep waits without holding a slot, at most until the deadline.
func (c *call) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	c.leave()
	timer := time.NewTimer(min(d, time.Hour))
	select {
	case <-timer.C:
	case <-c.caller.Done():
		timer.Stop()
	}
	c.enter()
}
