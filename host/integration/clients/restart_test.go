package clients

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// launch runs a server at an address until it is killed, or the test ends.
func launch(t *testing.T, program, dir, address string) *exec.Cmd {
	t.Helper()
	os.Remove(filepath.Join(dir, "owner.json")) // of a server that was killed
	server := exec.Command(program, "serve", "--data", dir, "--listen", address)
	server.Stderr = t.Output()
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(server) })
	await.That(t, "the server starts", func() bool {
		_, err := os.Stat(filepath.Join(dir, "owner.json"))
		return err == nil
	})
	return server
}

// kill ends a server as a power switch would. Once it has ended, it does nothing.
func kill(server *exec.Cmd) {
	if server.ProcessState == nil {
		server.Process.Kill()
		server.Wait()
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func TestClientsOverHTTPGoOnAfterTheServerWasKilled(t *testing.T) {
	node := install(t)
	program := build(t)
	for _, kind := range []string{"sdk", "client"} {
		t.Run(kind, func(t *testing.T) {
			dir, address := t.TempDir(), freeAddress(t)
			server := launch(t, program, dir, address)
			client := command(t, runWithin, node, "restart.mjs", kind, configurations(t, program, dir)["http"])
			client.Stderr = t.Output()
			in, err := client.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := client.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := client.Start(); err != nil {
				t.Fatal(err)
			}
			said := bufio.NewReader(out)
			if line, err := said.ReadString('\n'); err != nil || line != "kill\n" {
				t.Fatalf("before the kill it said %q, %v", line, err)
			}
			kill(server)
			launch(t, program, dir, address)
			io.WriteString(in, "go on\n")
			if line, err := said.ReadString('\n'); err != nil || strings.TrimSpace(line) != "ok "+kind+" http" {
				t.Errorf("after it, it said %q, %v; want ok", line, err)
			}
			if err := client.Wait(); err != nil {
				t.Errorf("the client ended with %v", err)
			}
		})
	}
}
