package sandbox

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// confine sets resource limits for the compiler in the kernel. Unsupported ones are left to the parent's timeout and
// watchMemory.
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

// mostProcesses describes the user's limit of processes and threads, for an error.
func mostProcesses() string {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NPROC, &limit) != nil || limit.Cur == unix.RLIM_INFINITY {
		return ""
	}
	return fmt.Sprintf(" (this user may have %d processes and threads)", limit.Cur)
}
