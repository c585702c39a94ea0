package owner

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
)

func TestTheUserOfALoopbackConnectionIsKnown(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s cannot be listened on: %v", address, err)
			continue
		}
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatalf("connect to %s: %v", l.Addr(), err)
		}
		defer client.Close()
		server, err := l.Accept()
		if err != nil {
			t.Fatalf("accept at %s: %v", l.Addr(), err)
		}
		defer server.Close()
		uid, known := userOf(addressOf(server.RemoteAddr()), addressOf(server.LocalAddr()))
		if !known || uid != os.Geteuid() {
			t.Errorf("the connection from %s is of user %d (known: %v), want %d", server.RemoteAddr(), uid, known, os.Geteuid())
		}
		if err := CheckTCPPeer(server.LocalAddr(), server.RemoteAddr()); err != nil {
			t.Errorf("a connection of the same user is refused: %v", err)
		}
	}
}

func TestAConnectionIsFoundInTheKernelsTable(t *testing.T) {
	from, to := netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("127.0.0.1:9742")
	row := func(local, remote, uid string) string {
		return "   0: " + local + " " + remote + " 01 00000000:00000000 00:00000000 00000000  " + uid + "        0 1 1 0\n"
	}
	here, there := written(from), written(to)
	for name, c := range map[string]struct {
		table string
		uid   int
		known bool
	}{
		"of another user":    {row(there, here, "0") + row(here, there, "1001"), 1001, true},
		"of the server only": {row(there, here, "0"), 0, false},
		"with no number":     {row(here, there, "x"), 0, false},
		"cut off":            {"   0: " + here + " " + there, 0, false},
		"empty":              {"", 0, false},
	} {
		if uid, known := findUser(strings.NewReader(c.table), from, to); uid != c.uid || known != c.known {
			t.Errorf("a table %s has user %d (known: %v), want %d (%v)", name, uid, known, c.uid, c.known)
		}
	}
}
