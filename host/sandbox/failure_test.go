package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/abi"
)

// compiling returns the error of a compilation with additional environment variables for the compiler.
func compiling(t *testing.T, settings ...string) error {
	t.Helper()
	config := testConfig(t)
	config.Compiler.Env = append(config.Compiler.Env, settings...)
	_, err := newSandbox(t, config).Admit(t.Context(), testdata(t, "acts.wasm"), Options{Bare: true})
	leftovers(t, config.Cache.Dir)
	return err
}

// The party that an error blames.
const (
	theModule = "the module"
	passing   = "what passes"
	lasting   = "what lasts"
)

// blamed returns the party that an error blames.
func blamed(err error) string {
	var failed *CompileError
	var refused *Refusal
	switch {
	case errors.As(err, &refused) && refused.Class == abi.ClassCompile:
		return theModule
	case errors.As(err, &failed) && failed.Retryable:
		return passing
	case errors.As(err, &failed):
		return lasting
	}
	return fmt.Sprint(err)
}

func TestFailuresOfACompilerAreDistinguished(t *testing.T) {
	for _, c := range []struct {
		code  int
		says  string // on standard error
		blame string
		want  string
	}{
		{exitRefused, "compile a module: invalid function[3]", theModule, "invalid function[3]"},
		{exitMemory, "", theModule, "more than 1073741824 bytes of memory"},
		{exitLarge, "", theModule, "its native code would have more than"},
		{exitDisk, "write code: no space left on device", passing, "the disk is full: write code: no space left on device; make room there"},
		{exitOrphan, "", passing, "left alone"},
		{exitFailed, "compile a module: open module.wasm: permission denied", lasting, "exit code 10: compile a module: open module.wasm: permission denied"},
		{1, "", lasting, "exit code 1: it said nothing"},
		{127, "\x1b]52;c;aGVsbG8=\x07not\x1b[2J found\r\n\x00", lasting, "exit code 127: ]52;c;aGVsbG8= not [2J found;"},
		{exitGo, "runtime: failed to create new OS thread (have 2 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n\ngoroutine 0", passing, "could not make threads"},
		{exitGo, "runtime/cgo: pthread_create failed: Resource temporarily unavailable\nSIGABRT: abort", passing, "could not make threads"},
		{exitGo, "panic: invalid register allocation\n\ngoroutine 1 [running]:" + strings.Repeat("\nmain.f()", 10_000), theModule, "the compiler crashed on it (exit status 2): panic: invalid register allocation"},
		{exitGo, "fatal error: unexpected signal during runtime execution", theModule, "crashed"},
		{exitGo, "SIGXFSZ: file size limit exceeded", theModule, "its native code would have more than"},
		{exitGo, "fatal error: runtime: out of memory", passing, "the system gave the compiler no more memory"}, // this one had used little
	} {
		err := compiling(t, fmt.Sprintf("%s=%d", compilerEnds, c.code), compilerSays+"="+strings.ReplaceAll(c.says, "\x00", ""))
		if got := blamed(err); got != c.blame || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 700 {
			t.Errorf("%d %.60q blames %s, not %s: %v", c.code, c.says, got, c.blame, err)
		}
		if text := err.Error(); strings.ContainsAny(text, "\x1b\x07\r\n") || strings.Contains(text, "make its functions smaller") != (c.code == exitMemory) {
			t.Errorf("exit %d with %.60q: %q, want one plain line, and smaller functions advised only where memory ran out", c.code, c.says, text)
		}
	}
}

func TestTheModuleIsNotBlamedWhenNoCompilerStarts(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EAGAIN: passing, syscall.ENOMEM: passing, syscall.EMFILE: passing, syscall.ENOENT: lasting, syscall.EACCES: lasting,
	} {
		got := notStarted(&fs.PathError{Op: "fork/exec", Path: "/proc/self/exe", Err: err})
		if blamed(got) != want || !strings.Contains(got.Error(), "could not be started") || !strings.Contains(got.Error(), err.Error()) || !errors.Is(got, err) {
			t.Errorf("notStarted(%v) = %v, want it blamed on %s and the cause wrapped", err, got, want)
		}
	}
}

func TestFailuresToWriteFilesAreDistinguished(t *testing.T) {
	for err, want := range map[error]int{syscall.ENOSPC: exitDisk, syscall.EDQUOT: exitDisk, syscall.EFBIG: exitLarge, syscall.EACCES: exitFailed} {
		if got := unwritten(&fs.PathError{Op: "write", Err: err}); got != want {
			t.Errorf("%v: %d, not %d", err, got, want)
		}
		wantBlame := lasting
		if want == exitDisk {
			wantBlame = passing
		}
		if got := notWritten("/data", &fs.PathError{Op: "write", Err: err}); blamed(got) != wantBlame || !strings.Contains(got.Error(), "/data") {
			t.Errorf("notWritten(%v) = %v, want it blamed on %s and the path named", err, got, wantBlame)
		}
	}
}

func TestTheOutputOfACompilerIsCutInTheMiddle(t *testing.T) {
	var e ends
	fmt.Fprintf(&e, "begin%send", strings.Repeat("x", 1<<20))
	if text := e.String(); !strings.HasPrefix(text, "begin") || !strings.HasSuffix(text, "end") || len(text) > 2*longestEnd+10 || !strings.Contains(text, "…") {
		t.Errorf("%d bytes: %.20q…", len(text), text)
	}
}

// A program that does not know that it is a compiler starts no other one, which would start the next.
func TestACompilerStartsNoCompiler(t *testing.T) {
	t.Setenv(isCompiler, "1")
	if err := compiling(t); err == nil || !strings.Contains(err.Error(), "sandbox.RunCompiler") {
		t.Errorf("compile in a compiler: %v, want an error that names sandbox.RunCompiler", err)
	}
}
