package owner

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// userOf returns the user of the process that opened a TCP connection from an address of this machine.
func userOf(from, to netip.AddrPort) (uid int, known bool) {
	table := "/proc/net/tcp"
	if from.Addr().Is6() {
		table = "/proc/net/tcp6"
	}
	f, err := os.Open(table)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	return findUser(f, from, to)
}

// findUser looks a connection up in a table of the kernel. Its columns are, from the second on: local address, remote address, state,
// queues, timer, retransmits and user.
func findUser(table io.Reader, from, to netip.AddrPort) (uid int, known bool) {
	local, remote := written(from), written(to)
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		columns := strings.Fields(lines.Text())
		if len(columns) < 8 || columns[1] != local || columns[2] != remote {
			continue
		}
		uid, err := strconv.Atoi(columns[7])
		return uid, err == nil
	}
	return 0, false
}

// written returns an address as the kernel writes it: words of 32 bits in the machine's order, and the port.
func written(a netip.AddrPort) string {
	raw := a.Addr().AsSlice()
	for i := 0; i+4 <= len(raw); i += 4 {
		binary.BigEndian.PutUint32(raw[i:], binary.NativeEndian.Uint32(raw[i:]))
	}
	var port [2]byte
	binary.BigEndian.PutUint16(port[:], a.Port())
	return strings.ToUpper(hex.EncodeToString(raw) + ":" + hex.EncodeToString(port[:]))
}
