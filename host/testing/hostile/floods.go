package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// floods are guests that keep the host busy.
func floods() []Case {
	var all []Case
	add := func(name string, class abi.Class, wasi []string, code func(g *guest) asm.Code) {
		g := newGuest(wasi...)
		g.Put(text, []byte("config.get"))
		g.handle(code(g), g.fine())
		all = append(all, g.ends(name, class))
	}
	forever := func(c asm.Code) asm.Code { return asm.Loop(c, asm.Br(0)) }
	write := func(channel, length int32) func(g *guest) asm.Code {
		return func(g *guest) asm.Code {
			return forever(asm.Drop(asm.Call(g.write, asm.I32(channel), asm.I32(0), asm.I32(length))))
		}
	}
	call := func(op, request int32) func(g *guest) asm.Code {
		return func(g *guest) asm.Code {
			return forever(asm.Drop(asm.Call(g.call, asm.I32(text), asm.I32(op), asm.I32(0), asm.I32(request))))
		}
	}
	read := func(channel int32) func(g *guest) asm.Code {
		return func(g *guest) asm.Code {
			return forever(asm.Drop(asm.Call(g.read, asm.I32(channel), asm.I32(0), asm.I32(1))))
		}
	}
	add("results of one byte", abi.ClassOutput, nil, write(0, 1))
	add("results of a page", abi.ClassOutput, nil, write(0, 65536))
	add("results of nothing", abi.ClassCPU, nil, write(0, 0))
	add("a result of all memory at once", abi.ClassOutput, nil, func(g *guest) asm.Code {
		return asm.Seq(asm.Drop(grow(asm.I32(63))), asm.Drop(asm.Call(g.write, asm.I32(0), asm.I32(0), asm.I32(64<<16))))
	})
	add("log lines of one letter", abi.ClassCPU, nil, write(1, 1))
	add("log lines of a page", abi.ClassCPU, nil, write(1, 65536))
	add("log lines of nothing", abi.ClassCPU, nil, write(1, 0))
	add("writes to no channel", abi.ClassCPU, nil, write(7, 1))
	add("host calls", abi.ClassHostCalls, nil, call(10, 2))
	add("host calls of nothing", abi.ClassHostCalls, nil, call(0, 0))
	add("host calls with large requests", abi.ClassHostCalls, nil, call(10, 60_000))
	add("host calls with requests that are too large", abi.ClassHostCalls, nil, call(10, 65_536))
	add("host calls that are forged", abi.ClassHostCalls, nil, call(-1, -1))
	add("reads of the request", abi.ClassCPU, nil, read(0))
	add("reads of no response", abi.ClassCPU, nil, read(1))
	add("reads from no channel", abi.ClassCPU, nil, read(7))
	return append(all, wasiFloods()...)
}

// wasiFloods call functions of WASI for ever.
func wasiFloods() []Case {
	var all []Case
	for _, f := range []struct {
		name      string
		arguments []int32
	}{
		{"random_get", []int32{2048, 60_000}},
		{"random_get", []int32{2048, 0}},
		{"clock_time_get", []int32{0, 0, 2048}},
		{"sched_yield", nil},
		{"args_sizes_get", []int32{2048, 2052}},
		{"args_get", []int32{2048, 2052}},
		{"environ_get", []int32{2048, 2052}},
		{"environ_sizes_get", []int32{2048, 2052}},
		{"fd_close", []int32{1}},
		{"fd_fdstat_get", []int32{1, 2048}},
		{"fd_fdstat_set_flags", []int32{1, 0}},
		{"fd_prestat_get", []int32{3, 2048}},
		{"fd_prestat_dir_name", []int32{3, 2048, 10}},
		{"fd_read", []int32{0, 512, 1, 2048}},
		{"fd_write", []int32{1, 512, 1, 2048}},
		{"fd_write", []int32{2, 520, 1, 2048}},
		{"fd_write", []int32{1, 528, 64, 2048}},
		{"poll_oneoff", []int32{3072, 4096, 1, 2048}},
	} {
		g := newGuest(f.name)
		g.Put(512, words(1024, 60_000))  // one long buffer without a newline
		g.Put(520, words(1024, 1))       // one byte
		g.Put(528, repeatedWords(64, 0)) // empty buffers
		g.Put(3072, subscription(0, 1, 0, 0))
		g.handle(asm.Loop(invoke(g, f.name, f.arguments), asm.Br(0)), g.fine())
		name := f.name
		for _, a := range f.arguments {
			name += " " + decimal(a)
		}
		all = append(all, g.ends(name, abi.ClassCPU))
	}
	return all
}

// invoke calls a function of WASI and drops its result.
func invoke(g *guest, name string, arguments []int32) asm.Code {
	code := wasiCall(g, name, arguments)
	if name != "proc_exit" {
		return asm.Drop(code)
	}
	return code
}

// wasiCall calls a function of WASI, and converts its 64-bit argument.
func wasiCall(g *guest, name string, arguments []int32) asm.Code {
	var list []asm.Code
	for i, a := range arguments {
		if name == "clock_time_get" && i == 1 {
			list = append(list, asm.I64(int64(a)))
			continue
		}
		list = append(list, asm.I32(a))
	}
	return asm.Call(g.wasi[name], list...)
}
