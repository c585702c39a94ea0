package postgres

import "os/exec"

// account is the user that a server runs as.
type account struct{}

// unprivileged reports that servers are not started on Windows: they would need a socket of another kind.
func unprivileged() (a account, ok bool) { return a, false }

func (account) own(string) error { return nil }

func (account) use(*exec.Cmd) {}

func (account) there(prefix, command []string) *exec.Cmd {
	return exec.Command(prefix[0], append(prefix[1:], command...)...)
}

func killGroup(c *exec.Cmd) { _ = c.Process.Kill() }
