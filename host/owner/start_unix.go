//go:build unix

package owner

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// detach puts the owner in a session of its own, so that it outlives the terminal and the process group
// of whoever started it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// private reports whether a file is this user's and closed to everyone else.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
