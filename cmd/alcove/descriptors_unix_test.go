//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// serveWithin starts a server that may open only so many files, and gives where it listens and its log.
func serveWithin(t *testing.T, dir string, descriptors int) (owner.Record, *bytes.Buffer) {
	t.Helper()
	cmd := program(t, dir, "serve", "--listen", "127.0.0.1:0")
	limited := exec.Command("/bin/sh", append([]string{"-c", fmt.Sprintf(`ulimit -n %d && exec "$0" "$@"`, descriptors)}, cmd.Args...)...)
	limited.Env = cmd.Env
	log := &bytes.Buffer{}
	limited.Stderr = log
	if err := limited.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	t.Cleanup(func() {
		limited.Process.Signal(os.Interrupt)
		<-ended
		if strings.Contains(log.String(), "too many open files") {
			t.Errorf("the server ran out of descriptors: %s", log)
		}
	})
	go func() { limited.Wait(); close(ended) }()
	return servedBy(t, dir, limited.Process), log
}

// occupy opens connections that say what is given, and keeps them open.
func occupy(t *testing.T, network, address string, count int, says string) {
	t.Helper()
	for range count {
		conn, err := net.Dial(network, address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		io.WriteString(conn, says) // the server may have closed it already
	}
}

func TestPeersThatDoNotSayWhoTheyAreDoNotUseUpDescriptors(t *testing.T) {
	const descriptors, connections = 256, 400
	for name, says := range map[string][2]string{
		"idle over HTTP":                       {"http", ""},
		"half a header":                        {"http", "POST /mcp HTTP/1.1\r\nHost: local"},
		"a wrong token and an unfinished body": {"http", "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\nContent-Length: 1000\r\n\r\n{"},
		"no hello on the socket":               {"socket", `{"alcove":`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := dataDir(t)
			r, _ := serveWithin(t, dir, descriptors)
			before := newClient(t, dir)
			if says[0] == "http" {
				occupy(t, "tcp", r.HTTP, connections, says[1])
			} else {
				occupy(t, "unix", r.Socket, connections, says[1])
			}
			after := newClient(t, dir)
			for i := range 20 {
				for who, c := range map[string]*mcpClient{"before": before, "after": after} {
					c.call("memory_store", map[string]any{"key": fmt.Sprintf("%s/%d", who, i), "value": i}, new(any))
				}
			}
			if open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.PID)); err == nil && len(open) > descriptors*3/4 {
				t.Errorf("the server has %d files open, of %d that it may", len(open), descriptors)
			}
		})
	}
}
