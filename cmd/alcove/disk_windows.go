package main

import (
	"io/fs"

	"path/filepath"

	"golang.org/x/sys/windows"
)

// freeSpace is how many bytes this user may still write where dir is, or will be.
func freeSpace(dir string) (uint64, error) {
	path, err := windows.UTF16PtrFromString(filepath.VolumeName(dir) + `\`)
	if err != nil {
		return 0, err
	}
	var free, total, all uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, &total, &all); err != nil {
		return 0, err
	}
	return free, nil
}

// belongsTo is the user that a file belongs to; negative: unknown.
func belongsTo(fs.FileInfo) int { return -1 }
