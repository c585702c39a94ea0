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

// Writable tells why files cannot be made in a directory; nil when they can, or there is no such directory.
func Writable(dir string) error {
	err := unix.Access(dir, unix.W_OK|unix.X_OK)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &fs.PathError{Op: "write to", Path: dir, Err: err}
}

// exposure is who else can put files into a directory. In one with the sticky bit nobody can replace those of others.
func exposure(info fs.FileInfo) exposed {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return exposed{}
	}
	sticky := info.Mode()&fs.ModeSticky != 0
	all := info.Mode().Perm()&0o002 != 0
	e := exposed{all: all && !sticky, sticky: all && sticky, group: info.Mode().Perm()&0o020 != 0}
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
