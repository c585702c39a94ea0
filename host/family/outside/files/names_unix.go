//go:build unix

package files

import (
	"io/fs"
	"os"
	"syscall"
)

// syncsFolders reports whether folders can be synced.
const syncsFolders = true

// namesOf returns how many names (hard links) a file has.
func namesOf(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Nlink)
	}
	return 1
}

func namesOfOpen(_ *os.File, info fs.FileInfo) uint64 { return namesOf(info) }
