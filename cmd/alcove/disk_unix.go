//go:build unix

package main

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes this user may still write where dir is, or will be.
func freeSpace(dir string) (uint64, error) {
	for {
		var s unix.Statfs_t
		err := unix.Statfs(dir, &s)
		if err == nil {
			return uint64(s.Bavail) * uint64(s.Bsize), nil
		}
		if parent := filepath.Dir(dir); err == unix.ENOENT && parent != dir {
			dir = parent
			continue
		}
		return 0, err
	}
}

// belongsTo is the user that a file belongs to; negative: unknown.
func belongsTo(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return -1
}
