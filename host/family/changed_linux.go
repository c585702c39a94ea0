package family

import (
	"os"
	"syscall"
	"time"
)

// changedAt returns when the system last noted a change of a file, which no program can set; zero: unknown.
func changedAt(info os.FileInfo) time.Time {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(sys.Ctim.Unix())
	}
	return time.Time{}
}
