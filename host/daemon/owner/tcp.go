package owner

import (
	"fmt"
	"net"
	"net/netip"
	"os"
)

// nobody is the user that Linux names where it may not name the real one.
const nobody = 65534

// CheckTCPPeer refuses a TCP connection of another user of this machine, where the system tells whose it is: on Linux, for loopback
// addresses. Root is nobody else's other user.
func CheckTCPPeer(local, remote net.Addr) error {
	here, peer := addressOf(local), addressOf(remote)
	if !here.Addr().IsLoopback() || !peer.Addr().IsLoopback() {
		return nil
	}
	uid, known := userOf(peer, here)
	if known && uid != nobody && !takesPeer(os.Geteuid(), uid) {
		return fmt.Errorf("a process of user %d is at the other end: %w", uid, ErrUntrusted)
	}
	return nil
}

func addressOf(a net.Addr) netip.AddrPort {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	address := tcp.AddrPort()
	return netip.AddrPortFrom(address.Addr().Unmap(), address.Port())
}
