//go:build unix

package faults_test

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/testing/await"
	"github.com/alcove-memory/alcove/host/testing/server"
)

// lines is a log that can be read while it is written.
type lines struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.all.String(), text)
}

func mustOpenLogged(t *testing.T, dir string) (*host.Host, *lines) {
	t.Helper()
	log := &lines{}
	h, err := host.Open(t.Context(), host.Options{Dir: dir, Version: "test", Logger: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h, log
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

func TestAServerThatWasStartedByHandStaysAndSaysThatItsStoreIsGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, log := mustOpenLogged(t, dir)
	r, stop := server.Serve(t, h, host.Listen{HTTP: "127.0.0.1:0", Look: time.Millisecond})
	if err := os.Remove(filepath.Join(dir, "alcove.db")); err != nil {
		t.Fatal(err)
	}
	const logged = "writes are refused"
	await.That(t, "the log says it", func() bool { return log.count(logged) > 0 })
	for _, path := range []string{"/readyz", "/healthz"} {
		if status, body := get(t, "http://"+r.HTTP+path); status != http.StatusServiceUnavailable || !strings.Contains(body, "alcove.db is gone") {
			t.Errorf("%s answers %d %s", path, status, body)
		}
	}
	_, err := server.Owner(h, "").Store(t.Context(), memory.Location{}, []memory.Item{{Key: "k", Value: []byte("1")}}, memory.Write{})
	var refused *memory.Error
	if !errors.As(err, &refused) || refused.Code != memory.Unavailable || !strings.Contains(err.Error(), "alcove.db is gone") {
		t.Errorf("stored: %v", err)
	}
	c := server.Operator(t, dir)
	_, errEmbedder := operator.Call(t.Context(), c, operator.SetEmbedder, operator.EmbedderRequest{})
	for _, err := range []error{operator.Command(t.Context(), c, operator.SetEndpoint, operator.EndpointRequest{}), errEmbedder} {
		if err == nil || !strings.Contains(err.Error(), "alcove.db is gone") {
			t.Errorf("change a setting: %v, want the error that alcove.db is gone", err)
		}
	}
	if n := log.count(logged); n != 1 {
		t.Errorf("the log says it %d times", n)
	}
	if err := stop(); err != nil {
		t.Errorf("it stopped with %v", err)
	}
}

func TestAServerThatIsIdleAndLostItsDirectoryLeaves(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	h, _ := mustOpenLogged(t, dir)
	ended, started := make(chan error, 1), make(chan struct{})
	go func() {
		ended <- h.Serve(t.Context(), host.Listen{Idle: time.Hour, Look: time.Millisecond, Started: func(owner.Record) { close(started) }})
	}()
	<-started
	for os.RemoveAll(dir) != nil && t.Context().Err() == nil { // the server makes its files again while they are removed
	}
	if err := <-ended; err != nil {
		t.Errorf("it stopped with %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory was made again: %v", err)
	}
}

func TestALockThatAnotherProcessTookIsTakenBackWhenItIsFree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h, log := mustOpenLogged(t, dir)
	_, stop := server.Serve(t, h, host.Listen{Look: time.Millisecond})
	if err := os.Remove(owner.LockPath(dir)); err != nil {
		t.Fatal(err)
	}
	other := flock.New(owner.LockPath(dir))
	for { // the server is faster, now and then
		held, err := other.TryLock()
		if err != nil {
			t.Fatal(err)
		}
		if held {
			break
		}
		if err := os.Remove(owner.LockPath(dir)); err != nil {
			t.Fatal(err)
		}
	}
	await.That(t, "the log says who has it", func() bool { return log.count("another process holds the new one") > 0 })
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	await.That(t, "the lock is held again", func() bool { return owner.CheckFree(dir) != nil })
	if err := errors.Join(stop(), h.Close()); err != nil {
		t.Error(err)
	}
	if err := owner.CheckFree(dir); err != nil {
		t.Errorf("the lock is still held: %v", err)
	}
}
