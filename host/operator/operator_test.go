package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store"
)

// connected serves acts on a socket until the test ends, and is a client of it.
func connected(t *testing.T, s *admin.Server) *Client {
	t.Helper()
	path := filepath.Join(t.TempDir(), "admin.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s.Logger = slog.New(slog.DiscardHandler)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	c := NewClient(func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	})
	t.Cleanup(func() {
		c.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestTheServersMethodForAnActIsTheClientsMethodForIt(t *testing.T) {
	var asked []string
	server := &admin.Server{Acts: map[string]admin.Act{}, Streams: map[string]admin.Stream{}}
	for _, a := range table((*Client)(nil)) {
		if a.write != nil {
			server.Streams[a.name] = func(context.Context, json.RawMessage, io.Writer) error { asked = append(asked, a.name); return nil }
			continue
		}
		server.Acts[a.name] = func(context.Context, json.RawMessage) (any, error) { asked = append(asked, a.name); return nil, nil }
	}
	bound := table(connected(t, server))
	for _, a := range bound {
		asked = nil
		var err error
		if a.write != nil {
			err = a.write(t.Context(), json.RawMessage("{}"), io.Discard)
		} else {
			_, err = a.do(t.Context(), json.RawMessage("{}"))
		}
		if err != nil || !slices.Equal(asked, []string{a.name}) {
			t.Errorf("%s asks for %v (%v)", a.name, asked, err)
		}
	}
	if methods := reflect.TypeFor[Operator]().NumMethod(); len(bound) != methods || len(server.Acts)+len(server.Streams) != methods {
		t.Errorf("%d acts of %d methods have %d names", len(bound), methods, len(server.Acts)+len(server.Streams))
	}
}

// failing is an operator of whom some acts fail.
type failing struct {
	Operator
	err error
}

func (f failing) Purge(context.Context, PurgeRequest) (Purged, error)          { return Purged{}, f.err }
func (f failing) Export(_ context.Context, _ ExportRequest, w io.Writer) error { return f.err }
func (f failing) RemoveEmbedder(context.Context, EmbedderName) error           { return nil }
func (f failing) RemoveFamily(context.Context, FamilyName) (RemovedFamily, error) {
	return RemovedFamily{}, f.err
}

// all is an operator whose other methods fail the test that calls them.
func all(err error) failing { return failing{(*Client)(nil), err} }

func TestAnErrorHasItsCodeAtTheClient(t *testing.T) {
	for _, c := range []struct {
		err  error
		code string
	}{
		{&memory.Error{Code: memory.NotFound, Message: "there is nothing to purge"}, "not_found"},
		{fmt.Errorf("purge: %w", &memory.Error{Code: memory.Conflict, Message: "others changed it"}), "conflict"},
		{&abi.Error{Code: abi.CodeUnavailable, Message: "no embedder"}, "unavailable"},
		{&sandbox.Refusal{Class: abi.ClassStructure, What: "no module", Do: "compile it"}, "denied"},
		{fmt.Errorf("write: %w", store.ErrReadOnly), "denied"},
		{context.DeadlineExceeded, "timeout"},
		{errors.New("no disk"), ""},
	} {
		client := connected(t, NewServer(all(c.err), ServerOptions{}))
		_, purged := client.Purge(t.Context(), PurgeRequest{})
		for name, err := range map[string]error{"an act": purged, "a stream": client.Export(t.Context(), ExportRequest{}, io.Discard)} {
			var known *admin.Error
			code := ""
			if errors.As(err, &known) {
				code = known.Code
			}
			if err == nil || err.Error() != c.err.Error() || code != c.code {
				t.Errorf("%s with %v: %v with the code %q", name, c.err, err, code)
			}
		}
	}
}

func TestAnUnknownActAndAnUnknownFieldAreErrors(t *testing.T) {
	client := connected(t, NewServer(all(nil), ServerOptions{}))
	_, unknown := call(t.Context(), client, act[none, none]("repaint"), none{})
	_, field := call(t.Context(), client, act[map[string]any, none](removeEmbedder), map[string]any{"name": "s", "force": true})
	for _, c := range []struct {
		err        error
		says, code string
	}{{unknown, `no act "repaint"`, "unavailable"}, {field, `unknown field "force"`, "invalid_argument"}} {
		var known *admin.Error
		if !errors.As(c.err, &known) || known.Code != c.code || !strings.Contains(known.Message, c.says) {
			t.Errorf("the act's error is %v, want code %s with %q", c.err, c.code, c.says)
		}
	}
}

func TestOnlyActsThatChangeFilesAreRefusedWhileNoneMayChange(t *testing.T) {
	gone := errors.New("the directory is gone")
	client := connected(t, NewServer(all(nil), ServerOptions{Changeable: func() error { return gone }}))
	if err := client.RemoveEmbedder(t.Context(), EmbedderName{Name: "s"}); err == nil || err.Error() != gone.Error() {
		t.Errorf("removed an embedder: %v", err)
	}
	if _, err := client.RemoveFamily(t.Context(), FamilyName{Family: "f"}); err == nil || err.Error() != gone.Error() {
		t.Errorf("removed a family: %v", err)
	}
	if _, err := client.Purge(t.Context(), PurgeRequest{}); err != nil {
		t.Errorf("purged: %v", err)
	}
}
