//go:build unix

package scale

import (
	"os/exec"
	"syscall"
)

// apart keeps the interrupt of a terminal from a process: the bench ends what it started itself.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
