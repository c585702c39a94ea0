//go:build unix

package postgres

import (
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"syscall"
)

// account is the user that a server runs as: it refuses to be run by root. The zero value is the present one.
type account struct {
	uid, gid int
	other    bool
}

// unprivileged returns the present user or, of root, the one that Debian's package makes, or nobody.
func unprivileged() (a account, ok bool) {
	if os.Getuid() != 0 {
		return a, true
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUser := strconv.Atoi(u.Uid)
		gid, errGroup := strconv.Atoi(u.Gid)
		if errUser == nil && errGroup == nil {
			return account{uid, gid, true}, true
		}
	}
	return a, false
}

// own gives a folder to the account.
func (a account) own(path string) error {
	if !a.other {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

// use has a command run as the account, in a process group of its own.
func (a account) use(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if a.other {
		c.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
}

// there is a command that runs as the account, behind what leads elsewhere.
func (a account) there(prefix, command []string) *exec.Cmd {
	args := slices.Clone(prefix[1:])
	if a.other {
		args = append(args, "--setgid", strconv.Itoa(a.gid), "--setuid", strconv.Itoa(a.uid))
	}
	c := exec.Command(prefix[0], append(args, command...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return c
}

// killGroup kills a server, and its children at once with it.
func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
