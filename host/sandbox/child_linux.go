package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spare is what a Go program maps beyond what it counts, in bytes.
const spare = 256 << 20

// confine lets the kernel refuse what the compiler must never take. What it does not support is left to the
// parent's clock and to watchMemory.
func confine(memory int64) {
	limits := map[int]uint64{
		unix.RLIMIT_DATA:  uint64(memory) + spare,
		unix.RLIMIT_FSIZE: maxEntry,
		unix.RLIMIT_CORE:  0,
	}
	for what, most := range limits {
		unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most})
	}
}

// mostProcesses says how many processes and threads this user may have, for an error.
func mostProcesses() string {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur == unix.RLIM_INFINITY {
		return ""
	}
	return fmt.Sprintf(" (this user may have %d processes and threads)", limit.Cur)
}
