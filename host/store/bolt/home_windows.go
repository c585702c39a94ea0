package bolt

import (
	"fmt"
	"os"
	"syscall"
)

// markOf tells a file apart from its copies, by when it was made. It is empty where that is not known.
func markOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	s, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return ""
	}
	return fmt.Sprintf("made %d", s.CreationTime.Nanoseconds())
}
