package owner

import (
	"io/fs"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// detach gives the owner no console and a process group of its own, so that it outlives the process that
// started it.
func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
		HideWindow:    true,
	}
}

// private reports whether a file is closed to everyone else: on Windows the user's temporary directory
// is, by the access list that it inherits.
func private(fs.FileInfo) bool { return true }

// Writable returns nil on Windows, where access lists decide: the write itself reports the error.
func Writable(string) error { return nil }

// exposure returns nothing on Windows: the access list that a directory inherits is not checked.
func exposure(fs.FileInfo) dirAccess { return dirAccess{} }
