package bolt

import (
	"fmt"
	"os"
	"syscall"
)

// markOf tells a file apart from its copies, by when its inode was made. It is empty where that is not known.
func markOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d made %d.%09d", s.Ino, s.Birthtimespec.Sec, s.Birthtimespec.Nsec)
}
