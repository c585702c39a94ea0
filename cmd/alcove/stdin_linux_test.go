package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

// Others may read from the same pipe or socket after alcove mcp: a shell, for instance.
func TestTheBridgeLeavesStandardInputAsItWas(t *testing.T) {
	dir := dataDir(t)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	pipe := [2]int{}
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	for kind, ends := range map[string][2]int{"a pipe": pipe, "a socket": pair} {
		theirs, ours := os.NewFile(uintptr(ends[0]), "theirs"), os.NewFile(uintptr(ends[1]), "ours")
		cmd := program(t, dir, "mcp")
		cmd.Stdin = theirs
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		io.WriteString(ours, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
			t.Errorf("%s: answered %s, %v", kind, line, err)
		}
		if blocks := blocking(t, theirs); kind == "a pipe" && !blocks {
			t.Errorf("%s does not block for others while the bridge runs", kind)
		}
		ours.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s: the bridge: %v", kind, err)
		}
		if !blocking(t, theirs) {
			t.Errorf("%s does not block for others after the bridge", kind)
		}
		theirs.Close()
	}
}

// A client may use one socket for input and output.
func TestTheBridgeSpeaksOnASocketThatIsBoth(t *testing.T) {
	dir := dataDir(t)
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := os.NewFile(uintptr(pair[0]), "theirs"), os.NewFile(uintptr(pair[1]), "ours")
	cmd := program(t, dir, "mcp")
	cmd.Stdin, cmd.Stdout = theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	ours.Close()
	io.WriteString(conn, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
		t.Errorf("answered %s, %v", line, err)
	}
	conn.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}

func blocking(t *testing.T, f *os.File) bool {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var flags uintptr
	var errno syscall.Errno
	if err := raw.Control(func(fd uintptr) { flags, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0) }); err != nil || errno != 0 {
		t.Fatalf("fcntl: %v, %v", err, errno)
	}
	return flags&syscall.O_NONBLOCK == 0
}
