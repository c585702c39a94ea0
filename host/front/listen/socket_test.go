package listen

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/daemon/owner"
)

// echo answers each line with itself.
func echo(_ context.Context, _ owner.Hello, r io.Reader, w io.Writer) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if _, err := io.WriteString(w, lines.Text()+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// newSocket serves a socket and gives its path and what stops it and waits.
func newSocket(t *testing.T, s Socket) (path string, stop func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	l, err := ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	s.Logger, s.Use = slog.New(slog.DiscardHandler), &Use{}
	if s.Session == nil {
		s.Session = echo
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return path, stop
}

func connect(t *testing.T, path string, h owner.Hello) *owner.Conn {
	t.Helper()
	c, err := owner.Connect(t.Context(), path, h)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func say(t *testing.T, c *owner.Conn, line string) {
	t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(line)+1)
	if _, err := io.ReadFull(c, got); err != nil || string(got) != line+"\n" {
		t.Fatalf("got %q, %v", got, err)
	}
}

func TestASessionFollowsTheHello(t *testing.T) {
	hellos := make(chan owner.Hello, 1)
	path, _ := newSocket(t, Socket{Welcome: owner.Welcome{Version: "v", PID: 7},
		Session: func(ctx context.Context, h owner.Hello, r io.Reader, w io.Writer) error {
			hellos <- h
			return echo(ctx, h, r, w)
		}})
	c := connect(t, path, owner.Hello{Branch: "b"})
	say(t, c, "hello there")
	if h := <-hellos; h.Branch != "b" || c.Welcome.Version != "v" || c.Welcome.PID != 7 {
		t.Errorf("hello %+v, welcome %+v", h, c.Welcome)
	}
}

func TestAHelloThatFailsTheCheckIsRefused(t *testing.T) {
	path, _ := newSocket(t, Socket{Admit: func(_ context.Context, h owner.Hello) (context.Context, func(), *owner.Refusal) {
		return nil, nil, &owner.Refusal{Code: "denied", Message: "not you, " + h.Agent}
	}})
	if _, err := owner.Connect(t.Context(), path, owner.Hello{Agent: "mallory"}); err == nil || err.Error() != "not you, mallory" {
		t.Errorf("got %v", err)
	}
}

func TestASessionEndsWithItsAdmission(t *testing.T) {
	end := make(chan context.CancelFunc, 1)
	left := make(chan struct{})
	path, _ := newSocket(t, Socket{
		Admit: func(ctx context.Context, _ owner.Hello) (context.Context, func(), *owner.Refusal) {
			admitted, cancel := context.WithCancel(ctx)
			end <- cancel
			return admitted, func() { close(left) }, nil
		},
		Session: echo,
	})
	c := connect(t, path, owner.Hello{})
	say(t, c, "hello there")
	(<-end)()
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the client reads %v", err)
	}
	<-left
}

func TestWhoDoesNotSayHelloIsToldWhatToSay(t *testing.T) {
	path, _ := newSocket(t, Socket{})
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\n")
	answer, err := io.ReadAll(conn)
	if err != nil || !strings.Contains(string(answer), `{\"alcove\":1}`) {
		t.Errorf("got %s, %v", answer, err)
	}
}

func TestStoppingLetsACallFinishAndThenEndsTheSession(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	path, stop := newSocket(t, Socket{Session: func(ctx context.Context, _ owner.Hello, r io.Reader, w io.Writer) error {
		close(entered)
		<-release
		io.WriteString(w, "finished\n")
		io.Copy(io.Discard, r) // ends because the server stops
		return ctx.Err()
	}})
	c := connect(t, path, owner.Hello{})
	<-entered
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	for { // until the listener is closed
		if _, err := os.Lstat(path); err != nil {
			break
		}
	}
	close(release)
	if answer, err := io.ReadAll(c); err != nil || string(answer) != "finished\n" {
		t.Errorf("got %q, %v", answer, err)
	}
	<-stopped
}

func TestTheSocketIsPrivateAndReplacesAStaleOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	stale.(*net.UnixListener).SetUnlinkOnClose(false)
	stale.Close()
	l, err := ListenSocket(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestAFileInTheWayOfTheSocketIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	os.WriteFile(path, []byte("precious"), 0o600)
	if _, err := ListenSocket(path); err == nil || !strings.Contains(err.Error(), "--socket") {
		t.Errorf("got %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "precious" {
		t.Errorf("the file holds %q", data)
	}
}

func TestMoreClientsThanTheLimitAreTurnedAway(t *testing.T) {
	path, _ := newSocket(t, Socket{Limit: ConnectionLimit{Connections: mostClients, Unidentified: mostClients / 2}})
	for range mostClients {
		connect(t, path, owner.Hello{})
	}
	if _, err := owner.Connect(t.Context(), path, owner.Hello{}); err == nil || !strings.Contains(err.Error(), "1024 clients") {
		t.Errorf("got %v", err)
	}
}
