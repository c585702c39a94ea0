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

// Writable tells nothing on Windows, where access lists decide: what cannot be written says so when it is tried.
func Writable(string) error { return nil }

// exposure tells nothing on Windows: the access list that a directory inherits is not looked at.
func exposure(fs.FileInfo) exposed { return exposed{} }
