package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/daemon/owner"
	"github.com/alcove-memory/alcove/host/operator"
	"github.com/alcove-memory/alcove/host/operator/admin"
	carried "github.com/alcove-memory/alcove/host/testing/server"
	"github.com/alcove-memory/alcove/sdk/client"
)

// server is a server with the built-in families in this process, and an agent's session with it.
type server struct {
	session *client.Session
	acts    operator.Server
}

// serve runs a server on an empty data directory for as long as use takes.
func serve(ctx context.Context, use func(context.Context, *server) error) (err error) {
	dir, err := os.MkdirTemp("", "alcove-judge-")
	if err != nil {
		return fmt.Errorf("make a temporary data directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	dir = filepath.Join(dir, "data")
	h, err := host.Open(ctx, host.Options{
		Dir: dir, Version: "judge", Families: carried.Families(), Cache: carried.Cache(),
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	return served(ctx, h, dir, use)
}

func served(ctx context.Context, h *host.Host, dir string, use func(context.Context, *server) error) (err error) {
	ctx, stop := context.WithCancel(ctx)
	started, ended := make(chan owner.Record, 1), make(chan error, 1)
	go func() { ended <- h.Serve(ctx, host.Listen{Started: func(r owner.Record) { started <- r }}) }()
	select {
	case <-started:
	case err := <-ended:
		stop()
		return err
	}
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	acts := admin.NewClient(func(ctx context.Context) (net.Conn, error) { return owner.DialOperator(ctx, dir) })
	defer acts.Close()
	session, err := client.NewSession(ctx, h.Dial(ctx, owner.Hello{Agent: "judge", Profile: "full"}), client.Program{Name: "judge"})
	if err != nil {
		return err
	}
	defer session.Close()
	return use(ctx, &server{session, acts})
}

// call calls a tool, and reads its answer into answer unless that is nil.
func (s *server) call(ctx context.Context, tool string, arguments, answer any) error {
	r, err := s.session.Call(ctx, tool, arguments)
	if err != nil {
		return fmt.Errorf("%s: %w", tool, err)
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(r.Structured, answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", tool, err)
	}
	return nil
}
