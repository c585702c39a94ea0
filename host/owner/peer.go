package owner

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// CheckPeer refuses a connection of a socket whose other end is a process of another user. Root's is taken, and root takes
// everybody's.
func CheckPeer(conn net.Conn) error {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return nil // it is no socket
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
