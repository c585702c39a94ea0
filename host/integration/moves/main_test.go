//go:build unix

package moves_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/alcove-memory/alcove/host"
	"github.com/alcove-memory/alcove/host/space"
	"github.com/alcove-memory/alcove/host/store"
)

// The environment of a process of this test that serves a data directory, and is killed at a step of a move.
const (
	childDir   = "ALCOVE_MOVES_DIR"
	childStore = "ALCOVE_MOVES_STORE"
	childStep  = "ALCOVE_MOVES_STEP"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := serveChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serveChild(dir string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	driver, err := space.DriverFor(os.Getenv(childStore))
	if err != nil {
		return err
	}
	o := host.Options{Dir: dir, Driver: driver, Version: "test", Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)), MoveStep: func(step string) {
		if step == os.Getenv(childStep) {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}}
	return host.OpenAndServe(ctx, o, host.Listen{})
}

var noOptions store.Options
