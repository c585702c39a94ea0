package owner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// CheckPeer refuses a socket connection to a process of another user. Root may connect to every user, and every user to
// root.
func CheckPeer(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil // not a socket
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return fmt.Errorf("ask whose process is at the other end: %w", err)
	}
	var uid int
	var known bool
	var peerErr error
	err = raw.Control(func(fd uintptr) { uid, known, peerErr = peerOf(fd) })
	if err = errors.Join(err, peerErr); err != nil {
		return fmt.Errorf("ask whose process is at the other end: %w", err)
	}
	if known && !takesPeer(os.Geteuid(), uid) {
		return fmt.Errorf("a process of user %d is at the other end: %w", uid, ErrUntrusted)
	}
	return nil
}

func takesPeer(self, peer int) bool { return peer == self || peer == 0 || self == 0 }
