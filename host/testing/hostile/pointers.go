package hostile

import (
	"fmt"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// forged are buffers that are partly or wholly outside a memory of one page.
func forged() []struct {
	name        string
	ptr, length int32
} {
	return []struct {
		name        string
		ptr, length int32
	}{
		{"a negative pointer", -1, 1},
		{"a pointer to the end", 65536, 1},
		{"a buffer that ends one byte behind the end", 65530, 7},
		{"a buffer that wraps", -16, 32},
		{"nothing behind the end", 65537, 0},
		{"a negative length", 1024, -1},
		{"a length of two billion", 1024, 1<<31 - 1},
		{"pointer and length of two billion", -1 << 31, -1 << 31},
		{"a pointer far away, and no length", 1 << 30, 0},
	}
}

// pointers are guests that pass invalid pointers. The host returns an error, and they continue.
func pointers() []Case {
	var all []Case
	add := func(name string, code func(g *guest) asm.Code) {
		g := newGuest()
		g.Put(text, []byte("config.get"))
		g.handle(code(g), g.fine())
		all = append(all, g.ends(name, abi.ClassOK))
	}
	outside := int32(abi.FaultRange)
	for _, f := range forged() {
		ptr, length := asm.I32(f.ptr), asm.I32(f.length)
		add("read into "+f.name, func(g *guest) asm.Code { return expect(asm.Call(g.read, asm.I32(0), ptr, length), outside) })
		add("write of "+f.name, func(g *guest) asm.Code { return expect(asm.Call(g.write, asm.I32(0), ptr, length), outside) })
		add("log of "+f.name, func(g *guest) asm.Code { return expect(asm.Call(g.write, asm.I32(1), ptr, length), outside) })
		add("call of an op in "+f.name, func(g *guest) asm.Code { return fails(asm.Call(g.call, ptr, length, asm.I32(0), asm.I32(2))) })
		add("call with a request in "+f.name, func(g *guest) asm.Code {
			return fails(asm.Call(g.call, asm.I32(text), asm.I32(10), ptr, length))
		})
	}
	add("read of a response to a call that was forged, all of it", func(g *guest) asm.Code {
		return asm.Seq(
			asm.Set(2, asm.Two(wasm.OpI32Sub, asm.I32(0), asm.Call(g.call, asm.I32(-1), asm.I32(-1), asm.I32(-1), asm.I32(-1)))),
			asm.If(asm.Two(wasm.OpI32Ne, asm.Call(g.read, asm.I32(1), asm.I32(2048), asm.I32(4096)), asm.Get(2)), asm.Unreachable()))
	})
	return append(all, wasiPointers()...)
}

// fails traps unless a call returns a negative number.
func fails(call asm.Code) asm.Code {
	return asm.If(asm.Two(wasm.OpI32GeS, call, asm.I32(0)), asm.Unreachable())
}

// Error numbers of WASI.
const (
	badFile = 8
	fault   = 21
	invalid = 28
)

// wasiPointers call functions of WASI with pointers outside of memory.
func wasiPointers() []Case {
	var all []Case
	for _, c := range []struct {
		what, name string
		errno      int32
		arguments  []int32
	}{
		{"time to nowhere", "clock_time_get", fault, []int32{0, 0, 65530}},
		{"time to a negative pointer", "clock_time_get", fault, []int32{0, 0, -4}},
		{"randomness to nowhere", "random_get", fault, []int32{65530, 7}},
		{"randomness of four billion bytes", "random_get", fault, []int32{0, -1}},
		{"randomness that wraps", "random_get", fault, []int32{-8, 16}},
		{"counts of arguments to nowhere", "args_sizes_get", fault, []int32{65534, 0}},
		{"counts of the environment to nowhere", "environ_sizes_get", fault, []int32{0, -1}},
		{"the state of a file to nowhere", "fd_fdstat_get", fault, []int32{1, 65530}},
		{"how much was read, to nowhere", "fd_read", fault, []int32{0, 0, 0, -2}},
		{"buffers to print from nowhere", "fd_write", fault, []int32{1, 65534, 1, 2048}},
		{"buffers to print at a negative pointer", "fd_write", fault, []int32{1, -8, 2, 2048}},
		{"four billion buffers to print", "fd_write", fault, []int32{1, 65000, -1, 2048}},
		{"printing from nowhere", "fd_write", fault, []int32{1, 512, 1, 2048}},
		{"printing four billion bytes", "fd_write", fault, []int32{1, 520, 1, 2048}},
		{"how much was printed, to nowhere", "fd_write", fault, []int32{1, 528, 1, 65535}},
		{"waiting for nothing", "poll_oneoff", invalid, []int32{2048, 4096, 0, 512}},
		{"waiting for four billion events", "poll_oneoff", invalid, []int32{2048, 4096, -1, 512}},
		{"waiting for events from nowhere", "poll_oneoff", fault, []int32{65530, 4096, 1, 512}},
		{"waiting for events to nowhere", "poll_oneoff", fault, []int32{2048, 65530, 1, 512}},
		{"how many events there were, to nowhere", "poll_oneoff", fault, []int32{2048, 4096, 1, -1}},
	} {
		g := newGuest(c.name)
		g.Put(512, words(65530, 7))
		g.Put(520, words(1024, 1<<32-1))
		g.Put(528, words(1024, 1))
		g.handle(expect(wasiCall(g, c.name, c.arguments), c.errno), g.fine())
		all = append(all, g.ends(fmt.Sprintf("%s, %s", c.name, c.what), abi.ClassOK))
	}
	return all
}
