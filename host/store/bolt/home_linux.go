package bolt

import (
	"bytes"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/alcove-memory/alcove/host/regular"
)

// longestMachine is how many bytes the name of a machine has at most.
const longestMachine = 1 << 10

// markOf tells a file apart from its copies, on all machines: by when its inode was made, or by the machine where the file system does not
// tell that. It is empty where neither is known.
func markOf(path string) string {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &s); err != nil {
		return ""
	}
	if s.Mask&unix.STATX_BTIME != 0 && s.Btime != (unix.StatxTimestamp{}) {
		return fmt.Sprintf("%d made %d.%09d", s.Ino, s.Btime.Sec, s.Btime.Nsec)
	}
	machine, err := regular.Read("/etc/machine-id", longestMachine)
	if err != nil || len(bytes.TrimSpace(machine)) == 0 {
		return ""
	}
	return fmt.Sprintf("%d on %s", s.Ino, bytes.TrimSpace(machine))
}
