package hostile

import (
	"math"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// wasis are guests that abuse the supported functions of WASI.
func wasis() []Case {
	var all []Case
	short := abi.Limits{WallMS: 30, CPUMS: 1000}
	poll := func(name string, class abi.Class, events int32, subscriptions ...[]byte) {
		g := newGuest("poll_oneoff")
		var all48 []byte
		for _, s := range subscriptions {
			all48 = append(all48, s...)
		}
		g.Put(2048, all48)
		g.handle(
			expect(wasiCall(g, "poll_oneoff", []int32{2048, 8192, int32(len(subscriptions)), 512}), 0),
			expect(asm.Load(wasm.OpI32Load, asm.I32(512)), events), g.fine())
		c := g.ends(name, class)
		c.Limits = short
		all = append(all, c)
	}
	year := uint64(365 * 24 * 3600 * 1e9)
	poll("sleeping for a year", abi.ClassWall, 1, subscription(0, 1, year, 0))
	poll("sleeping for a year of the real clock", abi.ClassWall, 1, subscription(0, 0, year, 0))
	poll("sleeping until the end of time", abi.ClassWall, 1, subscription(0, 0, math.MaxUint64, 1))
	poll("sleeping for ever", abi.ClassWall, 1, subscription(0, 1, math.MaxUint64, 0))
	poll("sleeping twice at once", abi.ClassWall, 2, subscription(0, 1, year, 0), subscription(0, 0, year, 0))
	poll("sleeping until 1970", abi.ClassOK, 1, subscription(0, 0, 1, 1))
	poll("waiting for a file to be read", abi.ClassOK, 1, subscription(1, 0, 0, 0))
	poll("waiting for a file to be written", abi.ClassOK, 1, subscription(2, 1, 0, 0))
	poll("waiting for what there is not", abi.ClassOK, 1, subscription(9, 0, 0, 0))
	poll("waiting for a clock that there is not", abi.ClassOK, 1, subscription(0, 7, year, 0))
	asleep := newGuest("poll_oneoff")
	asleep.Put(2048, subscription(0, 1, year, 0))
	asleep.initialize(invoke(asleep, "poll_oneoff", []int32{2048, 8192, 1, 512}))
	asleep.handle(asleep.fine())
	c := asleep.ends("sleeping in _initialize", abi.ClassWall)
	c.Limits = short
	return append(append(append(all, c), quits()...), files()...)
}

// quits are guests that call proc_exit.
func quits() []Case {
	var all []Case
	for _, code := range []int32{0, 1, -1} {
		g := newGuest("proc_exit")
		g.handle(g.fine(), asm.Op(wasm.OpDrop), invoke(g, "proc_exit", []int32{code}), asm.I32(0))
		all = append(all, g.ends("exit with "+decimal(code), abi.ClassExit))
	}
	start := newGuest("proc_exit")
	start.starts(invoke(start, "proc_exit", []int32{0}))
	start.handle(start.fine())
	initialize := newGuest("proc_exit")
	initialize.initialize(invoke(initialize, "proc_exit", []int32{0}))
	initialize.handle(initialize.fine())
	return append(all, start.ends("exit in the start function", abi.ClassExit), initialize.ends("exit in _initialize", abi.ClassExit))
}

// files are guests that try to open files.
func files() []Case {
	var all []Case
	add := func(name string, errno int32, function string, arguments ...int32) {
		g := newGuest(function)
		g.Put(512, words(1024, 4))
		g.handle(expect(wasiCall(g, function, arguments), errno), g.fine())
		all = append(all, g.ends(name, abi.ClassOK))
	}
	add("printing to standard input", badFile, "fd_write", 0, 512, 1, 2048)
	add("printing to another file", badFile, "fd_write", 3, 512, 1, 2048)
	add("printing to a negative file", badFile, "fd_write", -1, 512, 1, 2048)
	add("reading standard input", 0, "fd_read", 0, 512, 1, 2048)
	add("reading standard output", badFile, "fd_read", 1, 512, 1, 2048)
	add("reading another file", badFile, "fd_read", 3, 512, 1, 2048)
	add("closing another file", badFile, "fd_close", 3)
	add("the first open directory", badFile, "fd_prestat_get", 3, 2048)
	add("the name of the first open directory", badFile, "fd_prestat_dir_name", 3, 2048, 100)
	add("a clock that there is not", invalid, "clock_time_get", 9, 0, 2048)
	closing := newGuest("fd_close", "fd_write")
	closing.Put(512, words(1024, 4))
	closing.handle(
		invoke(closing, "fd_close", []int32{1}), invoke(closing, "fd_close", []int32{2}), invoke(closing, "fd_write", []int32{1, 512, 1, 2048}),
		closing.fine())
	printing := newGuest("fd_write")
	printing.Put(512, words(0, 65536))
	printing.handle(repeated(20, invoke(printing, "fd_write", []int32{1, 512, 1, 2048})), printing.fine())
	counting := newGuest("args_sizes_get", "environ_sizes_get")
	counting.handle(
		expect(wasiCall(counting, "args_sizes_get", []int32{2048, 2052}), 0), expect(asm.Load(wasm.OpI32Load, asm.I32(2048)), 0),
		expect(wasiCall(counting, "environ_sizes_get", []int32{2056, 2060}), 0), expect(asm.Load(wasm.OpI32Load, asm.I32(2056)), 0),
		counting.fine())
	return append(all,
		closing.ends("closing standard output", abi.ClassOK),
		printing.ends("printing all memory", abi.ClassOK),
		counting.ends("arguments and environment", abi.ClassOK))
}
