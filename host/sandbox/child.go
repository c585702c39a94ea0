package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"syscall"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// Names in the directory that a parent prepares for its compiler.
const (
	childInput  = "module.wasm"
	childOutput = "code"
)

// Exit codes of the compiler.
const (
	exitCompiled = 0
	exitGo       = 2  // Go's own: fatal error or panic
	exitFailed   = 10 // like exitRefused, with the reason on standard error
	exitRefused  = 11 // wazero refused the module
	exitMemory   = 12 // the memory limit was exceeded
	exitOrphan   = 13 // the parent exited
	exitDisk     = 14 // the disk is full
	exitLarge    = 15 // the native code exceeds its limit
)

// RunCompiler compiles one unvetted module in a child process: some modules take hours or all memory to compile, and
// a compiler cannot be interrupted, but a process can be killed. The arguments are the directory with the module and
// the memory limit in bytes. Standard input ends when the parent exits. RunCompiler returns the exit code of the
// process.
func RunCompiler(args []string, stdin io.Reader, stderr io.Writer) int {
	if len(args) != 2 {
		fmt.Fprintf(stderr, "compile a module: %d arguments, not 2: this command is for the sandbox alone\n", len(args))
		return exitFailed
	}
	memory, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil || memory <= 0 {
		fmt.Fprintf(stderr, "compile a module: %q is not a number of bytes\n", args[1])
		return exitFailed
	}
	confine(memory)
	go exitWith(stdin)
	go watchMemory(uint64(memory))
	code, err := compileIn(args[0])
	if err != nil {
		fmt.Fprintf(stderr, "compile a module: %v\n", err)
	}
	return code
}

// exitWith exits when the parent does, which closes standard input.
func exitWith(stdin io.Reader) {
	io.Copy(io.Discard, stdin)
	os.Exit(exitOrphan)
}

// watchMemory exits when the process exceeds its memory limit. Only the Linux kernel enforces one by itself.
func watchMemory(limit uint64) {
	debug.SetMemoryLimit(int64(limit / 4 * 3))
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	for {
		metrics.Read(samples)
		if samples[0].Value.Uint64()-samples[1].Value.Uint64() > limit {
			os.Exit(exitMemory)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// maxWorkers bounds the functions compiled at once, as each takes memory.
const maxWorkers = 4

// compileIn compiles the module in dir into a wazero cache in dir.
func compileIn(dir string) (exitCode int, err error) {
	binary, err := os.ReadFile(filepath.Join(dir, childInput))
	if err != nil {
		return exitFailed, err
	}
	cache, err := wazero.NewCompilationCacheWithDir(filepath.Join(dir, childOutput))
	if err != nil {
		return unwritten(err), err
	}
	ctx := experimental.WithCompilationWorkers(context.Background(), min(runtime.GOMAXPROCS(0), maxWorkers))
	r := wazero.NewRuntimeWithConfig(ctx, runtimeConfig(cache))
	_, err = r.CompileModule(ctx, binary)
	switch {
	case err == nil:
		return exitCompiled, nil
	case errors.As(err, new(*fs.PathError)): // on the native code's file
		return unwritten(err), err
	}
	return exitRefused, err
}

// unwritten returns the exit code for a failed write.
func unwritten(err error) int {
	switch {
	case full(err):
		return exitDisk
	case errors.Is(err, syscall.EFBIG):
		return exitLarge
	}
	return exitFailed
}
