package files

import (
	"io/fs"
	"os"
	"syscall"
)

// syncsFolders reports whether folders can be synced.
const syncsFolders = false

// namesOf returns 1: only an open file says how many names (hard links) it has.
func namesOf(fs.FileInfo) uint64 { return 1 }

// namesOfOpen returns how many names a file has.
func namesOfOpen(f *os.File, _ fs.FileInfo) uint64 {
	var info syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info); err != nil {
		return 1
	}
	return uint64(info.NumberOfLinks)
}
