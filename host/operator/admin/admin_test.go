package admin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/host/operator/admin"
)

// serve serves acts on a socket until the test ends.
func serve(t *testing.T, s *admin.Server) *admin.Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s.Logger = slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	c := admin.NewClient(dialing(path))
	t.Cleanup(func() {
		c.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return c
}

// dialing connects to a socket.
func dialing(path string) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}
}

func TestAnActIsAnsweredOrItsErrorIsSaid(t *testing.T) {
	c := serve(t, &admin.Server{Acts: map[string]admin.Act{
		"double": func(_ context.Context, request json.RawMessage) (any, error) {
			var n int
			if err := json.Unmarshal(request, &n); err != nil {
				return nil, err
			}
			return 2 * n, nil
		},
		"fail": func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no disk") },
	}})
	var answer int
	if err := c.Call(t.Context(), "double", 21, &answer); err != nil || answer != 42 {
		t.Errorf("double: %d (%v)", answer, err)
	}
	if err := c.Call(t.Context(), "fail", nil, &answer); err == nil || err.Error() != "no disk" {
		t.Errorf("fail: %v", err)
	}
	if err := c.Call(t.Context(), "nothing", nil, &answer); err == nil || !strings.Contains(err.Error(), `no act "nothing"`) {
		t.Errorf("nothing: %v", err)
	}
	if err := c.Call(t.Context(), "double", strings.Repeat("x", 65<<20), &answer); err == nil || !strings.Contains(err.Error(), "at most 67108864 bytes") {
		t.Errorf("a long request: %v", err)
	}
}

func TestMoreOperatorsThanTheLimitAreToldSo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := admin.Server{Logger: slog.New(slog.DiscardHandler), Acts: map[string]admin.Act{"act": func(context.Context, json.RawMessage) (any, error) { return 1, nil }}}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, l) }()
	defer func() {
		stop()
		<-served
	}()
	var conns []net.Conn
	for range 33 {
		conn, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	if answer, err := io.ReadAll(conns[32]); err != nil || !strings.Contains(string(answer), "32 operators are connected, which is the limit") {
		t.Errorf("one more is told %q, %v", answer, err)
	}
	for _, conn := range conns {
		conn.Close()
	}
	c := admin.NewClient(dialing(path))
	defer c.Close()
	var answer int
	for err = errors.New("not asked"); err != nil && t.Context().Err() == nil; { // until the server has noticed that they left
		err = c.Call(t.Context(), "act", nil, &answer)
	}
	if answer != 1 {
		t.Errorf("answered %d, %v", answer, err)
	}
}

func TestAStreamThatFailsInTheMiddleSaysSo(t *testing.T) {
	long := strings.Repeat("line\n", 1<<16)
	c := serve(t, &admin.Server{Streams: map[string]admin.Stream{
		"all": func(_ context.Context, _ json.RawMessage, w io.Writer) error {
			_, err := io.WriteString(w, long)
			return err
		},
		"half": func(_ context.Context, _ json.RawMessage, w io.Writer) error {
			_, err := io.WriteString(w, long)
			return errors.Join(err, errors.New("trimmed meanwhile"))
		},
	}})
	var got bytes.Buffer
	if err := c.Stream(t.Context(), "all", nil, &got); err != nil || got.String() != long {
		t.Errorf("all: %d bytes (%v)", got.Len(), err)
	}
	if err := c.Stream(t.Context(), "half", nil, io.Discard); err == nil || err.Error() != "trimmed meanwhile" {
		t.Errorf("half: %v", err)
	}
}
