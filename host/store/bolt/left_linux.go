package bolt

import (
	"io/fs"
	"syscall"
)

// stateOf is the state of a file; ok is false where the system does not tell it.
func stateOf(info fs.FileInfo) (s fileState, ok bool) {
	sys, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return s, false
	}
	return fileState{Size: info.Size(), Modified: info.ModTime().UnixNano(), Changed: sys.Ctim.Nano(), Inode: sys.Ino}, true
}
