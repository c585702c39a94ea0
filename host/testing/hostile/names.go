package hostile

import (
	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
	"github.com/alcove-memory/alcove/host/testing/asm"
)

// names are modules that use, fake or steal the names of metering.
func names() []Case {
	var all []Case
	imported := func(module, name string) {
		m := &asm.Module{}
		m.Import(module, name, nil, nil)
		m.Memory(1)
		m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: asm.I32(0)}))
		all = append(all, Case{Name: "an import of " + name + " from " + module, Module: m.Bytes(), Class: abi.ClassReserved})
	}
	imported("alcove:meter", "tick")
	imported("alcove:", "tick")
	imported("alcove:meter", "")
	imported("alcove:other", "fuel")
	imported("alcove", "alcove:tick")
	imported("wasi_snapshot_preview1", "alcove:tick")
	exported := func(name string, kind wasm.Kind, class abi.Class) {
		g := newGuest()
		g.Global(wasm.I64, asm.I64(1<<60))
		g.Table(1)
		f := g.procedure()
		index := map[wasm.Kind]uint32{wasm.KindFunc: f}[kind]
		g.Export(name, kind, index)
		g.handle(asm.Loop(asm.SetGlobal(0, asm.I64(1<<60)), asm.Br(0)), g.fine())
		all = append(all, g.ends("an export of the "+kind.String()+" "+name, class))
	}
	exported("alcove:fuel", wasm.KindGlobal, abi.ClassReserved)
	exported("alcove:changed", wasm.KindGlobal, abi.ClassReserved)
	exported("alcove:save", wasm.KindFunc, abi.ClassReserved)
	exported("alcove:restore", wasm.KindFunc, abi.ClassReserved)
	exported("alcove:fuel", wasm.KindFunc, abi.ClassReserved)
	exported("alcove:restore", wasm.KindTable, abi.ClassReserved)
	exported("alcove:", wasm.KindMemory, abi.ClassReserved)
	exported("alcove:fuel\x00", wasm.KindGlobal, abi.ClassReserved)
	// These resemble reserved names and are harmless.
	exported("alcove.fuel", wasm.KindGlobal, abi.ClassCPU)
	exported("Alcove:fuel", wasm.KindGlobal, abi.ClassCPU)
	exported("fuel", wasm.KindGlobal, abi.ClassCPU)
	exported(" alcove:fuel", wasm.KindGlobal, abi.ClassCPU)
	g := newGuest()
	g.Custom("alcove:fuel", []byte{1, 2, 3})
	g.handle(g.fine())
	return append(all, g.ends("a section of such a name", abi.ClassOK))
}

// imports are modules with forbidden or mistyped imports.
func imports() []Case {
	var all []Case
	add := func(name string, class abi.Class, change func(m *asm.Module)) {
		m := &asm.Module{}
		change(m)
		if m.Imported(wasm.KindMemory) == 0 {
			m.Memory(1)
		}
		m.Export("alcove_handle", wasm.KindFunc, m.Func(asm.Func{Params: asm.I32s(2), Results: asm.I32s(1), Body: asm.I32(0)}))
		all = append(all, Case{Name: name, Module: m.Bytes(), Class: class})
	}
	function := func(module, name string, params, results int) {
		add("the function "+name+" from "+module, abi.ClassImport, func(m *asm.Module) {
			m.Import(module, name, asm.I32s(params), asm.I32s(results))
		})
	}
	for _, name := range []string{
		"clock_res_get", "fd_advise", "fd_allocate", "fd_datasync", "fd_filestat_get", "fd_pread", "fd_pwrite", "fd_readdir", "fd_renumber",
		"fd_seek", "fd_sync", "path_create_directory", "path_link", "path_open", "path_readlink", "path_remove_directory", "path_rename",
		"path_symlink", "path_unlink_file", "proc_raise", "sock_accept", "sock_recv", "sock_send", "sock_shutdown", "sock_open", "thread-spawn",
	} {
		function(abi.WASIModule, name, 3, 1)
	}
	function("wasi_unstable", "fd_write", 4, 1)
	function("wasi_snapshot_preview2", "fd_write", 4, 1)
	function("wasi:io/streams", "write", 3, 1)
	function("env", "abort", 4, 0)
	function("env", "emscripten_run_script", 1, 0)
	function("gojs", "syscall/js.valueCall", 1, 0)
	function("", "", 0, 0)
	function("alcove", "", 3, 1)
	function("alcove", "open", 3, 1)
	function("alcove", "Read", 3, 1)
	function("alcove", "read\x00", 3, 1)
	function("alcove\x00", "read", 3, 1)
	function("Alcove", "read", 3, 1)
	function("alcove", "tick", 0, 0)
	function("../alcove", "read", 3, 1)
	wrong := func(module, name string, params, results []wasm.ValType) {
		add(name+" of another type", abi.ClassImport, func(m *asm.Module) { m.Import(module, name, params, results) })
	}
	wrong("alcove", "read", asm.I32s(2), asm.I32s(1))
	wrong("alcove", "write", asm.I32s(3), nil)
	wrong("alcove", "call", asm.I32s(4), []wasm.ValType{wasm.I64})
	wrong(abi.WASIModule, "clock_time_get", asm.I32s(3), asm.I32s(1))
	wrong(abi.WASIModule, "proc_exit", asm.I32s(1), asm.I32s(1))
	wrong(abi.WASIModule, "fd_write", asm.I32s(5), asm.I32s(1))
	wrong(abi.WASIModule, "sched_yield", nil, asm.I32s(2))
	kind := func(name string, i wasm.Import) {
		i.Module, i.Name = "alcove", "read"
		add(name, abi.ClassImport, func(m *asm.Module) { m.Imports = append(m.Imports, i) })
	}
	kind("a memory in place of read", wasm.Import{Kind: wasm.KindMemory, Memory: wasm.Range{Min: 1}})
	kind("a table in place of read", wasm.Import{Kind: wasm.KindTable, Table: wasm.Table{Type: wasm.FuncRef}})
	kind("a global in place of read", wasm.Import{Kind: wasm.KindGlobal, Global: wasm.GlobalType{Type: wasm.I64, Mutable: true}})
	// A repeated import is the same function twice; Go guests have some.
	add("read twice", abi.ClassAnswer, func(m *asm.Module) {
		m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
		m.Import("alcove", "read", asm.I32s(3), asm.I32s(1))
	})
	return all
}
