//go:build unix

package owner

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// detach puts the owner in a session of its own, so that it outlives the terminal and the process group
// of the process that started it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// Writable returns why files cannot be created in a directory; nil if they can, or if it does not exist.
func Writable(dir string) error {
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &fs.PathError{Op: "write to", Path: dir, Err: err}
}

// exposure returns who else can create files in a directory. The sticky bit protects the files of others.
func exposure(info fs.FileInfo) dirAccess {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return dirAccess{}
	}
	sticky := info.Mode()&fs.ModeSticky != 0
	all := info.Mode().Perm()&0o002 != 0
	e := dirAccess{all: all && !sticky, sticky: all && sticky, group: info.Mode().Perm()&0o020 != 0}
	if uid := int(stat.Uid); uid != os.Getuid() && os.Getuid() != 0 {
		e.owner = uid
	}
	return e
}

// private reports whether a file is this user's and closed to everyone else.
func private(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
