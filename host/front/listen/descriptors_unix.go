//go:build unix

package listen

import (
	"math"
	"syscall"
)

// Descriptors returns how many files and connections this process may have open.
func Descriptors() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 256 // the minimum on every system
	}
	return int(min(uint64(limit.Cur), math.MaxInt32))
}
