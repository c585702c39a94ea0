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
	uid, known, err := PeerOf(conn)
	if err != nil {
		return err
	}
	if known && !takesPeer(os.Geteuid(), uid) {
		return fmt.Errorf("a process of user %d is at the other end: %w", uid, ErrUntrusted)
	}
	return nil
}

// PeerOf returns the user of the process at the other end of a socket, as far as it is known.
func PeerOf(conn net.Conn) (uid int, known bool, err error) {
	c, ok := conn.(syscall.Conn)
	if !ok {
		return 0, false, nil // not a socket
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, fmt.Errorf("ask whose process is at the other end: %w", err)
	}
	var peerErr error
	err = raw.Control(func(fd uintptr) { uid, known, peerErr = peerOf(fd) })
	if err = errors.Join(err, peerErr); err != nil {
		return 0, false, fmt.Errorf("ask whose process is at the other end: %w", err)
	}
	return uid, known, nil
}

func takesPeer(self, peer int) bool { return peer == self || peer == 0 || self == 0 }
