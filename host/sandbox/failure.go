package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/alcove-memory/alcove/abi"
)

// CompileError is a compile failure that is not known to be the module's fault.
type CompileError struct {
	What      string // the failure
	Do        string // the remedy for an operator
	Retryable bool   // a retry may succeed without the remedy
	Err       error  // from the system, if any
}

// Error describes the failure and its remedy.
func (e *CompileError) Error() string {
	what := e.What
	if e.Err != nil {
		what += ": " + e.Err.Error()
	}
	return fmt.Sprintf("compile the module: %s; %s", what, e.Do)
}

func (e *CompileError) Unwrap() error { return e.Err }

const (
	doThreads = "let this user have more processes and threads (ulimit -u, or the pids limit of its container), and try again"
	doDisk    = "make room there, and try again"
	doMemory  = "free memory, or give this server more, and try again"
)

// notStarted explains why the compiler could not start.
func notStarted(err error) error {
	e := &CompileError{What: "the compiler could not be started", Err: err}
	switch {
	case errors.Is(err, syscall.EAGAIN):
		e.What += mostProcesses()
		e.Do, e.Retryable = doThreads, true
	case errors.Is(err, syscall.ENOMEM):
		e.Do, e.Retryable = doMemory, true
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		e.Do, e.Retryable = "let the server open more files (ulimit -n), and try again", true
	default:
		e.Do = "check that this program's file is there and may be run; trying again alone does not help"
	}
	return e
}

// notWritten explains why the compiler's files could not be written.
func notWritten(dir string, err error) error {
	e := &CompileError{What: "its files could not be written in " + dir, Err: err}
	if full(err) {
		e.Do, e.Retryable = doDisk, true
		return e
	}
	e.Do = "check that this user may write there; trying again alone does not help"
	return e
}

func full(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// littleMemory stands for a peak memory of a compiler that is hidden by the larger one of the process that started it.
const littleMemory = -1

// exitStatus describes how a compiler exited.
type exitStatus struct {
	exit   *exec.ExitError
	said   string // on standard error
	used   int64  // peak memory, in bytes; 0: unknown; or littleMemory
	limit  int64  // of memory, in bytes
	signal syscall.Signal
}

// failed explains a compiler's failure: a Refusal if the module is at fault, else a CompileError. err comes from os/exec.
func (s *Sandbox) failed(late context.Context, timeout time.Duration, err error, said string) error {
	if late.Err() != nil {
		return refuse(abi.ClassCompile, "make its functions smaller; trying again helps only if the machine was very busy",
			"compiling it took longer than %v (%s)", timeout, abi.LimitCompileMS)
	}
	e := exitStatus{said: said, limit: s.compiler.Memory}
	if !errors.As(err, &e.exit) {
		return notStarted(err)
	}
	e.used = mostMemory(e.exit.ProcessState)
	if e.signal = signalOf(e.exit.ProcessState); e.signal != 0 {
		return e.bySignal()
	}
	return e.byCode()
}

// bySignal explains the failure of a compiler that a signal ended.
func (e exitStatus) bySignal() error {
	switch e.signal {
	case syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGILL, syscall.SIGFPE, syscall.SIGABRT, syscall.SIGTRAP:
		return e.crashed()
	case syscall.SIGKILL:
		return &CompileError{What: "the compiler was killed from outside (SIGKILL), by the system for want of memory or by an operator",
			Do: doMemory + "; the system's log says who killed it", Retryable: true}
	}
	return &CompileError{What: fmt.Sprintf("the compiler was ended from outside by a signal (%v)", e.signal),
		Do: "try again, unless a limit of CPU time ended it (ulimit -t)", Retryable: true}
}

// byCode explains the failure of a compiler that exited by itself.
func (e exitStatus) byCode() error {
	switch e.exit.ExitCode() {
	case exitRefused:
		return refuse(abi.ClassCompile, "build it for WebAssembly 2.0 without extensions", "%s", e.excerpt())
	case exitMemory:
		return e.tooMuchMemory()
	case exitLarge:
		return e.tooLarge()
	case exitDisk:
		return &CompileError{What: "the disk is full: " + e.excerpt(), Do: doDisk, Retryable: true}
	case exitGo:
		return e.byRuntime()
	case exitOrphan:
		return &CompileError{What: "the compiler was left alone", Do: "try again", Retryable: true}
	}
	return &CompileError{What: fmt.Sprintf("the compiler ended with exit code %d: %s", e.exit.ExitCode(), e.excerpt()),
		Do: "check that it is this program, and that this user may write to the data directory; trying again alone does not help"}
}

// byRuntime explains the failure of a compiler that Go's runtime ended. The first lines of its output have the reason.
func (e exitStatus) byRuntime() error {
	says := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(e.said, text) {
				return true
			}
		}
		return false
	}
	switch {
	case says("failed to create new OS thread", "newosproc", "pthread_create failed"):
		return &CompileError{What: "the compiler could not make threads" + mostProcesses(), Do: doThreads, Retryable: true}
	case says("file size limit exceeded"):
		return e.tooLarge()
	case says("out of memory", "cannot allocate memory", "cannot map pages", "failed to reserve", "failed to allocate"):
		return e.outOfMemory()
	}
	return e.crashed()
}

// outOfMemory distinguishes a module that needs too much memory from a machine that has too little.
func (e exitStatus) outOfMemory() error {
	if e.used == 0 || e.used >= e.limit/4 {
		return e.tooMuchMemory()
	}
	what := "the system gave the compiler no more memory"
	if e.used != littleMemory {
		what += fmt.Sprintf(" after %d bytes, of %d that it may use (%s)", e.used, e.limit, abi.LimitCompileBytes)
	}
	return &CompileError{What: what,
		Do: doMemory + " (see ulimit -v and the limits of its container)", Retryable: true}
}

func (e exitStatus) tooMuchMemory() error {
	return refuse(abi.ClassCompile, "make its functions smaller; trying again does not help", "compiling it took more than %d bytes of memory (%s)", e.limit, abi.LimitCompileBytes)
}

func (e exitStatus) tooLarge() error {
	return refuse(abi.ClassCompile, "make it smaller; trying again does not help", "its native code would have more than %d bytes", maxEntry)
}

// crashed refuses a module that crashes the compiler, as it would again.
func (e exitStatus) crashed() error {
	return refuse(abi.ClassCompile, "build it in another way, and report this; trying again does not help", "the compiler crashed on it (%v): %s", e.exit, e.excerpt())
}

const longestExcerpt = 300 // characters

// excerpt returns the compiler's output, shortened to one line of an error.
func (e exitStatus) excerpt() string {
	text := strings.Join(strings.FieldsFunc(e.said, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if text == "" {
		return "it said nothing"
	}
	if runes := []rune(text); len(runes) > longestExcerpt {
		return string(runes[:longestExcerpt/2]) + " … " + string(runes[len(runes)-longestExcerpt/2:])
	}
	return text
}
