//go:build unix

package listen

import (
	"context"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

func mustListen(t *testing.T, paths ...string) *SocketListener {
	t.Helper()
	l, err := ListenSocket(paths...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func TestASocketThatWasTakenAwayIsMadeAgainAndItsClientsStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l := mustListen(t, path)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- (&Socket{Session: echo, Logger: slog.New(slog.DiscardHandler), Use: &Use{}}).Serve(ctx, l)
	}()
	before := connect(t, path, owner.Hello{})
	if again, err := l.Keep(); again || err != nil {
		t.Errorf("a socket that is there was made again: %v (%v)", again, err)
	}
	for name, take := range map[string]func() error{
		"deleted":  func() error { return os.Remove(path) },
		"replaced": func() error { return replaceSocket(path) },
	} {
		if err := take(); err != nil {
			t.Fatal(err)
		}
		if again, err := l.Keep(); !again || err != nil {
			t.Fatalf("%s: Keep = %v (%v), want the socket made again", name, again, err)
		}
		say(t, before, "still here")
		say(t, connect(t, path, owner.Hello{}), "hello again")
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: stat of the socket: %v (%v), want mode 0600", name, info, err)
		}
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve ended with %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is still there")
	}
	if again, err := l.Keep(); again || err != nil {
		t.Errorf("a closed socket was made again: %v (%v)", again, err)
	}
}

// replaceSocket puts a socket in the place of another that nobody listens on.
func replaceSocket(path string) error {
	other, err := net.ListenUnix("unix", &net.UnixAddr{Name: path + "2", Net: "unix"})
	if err != nil {
		return err
	}
	other.SetUnlinkOnClose(false)
	other.Close()
	return os.Rename(path+"2", path)
}

func TestClosingLeavesTheSocketOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first := mustListen(t, path)
	second := mustListen(t, path)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the second's socket: %v", err)
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the second's socket is still there")
	}
}

func TestASocketIsMadeWhereItCanBe(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "missing", "s"), filepath.Join(dir, "s")
	l := mustListen(t, first, second)
	if l.Path() != second {
		t.Errorf("it is at %s", l.Path())
	}
	if err := os.WriteFile(filepath.Join(dir, "in-the-way"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ListenSocket(filepath.Join(dir, "in-the-way"), filepath.Join(dir, "s2")); err == nil {
		t.Error("a file in the way was passed by in silence")
	}
}
