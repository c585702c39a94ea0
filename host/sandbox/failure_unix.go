//go:build unix

package sandbox

import (
	"os"
	"runtime"
	"syscall"
)

// signalOf is the signal that ended a process; 0: none.
func signalOf(state *os.ProcessState) syscall.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// mostMemory is the most memory that a process had, in bytes; 0: not known.
func mostMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
