package fronts_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/store"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
)

func TestADataDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep", "data")
	server.Open(t, host.Options{Dir: dir})
	for path, want := range map[string]os.FileMode{dir: 0o700, owner.TokenPath(dir): 0o600, owner.LockPath(dir): 0o600} {
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("stat %s: mode %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

func TestADataDirectoryHasOneOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	_, err := host.Open(t.Context(), host.Options{Dir: dir})
	var owned *owner.OwnedError
	if !errors.As(err, &owned) {
		t.Fatalf("the second Open: %v", err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	server.Open(t, host.Options{Dir: dir})
}

func TestClosingTwiceClosesOnce(t *testing.T) {
	t.Parallel()
	h := server.Open(t, host.Options{Dir: t.TempDir()})
	if first, second := h.Close(), h.Close(); first != nil || second != nil {
		t.Errorf("closed with %v, then %v", first, second)
	}
}

// failingDriver opens nothing.
type failingDriver struct {
	server.Driver
	err error
}

func (d failingDriver) Open(context.Context, string, store.Options) (store.Engine, error) {
	return nil, d.err
}

func TestAnOpenThatFailsGivesTheDirectoryUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	broken := errors.New("the disk is on fire")
	_, err := host.Open(t.Context(), host.Options{Dir: dir, Driver: failingDriver{err: broken}})
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if err := owner.CheckFree(dir); err != nil {
		t.Errorf("the lock is still held: %v", err)
	}
}

func TestAServerSaysWhereItListensWhileItDoes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, stop := server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{HTTP: "127.0.0.1:0"})
	if said, err := owner.ReadRecord(dir); err != nil || said.PID != os.Getpid() || said.HTTP != r.HTTP || said.Socket == "" {
		t.Errorf("the record says %+v, %v", said, err)
	}
	answer, err := http.Get("http://" + r.HTTP + "/readyz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("readyz: %v, %v", answer, err)
	}
	answer.Body.Close()
	if err := stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
	if _, err := owner.ReadRecord(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the record is still there: %v", err)
	}
	if _, err := os.Lstat(r.Socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

func TestAPortInUseIsAnErrorThatSaysWhatToDo(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	err = server.Open(t, host.Options{Dir: t.TempDir()}).Serve(t.Context(), host.Listen{HTTP: busy.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "--listen 127.0.0.1:9743") {
		t.Errorf("got %v", err)
	}
}

func TestAServerStartedOnDemandDoesWithoutABusyPort(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	dir := t.TempDir()
	r, _ := server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{HTTP: busy.Addr().String(), HTTPOptional: true})
	if r.HTTP != "" {
		t.Errorf("it says that it listens on %s", r.HTTP)
	}
	c, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestAnIdleServerStops(t *testing.T) {
	t.Parallel()
	idle := 50 * time.Millisecond
	for !stopsAfter(t, idle) { // a machine that is busy may take longer to connect
		if idle *= 4; idle > await.Limit {
			t.Fatal("it stopped before a client could connect")
		}
	}
}

// stopsAfter makes sure that a server stops when it was idle for so long, and not under a client. It reports whether one
// could connect before that.
func stopsAfter(t *testing.T, idle time.Duration) bool {
	t.Helper()
	dir := t.TempDir()
	h := server.Open(t, host.Options{Dir: dir})
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() {
		ended <- h.Serve(t.Context(), host.Listen{Idle: idle, Started: func(owner.Record) { close(started) }})
	}()
	await.Value(t, "the server starts", started)
	c, err := owner.Dial(t.Context(), owner.Options{Dir: dir, Wait: time.Second})
	if err != nil {
		if err := await.Value(t, "the server stops", ended); err != nil {
			t.Fatal(err)
		}
		return false
	}
	select {
	case err := <-ended:
		t.Fatalf("it stopped under a client: %v", err)
	case <-time.After(4 * idle):
	}
	c.Close()
	if err := await.Value(t, "the server stops", ended); err != nil {
		t.Errorf("it stopped with %v", err)
	}
	return true
}

func TestAClientIsDisconnectedWhenTheServerStops(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, stop := server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	c, err := owner.Dial(t.Context(), owner.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := stop(); err != nil {
		t.Errorf("stopped with %v", err)
	}
	if rest, err := io.ReadAll(c); err != nil || len(rest) > 0 {
		t.Errorf("the client read %q, %v", rest, err)
	}
}

func TestAProfileThatDoesNotExistIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server.Serve(t, server.Open(t, host.Options{Dir: dir}), host.Listen{})
	_, err := owner.Dial(t.Context(), owner.Options{Dir: dir, Hello: owner.Hello{Profile: "nonsense"}})
	var refused *owner.Refusal
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, "nonsense") {
		t.Errorf("got %v", err)
	}
}

// TestStreamsDoNotHoldTheServerUp keeps a stream open in each of the ways that there are for clients to listen.
func TestStreamsDoNotHoldTheServerUp(t *testing.T) {
	t.Parallel()
	h := server.Open(t, host.Options{Dir: t.TempDir()})
	r, stop := server.Serve(t, h, host.Listen{HTTP: "127.0.0.1:0"})
	ask := func(method, body string, headers ...string) *http.Response {
		t.Helper()
		q, err := http.NewRequest(method, "http://"+r.HTTP+"/mcp", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, "Authorization", "Bearer "+h.Token(), "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
		for i := 0; i < len(headers); i += 2 {
			q.Header.Set(headers[i], headers[i+1])
		}
		answer, err := http.DefaultClient.Do(q)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s of %s: %v, %v, want status 200", method, body, answer, err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		return answer
	}
	session := ask("POST", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	ask("GET", "", "Mcp-Session-Id", session.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-11-25")
	ask("POST", `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "subscriptions/listen")
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	if err := await.Value(t, "the server stops", stopped); err != nil {
		t.Error(err)
	}
}
