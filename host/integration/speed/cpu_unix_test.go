//go:build unix

package speed_test

import (
	"syscall"
	"time"
)

// processCPU is how long this process has run on processors.
func processCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
