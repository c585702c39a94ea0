package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alcove-memory/alcove/abi"
	"github.com/alcove-memory/alcove/host/memory"
	"github.com/alcove-memory/alcove/host/operator/admin"
	"github.com/alcove-memory/alcove/host/sandbox"
	"github.com/alcove-memory/alcove/host/store"
)

// connected serves acts on a socket until the test ends, and is a client of it.
func connected(t *testing.T, s *admin.Server) *admin.Client {
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
	c := admin.NewClient(func(ctx context.Context) (net.Conn, error) {
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

// failing serves acts, of which some fail with err.
func failing(err error, o ServerOptions) *admin.Server {
	return NewServer([]Binding{
		Purge.By(func(context.Context, PurgeRequest) (Purged, error) { return Purged{}, err }),
		Export.By(func(context.Context, ExportRequest, io.Writer) error { return err }),
		RemoveEmbedder.By(func(context.Context, EmbedderName) (None, error) { return None{}, nil }).Changing(),
		RemoveFamily.By(func(context.Context, FamilyName) (RemovedFamily, error) { return RemovedFamily{}, err }).Changing(),
	}, o)
}

func TestAServerInThisProcessAnswersAsAnother(t *testing.T) {
	server := NewServer([]Binding{
		Retain.By(func(context.Context, None) (Retained, error) { return Retained{}, errors.New("no disk") }),
		SetRetention.By(func(_ context.Context, r Retention) (Retention, error) { r.Keep++; return r, nil }),
		Export.By(func(_ context.Context, r ExportRequest, w io.Writer) error {
			_, err := fmt.Fprint(w, "since ", r.Since)
			return err
		}),
	}, ServerOptions{})
	for name, s := range map[string]Server{"this process": server, "another": connected(t, server)} {
		if r, err := Call(t.Context(), s, SetRetention, Retention{Keep: 41}); err != nil || r.Keep != 42 {
			t.Errorf("an act in %s: got %+v, %v, want 42 kept", name, r, err)
		}
		if _, err := Query(t.Context(), s, Retain); err == nil || err.Error() != "no disk" {
			t.Errorf("a failing act in %s: got %v, want no disk", name, err)
		}
		var text strings.Builder
		if err := Receive(t.Context(), s, Export, ExportRequest{Since: 7}, &text); err != nil || text.String() != "since 7" {
			t.Errorf("a stream in %s: got %q, %v, want since 7", name, &text, err)
		}
		if err := Command(t.Context(), s, Flush, None{}); err == nil || !strings.Contains(err.Error(), `no act "flush"`) {
			t.Errorf("an act without a binding in %s: got %v, want that there is none", name, err)
		}
	}
}

func TestAnActThatIsNotReadyIsRefusedUndone(t *testing.T) {
	away := errors.New("there are no families")
	client := connected(t, NewServer([]Binding{
		Retain.By(func(context.Context, None) (Retained, error) {
			t.Error("an act was carried out")
			return Retained{}, nil
		}).If(func() error { return away }),
		Export.By(func(context.Context, ExportRequest, io.Writer) error { t.Error("a stream was written"); return nil }).If(func() error { return away }),
		Flush.By(func(context.Context, None) (None, error) { return None{}, nil }).If(func() error { return nil }),
	}, ServerOptions{}))
	if _, err := Query(t.Context(), client, Retain); err == nil || err.Error() != away.Error() {
		t.Errorf("an act: got %v, want %v", err, away)
	}
	if err := Receive(t.Context(), client, Export, ExportRequest{}, io.Discard); err == nil || err.Error() != away.Error() {
		t.Errorf("a stream: got %v, want %v", err, away)
	}
	if err := Command(t.Context(), client, Flush, None{}); err != nil {
		t.Errorf("an act that is ready: %v", err)
	}
}

func TestAnActIsBoundOnce(t *testing.T) {
	defer func() {
		if why := recover(); why == nil {
			t.Error("an act is bound twice, want a panic")
		}
	}()
	flush := Flush.By(func(context.Context, None) (None, error) { return None{}, nil })
	NewServer([]Binding{flush, flush}, ServerOptions{})
}

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
		client := connected(t, failing(c.err, ServerOptions{}))
		_, purged := Call(t.Context(), client, Purge, PurgeRequest{})
		for name, err := range map[string]error{"an act": purged, "a stream": Receive(t.Context(), client, Export, ExportRequest{}, io.Discard)} {
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
	client := connected(t, failing(nil, ServerOptions{}))
	_, unknown := Query(t.Context(), client, Act[None, None]("repaint"))
	_, field := Call(t.Context(), client, Act[map[string]any, None](RemoveEmbedder), map[string]any{"name": "s", "force": true})
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
	client := connected(t, failing(nil, ServerOptions{Changeable: func() error { return gone }}))
	if err := Command(t.Context(), client, RemoveEmbedder, EmbedderName{Name: "s"}); err == nil || err.Error() != gone.Error() {
		t.Errorf("removed an embedder: %v", err)
	}
	if _, err := Call(t.Context(), client, RemoveFamily, FamilyName{Family: "f"}); err == nil || err.Error() != gone.Error() {
		t.Errorf("removed a family: %v", err)
	}
	if _, err := Call(t.Context(), client, Purge, PurgeRequest{}); err != nil {
		t.Errorf("purged: %v", err)
	}
}
