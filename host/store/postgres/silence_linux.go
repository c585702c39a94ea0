package postgres

import "syscall"

const tcpUserTimeout = 18 // TCP_USER_TIMEOUT, which package syscall lacks on some platforms

// boundSilence ends a connection whose packets nobody confirms: the system would try for a quarter of an hour.
func boundSilence(network, _ string, c syscall.RawConn) (err error) {
	if network == "unix" {
		return nil
	}
	if failed := c.Control(func(fd uintptr) {
		err = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(silentFor.Milliseconds()))
	}); failed != nil {
		return failed
	}
	return err
}
