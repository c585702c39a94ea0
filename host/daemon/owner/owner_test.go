package owner

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// serve answers every hello on the usual socket of dir with what reply says, until the test ends.
func serve(t *testing.T, dir string, reply func(h Hello, attempt int) *Refusal) net.Listener {
	t.Helper()
	socket, err := SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := MakeSocketDir(socket); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for attempt := 1; ; attempt++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			h, refusal := Listen(bufio.NewReader(conn))
			if refusal == nil {
				refusal = reply(h, attempt)
			}
			if refusal != nil {
				Refuse(conn, refusal)
			} else {
				Accept(conn, Welcome{Version: "test", PID: 7})
			}
		}
	}()
	return l
}

func welcomeAll(Hello, int) *Refusal { return nil }

func mustDial(t *testing.T, o Options) *Conn {
	t.Helper()
	c, err := Dial(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

func TestDialFindsARunningOwner(t *testing.T) {
	dir := t.TempDir()
	got := make(chan Hello, 1)
	serve(t, dir, func(h Hello, _ int) *Refusal { got <- h; return nil })
	said := Hello{Namespace: "n", Branch: "b", Agent: "a", ReadOnly: true, Profile: "p", Families: []string{"f", "g"}}
	c := mustDial(t, Options{Dir: dir, Hello: said})
	if c.Welcome != (Welcome{Alcove: Protocol, Version: "test", PID: 7}) {
		t.Errorf("welcome %+v", c.Welcome)
	}
	said.Alcove = Protocol
	if h := <-got; !reflect.DeepEqual(h, said) {
		t.Errorf("hello %+v", h)
	}
}

func TestDialFindsAnOwnerWithASocketElsewhere(t *testing.T) {
	elsewhere, dir := t.TempDir(), t.TempDir()
	serve(t, elsewhere, welcomeAll)
	socket, _ := SocketPath(elsewhere)
	if err := WriteRecord(dir, Record{PID: 7, Socket: socket}); err != nil {
		t.Fatal(err)
	}
	if c := mustDial(t, Options{Dir: dir}); c.Welcome.PID != 7 {
		t.Errorf("welcome %+v", c.Welcome)
	}
}

func TestDialStartsAnOwnerWhenThereIsNone(t *testing.T) {
	dir := t.TempDir()
	starts := 0
	mustDial(t, Options{Dir: dir, Start: func() (<-chan error, error) {
		starts++
		serve(t, dir, welcomeAll)
		return make(chan error), nil
	}})
	if starts != 1 {
		t.Errorf("%d owners were started", starts)
	}
}

func TestDialStartsAnotherWhenTheOwnerItStartedLeftAndNobodyCame(t *testing.T) {
	dir := t.TempDir()
	starts := 0
	mustDial(t, Options{Dir: dir, Start: func() (<-chan error, error) {
		ended := make(chan error, 1)
		if starts++; starts == 1 {
			ended <- nil
			return ended, nil
		}
		serve(t, dir, welcomeAll)
		return ended, nil
	}})
	if starts != 2 {
		t.Errorf("%d owners were started", starts)
	}
}

func TestDialRemovesNothingAndStartsAnOwnerBesideAStaleSocket(t *testing.T) {
	dir := t.TempDir()
	l := serve(t, dir, welcomeAll).(*net.UnixListener)
	l.SetUnlinkOnClose(false)
	l.Close()
	socket, _ := SocketPath(dir)
	mustDial(t, Options{Dir: dir, Start: func() (<-chan error, error) {
		if err := os.Remove(socket); err != nil {
			return nil, fmt.Errorf("the stale socket is gone: %w", err)
		}
		serve(t, dir, welcomeAll)
		return make(chan error), nil
	}})
}

func TestDialWithoutStartSaysHowToStartOne(t *testing.T) {
	_, err := Dial(t.Context(), Options{Dir: t.TempDir()})
	if !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "alcove serve --data") {
		t.Errorf("got %v", err)
	}
}

func TestDialReportsARefusalAtOnce(t *testing.T) {
	dir := t.TempDir()
	serve(t, dir, func(Hello, int) *Refusal { return &Refusal{Code: "invalid_argument", Message: "no such profile"} })
	_, err := Dial(t.Context(), Options{Dir: dir})
	var refused *Refusal
	if !errors.As(err, &refused) || refused.Message != "no such profile" {
		t.Errorf("got %v", err)
	}
}

func TestDialTriesAgainWhenTheOwnerIsGoingAway(t *testing.T) {
	dir := t.TempDir()
	var attempts atomic.Int32
	serve(t, dir, func(_ Hello, n int) *Refusal {
		attempts.Store(int32(n))
		if n < 3 {
			return &Refusal{Code: "unavailable", Message: "shutting down", Retryable: true}
		}
		return nil
	})
	mustDial(t, Options{Dir: dir, Start: func() (<-chan error, error) {
		ended := make(chan error, 1)
		ended <- nil
		return ended, nil
	}})
	if attempts.Load() != 3 {
		t.Errorf("%d attempts", attempts.Load())
	}
}

func TestDialQuotesTheLogOfAnOwnerThatDoesNotStart(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(LogPath(dir), []byte("alcove: the disk is on fire\n"), 0o600)
	_, err := Dial(t.Context(), Options{Dir: dir, Start: func() (<-chan error, error) {
		ended := make(chan error, 1)
		ended <- errors.New("exit status 1")
		return ended, nil
	}})
	if err == nil || !strings.Contains(err.Error(), "exit status 1") || !strings.Contains(err.Error(), "disk is on fire") {
		t.Errorf("got %v", err)
	}
}

func TestDialGivesUpOnASilentOwnerAndSaysWhereToLook(t *testing.T) {
	dir := t.TempDir()
	start := func() (<-chan error, error) { return make(chan error), nil }
	_, err := Dial(t.Context(), Options{Dir: dir, Start: start, Wait: 50 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), LogPath(dir)) || !strings.Contains(err.Error(), "alcove doctor") {
		t.Errorf("got %v", err)
	}
}

func TestDialEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Dial(ctx, Options{Dir: t.TempDir(), Start: func() (<-chan error, error) {
		cancel()
		return make(chan error), nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestALongDirectoryHasAShortSocketThatWorks(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	socket, err := SocketPath(dir)
	if err != nil || len(socket) > longestSocket {
		t.Fatalf("socket %q, %v", socket, err)
	}
	serve(t, dir, welcomeAll)
	mustDial(t, Options{Dir: dir})
	info, err := os.Stat(filepath.Dir(socket))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the socket's directory: %v, %v", info.Mode(), err)
	}
}

func TestASocketDirectoryThatOthersCanEnterIsRefused(t *testing.T) {
	runtime := filepath.Join(os.TempDir(), fmt.Sprintf("alcove-test-%d", os.Getpid()))
	t.Cleanup(func() { os.RemoveAll(runtime) })
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	if err := os.MkdirAll(filepath.Join(runtime, "alcove"), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), strings.Repeat("long/", 30))
	socket, err := SocketPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := MakeSocketDir(socket); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Errorf("the listener got %v", err)
	}
	if _, err := Dial(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "0700") {
		t.Errorf("the client got %v", err)
	}
}

func TestTheLogIsSetAsideWhenFull(t *testing.T) {
	dir := t.TempDir()
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	line := []byte(strings.Repeat("x", 1023) + "\n")
	for range 3 * logLimit / len(line) {
		if _, err := l.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{LogPath(dir), LogPath(dir) + ".1"} {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 || info.Size() > logLimit {
			t.Errorf("stat %s: %v, %v, want 1 to %d bytes", path, info, err, logLimit)
		}
	}
}

func TestRecordsAreReadBack(t *testing.T) {
	dir := t.TempDir()
	want := Record{PID: 1, Socket: "s", HTTP: "h", Version: "v", Started: time.Unix(1, 0).UTC()}
	if err := WriteRecord(dir, want); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadRecord(dir); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDialStartsAnotherWhenTheOwnerItStartedWasKilled(t *testing.T) {
	dir := t.TempDir()
	killed := func() error {
		c := exec.Command("sleep", "60")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		return c.Wait()
	}
	starts := 0
	mustDial(t, Options{Dir: dir, Start: func() (<-chan error, error) {
		ended := make(chan error, 1)
		if starts++; starts <= mostKilled {
			ended <- killed()
			return ended, nil
		}
		serve(t, dir, welcomeAll)
		return ended, nil
	}})
	if starts != mostKilled+1 {
		t.Errorf("%d were started", starts)
	}
	_, err := Dial(t.Context(), Options{Dir: t.TempDir(), Start: func() (<-chan error, error) {
		ended := make(chan error, 1)
		ended <- killed()
		return ended, nil
	}})
	if err == nil || !strings.Contains(err.Error(), "did not start: signal: killed") {
		t.Errorf("one after the other is killed: %v", err)
	}
}

func TestALargeDatabaseMayBeExaminedBeforeItsOwnerAnswers(t *testing.T) {
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "alcove.db"))
	if err == nil {
		err = errors.Join(f.Truncate(4<<30), f.Close()) // a sparse file
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := examining(dir), 81*time.Second; got != want {
		t.Errorf("for a database of 4 GiB the owner may take %s longer, want %s", got, want)
	}
	if got := examining(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("for a directory that is not there it may take %s longer, want no time", got)
	}
}

func TestADialWaitsLittleInVain(t *testing.T) {
	for _, c := range []struct{ waited, want time.Duration }{
		{0, time.Millisecond},
		{48 * time.Millisecond, 3 * time.Millisecond},
		{30 * time.Second, 250 * time.Millisecond},
	} {
		if got := pauseAfter(c.waited); got != c.want {
			t.Errorf("the pause after %s is %s, want %s", c.waited, got, c.want)
		}
	}
}
