package modules

import (
	"os"
	"syscall"
	"time"
)

// ChangedAt returns when the system last noted a change of a file, which no program can set; zero: unknown.
func ChangedAt(info os.FileInfo) time.Time {
	if sys, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(sys.Ctim.Unix())
	}
	return time.Time{}
}
