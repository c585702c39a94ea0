//go:build unix

package regular_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host/regular"
)

// TestWhatWouldBlockOrNeverEndIsRefused hangs, for as long as tests may, when a FIFO is waited for.
func TestWhatWouldBlockOrNeverEndIsRefused(t *testing.T) {
	dir, err := os.MkdirTemp("", "regular") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(fifo, link); err != nil {
		t.Fatal(err)
	}
	for path, says := range map[string]string{fifo: "a pipe", link: "a pipe", socket: "a socket", "/dev/zero": "a device"} {
		if _, err := regular.Read(path, 1<<30); !errors.Is(err, regular.ErrNot) || !strings.Contains(err.Error(), says) {
			t.Errorf("Read(%s): %v, want ErrNot and that it is %s", path, err, says)
		}
	}
}
