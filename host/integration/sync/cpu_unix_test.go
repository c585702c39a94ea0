//go:build unix

package sync_test

import (
	"syscall"
	"time"
)

// usedCPU is how long this process has run: both sides of an exchange are in it.
func usedCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
