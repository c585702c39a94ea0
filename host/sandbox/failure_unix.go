//go:build unix

package sandbox

import (
	"os"
	"runtime"
	"syscall"
)

// signalOf returns the signal that ended a process, or 0.
func signalOf(state *os.ProcessState) syscall.Signal {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal()
	}
	return 0
}

// mostMemory returns the peak memory of a child process, in bytes, or 0 if unknown. On Linux the peak is at least that of this process,
// whose memory the child has until it executes its own program; mostMemory returns littleMemory if it is no more than that.
func mostMemory(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err == nil && usage.Maxrss <= own.Maxrss {
		return littleMemory
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10
}
