package sandbox

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/sandbox/wasm"
)

// importAdvice says what to change in the build of a module that imports from elsewhere.
func importAdvice(module, name string) string {
	switch {
	case module == "gojs" || module == "go":
		return "it was built for browsers: build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared"
	case module == "env" && (name == "abort" || name == "seed" || name == "trace" || strings.HasPrefix(name, "console.")):
		return fmt.Sprintf("build it with asc --use %s=, which defines it in the module", name)
	case strings.HasPrefix(module, "__wbindgen") || module == "wbg" || strings.HasPrefix(module, "./"):
		return "it was built for browsers by wasm-bindgen: build the crate with cargo build --release --target wasm32-unknown-unknown, and without wasm-bindgen"
	case module == "env":
		return fmt.Sprintf("define %s in the module: with wasm-ld, leave out --allow-undefined, which names what is missing", name)
	case strings.HasPrefix(module, "wasi_") && module != abi.WASIModule || strings.HasPrefix(module, "wasi:"):
		return fmt.Sprintf("build it for %s: in Go GOOS=wasip1, in Rust --target wasm32-wasip1, in C --target=wasm32-wasip1", abi.WASIModule)
	}
	return fmt.Sprintf("import from %s or %s only", abi.Module, abi.WASIModule)
}

// exportAdvice says what to change in the build of a module that does not export what the host calls.
func exportAdvice(found map[string]wasm.Export) string {
	if _, command := found["_start"]; command {
		return "it is a command, which runs once: in Go, build it with -buildmode=c-shared; in C, with -mexec-model=reactor and export_name; in Rust, as crate-type = [\"cdylib\"]"
	}
	return "export it: in Go with alcove.Serve or //go:wasmexport, in C with __attribute__((export_name(\"alcove_handle\"))), in Rust with #[no_mangle] pub extern \"C\", in AssemblyScript with export function"
}

// structureAdvice says what to do about bytes that are no valid module.
func structureAdvice(binary []byte) string {
	switch {
	case bytes.HasPrefix(binary, []byte("\x7fELF")), bytes.HasPrefix(binary, []byte("MZ")), bytes.HasPrefix(binary, []byte("\xcf\xfa\xed\xfe")):
		return "it is a program for this machine: build it for WebAssembly, in Go with GOOS=wasip1 GOARCH=wasm, in Rust with --target wasm32-unknown-unknown, in C with --target=wasm32"
	case bytes.HasPrefix(binary, []byte("\x00asm\x0d\x00\x01\x00")):
		return "it is a component: take the core module, which cargo build and clang give, and make no component of it"
	case bytes.HasPrefix(bytes.TrimSpace(binary), []byte("(module")):
		return "it is text: assemble it, with wat2wasm or wasm-tools parse"
	}
	return "build it for WebAssembly 2.0, without extensions"
}

// debugAdvice says which flag leaves out what debuggers read, where that is most of a module; empty: nothing to say.
func debugAdvice(module []byte) string {
	size := 0
	if sections(module, func(whole, name, _ []byte) bool {
		if name != nil && (strings.HasPrefix(string(name), ".debug_") || string(name) == nameSection) {
			size += len(whole)
		}
		return true
	}) != nil || size < len(module)/4 || size < 64<<10 {
		return ""
	}
	return fmt.Sprintf("%d of its %d bytes are for debuggers: leave them out, %s", size, len(module), debugFlags)
}

// debugFlags leave out of a module what debuggers read.
const debugFlags = "in Go with -ldflags='-s -w', in Rust with strip = true in the profile of Cargo.toml, in C with -Wl,--strip-all, in AssemblyScript without --debug"

// startAdvice refuses a module whose runtime would never begin.
func startAdvice(m *wasm.Module) error {
	exports := map[string]bool{}
	for _, e := range m.Exports {
		exports[e.Name] = true
	}
	if exports["_start"] && !exports["_initialize"] {
		return refuse(abi.ClassExport, "build it as a library: in Go with -buildmode=c-shared, in C with -mexec-model=reactor, in Rust as crate-type = [\"cdylib\"]",
			"it is a command: it exports _start and no _initialize, so that its runtime would not have begun when it is called")
	}
	return nil
}
