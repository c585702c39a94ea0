// Package objectserver starts an object server that speaks S3, for tests.
package objectserver

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gofrs/flock"

	"github.com/alcove-memory/alcove/host/testing/await"
)

// Server is Versity's gateway to a folder, with one bucket.
type Server struct {
	URL        string
	Bucket     string
	ID, Secret string // who may do everything
	Dir        string // of the bucket's objects, as files
}

// Start starts a server, which ends with the test. Where its program cannot be built, the test is skipped.
func Start(t testing.TB) *Server {
	t.Helper()
	program := build(t)
	dir := t.TempDir()
	s := &Server{Bucket: "backups", ID: "tester", Secret: "a secret of the tests", Dir: filepath.Join(dir, "objects", "backups")}
	sidecar := filepath.Join(dir, "sidecar")
	for _, d := range []string{s.Dir, sidecar} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	address := free(t)
	s.URL = "http://" + address
	var said bytes.Buffer
	c := exec.Command(program, "--port", address, "--quiet", "posix", "--sidecar", sidecar, filepath.Dir(s.Dir))
	c.Env = append(os.Environ(), "ROOT_ACCESS_KEY="+s.ID, "ROOT_SECRET_KEY="+s.Secret)
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = c.Wait()
		close(ended)
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		<-ended
	})
	await.That(t, "the object server answers", func() bool {
		select {
		case <-ended:
			t.Fatalf("the object server ended: %s", said.String())
		default:
		}
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return s
}

// build returns the program, which is built once and kept in Go's cache. Tests that want it at the same time wait for the first: it takes
// a minute, and go compiles what is not in its cache yet once for each.
func build(t testing.TB) string {
	t.Helper()
	building := flock.New(filepath.Join(os.TempDir(), "alcove-objectserver.lock"))
	if err := building.Lock(); err != nil {
		t.Fatalf("wait for others that build the object server: %v", err)
	}
	defer building.Unlock()
	_, here, _, _ := runtime.Caller(0)
	if !filepath.IsAbs(here) { // built with -trimpath
		out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/alcove-memory/alcove/host/testing/objectserver").Output()
		if err != nil {
			t.Skipf("the object server's module is not found here: %v", err)
		}
		here = filepath.Join(strings.TrimSpace(string(out)), "objectserver.go")
	}
	c := exec.CommandContext(context.Background(), "go", "tool", "-n", "versitygw")
	c.Dir = filepath.Join(filepath.Dir(here), "program")
	c.Env = append(os.Environ(), "GOFLAGS=-trimpath", "CGO_ENABLED=0", "GOWORK=off")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Skipf("the object server cannot be built here: %v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

func free(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Proxy is a server between a client and s, which may do what it wants with requests and answers. before returns true if it answered a
// request; after changes the server's answer. Both may be nil.
func (s *Server) Proxy(t testing.TB, before func(http.ResponseWriter, *http.Request) bool, after func(*http.Response) error) *httptest.Server {
	t.Helper()
	to, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(fmt.Errorf("parse the address of the object server: %w", err))
	}
	proxy := &httputil.ReverseProxy{ModifyResponse: after, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	p := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if before == nil || !before(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(p.Close)
	return p
}
